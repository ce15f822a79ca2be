import { createBroadcasts } from '../../src/store/outbox/update-log';
import { createScripts } from '../../src/store/redis/scripts';
import { place } from '../support/engine-order';
import { tell } from '../support/telling';
import type { OpenMarket } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { type RunningWeb, startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { type BookClient, bookOf, createBookClient } from './book-client';

/** A process that does not take over the broadcast by then never does, however busy the machine is. */
const TAKEOVER_MS_MAX = 60_000;
/** Twice as long as a process that is gone may hold the broadcast. */
const LEASE_MS = 2_500;
/** A level of the stored book: nine lots of one order. */
const LEVEL = Buffer.from([0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1]);
let exchange: WebReplicas;
let market: OpenMarket;
const open: { close(): void }[] = [];

beforeEach(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true });
});
afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  await exchange.stop();
});

async function follow(replica: RunningWeb): Promise<BookClient> {
  const client = createBookClient(market.conditionId);
  open.push(client);
  await client.connect(replica.url);
  return client;
}

/** Places orders at the same few levels until it is stopped. */
function orders(everyMs: number): () => Promise<void> {
  let stopped = false;
  const run = (async () => {
    for (let i = 0; !stopped; i++) {
      await place(exchange, market, { pips: 3_000 + 100 * (i % 30) }).catch(() => undefined);
      await sleep(everyMs);
    }
  })();
  return async () => {
    stopped = true;
    await run;
  };
}

/** Waits until every client has the book of REST. */
async function agree(replica: RunningWeb, clients: readonly BookClient[]): Promise<void> {
  const book = bookOf((await replica.client.get(`/markets/${market.id}/orderbook`)).body);
  await until('all are at the end', () => clients.every((client) => client.sequence() === book.sequence));
  for (const client of clients) expect(client.book()).toEqual(book);
}

test.each(['SIGKILL', 'SIGTERM'] as const)('another process takes over after %s', async (signal) => {
  const leader = await exchange.replicaProcess();
  await until('it broadcasts', () => leader.started.stdout().includes('broadcasting'));
  const other = await exchange.replica();
  market = await exchange.market(other);
  const client = await follow(other);
  const stop = orders(10);
  await until('updates', () => client.updates.length > 10);
  const arrivals: number[] = [];
  client.socket()?.on('orderbook:update', () => arrivals.push(Date.now()));
  leader.started.child.kill(signal);
  const killedAtMs = Date.now();
  // Longer than the lease of the process that is gone: these are the updates of another one.
  await until('updates again', () => (arrivals.at(-1) ?? 0) > killedAtMs + LEASE_MS, {
    patienceMs: TAKEOVER_MS_MAX,
  });
  await stop();
  const pauses = arrivals.map((at, i) => at - (arrivals[i - 1] ?? killedAtMs));
  tell(`${signal} of the broadcaster: no update for ${Math.max(...pauses)} ms`);
  await agree(other, [client]);
  expect(client.faults).toEqual([]);
  expect(client.counts.resent).toBe(0);
});

test('updates that the adapter lost are sent from the log, in order and once', async () => {
  const replicas = [await exchange.replica(), await exchange.replica(), await exchange.replica()] as const;
  market = await exchange.market(replicas[0]);
  const clients = await Promise.all(replicas.map(follow));
  const stop = orders(3);
  for (let i = 0; i < 15; i++) {
    await sleep(120);
    await exchange.store.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  }
  await stop();
  await agree(replicas[0], clients);
  expect(clients.flatMap(({ faults }) => faults)).toEqual([]);
  for (const { counts } of clients) expect(counts).toMatchObject({ snapshots: 1, skipped: 0 });
});

test('a process without the lease changes nothing', async () => {
  const broadcasts = createBroadcasts({
    redis: exchange.store.redis,
    run: createScripts(exchange.store.redis),
    keys: exchange.store.keys,
  });
  const update = {
    previousSequence: 4,
    sequence: 5,
    timestampMs: 1,
    reason: 'ORDER',
    marketChanged: false,
    bestBid: null,
    bestAsk: null,
    checksum: '00000000',
    levels: [],
    matches: [],
  } as const;
  const at = { before: '1-0', at: '2-0' };
  const publish = (
    token: string,
    more: Partial<typeof update> | { previousSequence: number; sequence: number } = {},
  ) =>
    broadcasts.publish(token, 10_000, at, [
      { marketId: 'market01', update: { ...update, ...more }, restart: false },
    ]);
  await expect(publish('old')).rejects.toThrow('DEPOSED');
  expect(await broadcasts.lease.take('old', 10_000)).toBe(true);
  expect(await broadcasts.lease.take('new', 10_000)).toBe(false);
  await publish('old');
  expect(await broadcasts.lease.position()).toBe('2-0');
  await broadcasts.lease.release('old');
  expect(await broadcasts.lease.take('new', 10_000)).toBe(true);
  await expect(publish('old', { previousSequence: 5, sequence: 6 })).rejects.toThrow('DEPOSED');
  expect(await broadcasts.lease.renew('old', 10_000, '9-0')).toBe(false);
  await broadcasts.lease.release('old');
  // Its successor, too, continues only where the log ends.
  await expect(publish('new')).rejects.toThrow('BROKEN');
  await expect(publish('new', { previousSequence: 6, sequence: 7 })).rejects.toThrow('BROKEN');
  expect(await broadcasts.tail('market01')).toEqual(update);
  expect(await broadcasts.lease.position()).toBe('2-0');
  // A renewal from before a step of the holder may come after it.
  for (const [position, stored] of [
    ['2-9', '2-9'],
    ['2-10', '2-10'],
    ['2-9', '2-10'],
    ['1-11', '2-10'],
    ['10-0', '10-0'],
  ] as const) {
    expect(await broadcasts.lease.renew('new', 10_000, position)).toBe(true);
    expect(await broadcasts.lease.position()).toBe(stored);
  }
});

test.each([
  // The former broadcaster may continue without knowing it.
  ['is still there', (lease: string) => exchange.store.redis.pexpire(lease, 3_000)],
  ['is gone', (lease: string) => exchange.store.redis.del(lease)],
])(
  'a Redis that lost its latest writes, the lease %s: clients are sent the book that is',
  async (_what, prepare) => {
    const [replica, other] = [await exchange.replica(), await exchange.replica()];
    market = await exchange.market(replica);
    const clients = [await follow(replica), await follow(other)];
    for (let i = 0; i < 20; i++) await place(exchange, market, { pips: 3_000 + i * 100 });
    await until('all are told', () => clients.every((client) => client.sequence() === 21));
    await prepare(exchange.store.keys.lease);
    const saved = exchange.saved();
    for (let i = 0; i < 20; i++) await place(exchange, market, { pips: 6_000 + i * 100 });
    await until('all are told', () => clients.every((client) => client.sequence() === 41));
    await exchange.restartRedis(100, saved);
    await until('the book is sent again', () => clients.every(({ counts }) => counts.resent === 1));
    expect(clients.map((client) => client.sequence())).toEqual([21, 21]);
    for (let i = 0; i < 5; i++) await place(exchange, market, { pips: 2_000 });
    await agree(replica, clients);
  },
);

test('after commands are missing in the outbox, clients are sent the book', async () => {
  const replica = await exchange.replica();
  market = await exchange.market(replica);
  const client = await follow(replica);
  await place(exchange, market);
  await until('it is told', () => client.sequence() === 2);
  await exchange.store.redis.hset(exchange.store.keys.market(market.id), 'b4000', LEVEL);
  const state = await exchange.store.redis.hgetBuffer(exchange.store.keys.market(market.id), 's');
  state?.writeUIntBE(7, 2, 6);
  await exchange.store.redis.hset(exchange.store.keys.market(market.id), 's', state as Buffer);
  await place(exchange, market);
  await until('the book is sent again', () => client.counts.resent === 1);
  await place(exchange, market);
  await agree(replica, [client]);
  expect(exchange.logged.some((line) => line.includes('missing in the outbox'))).toBe(true);
});

test('after sequences are repeated, no earlier state is used', async () => {
  const replica = await exchange.replica();
  market = await exchange.market(replica);
  const client = await follow(replica);
  const state = await exchange.store.redis.hgetBuffer(exchange.store.keys.market(market.id), 's');
  for (let i = 0; i < 5; i++) await place(exchange, market);
  await until('it is told', () => client.sequence() === 6);
  await exchange.store.redis.hset(exchange.store.keys.market(market.id), 's', state as Buffer);
  await place(exchange, market);
  await until('the book is sent again', () => client.counts.resent === 1);
  await place(exchange, market, { pips: 4_000 });
  await agree(replica, [client]);
  expect(exchange.logged.some((line) => line.includes('has lost its latest writes'))).toBe(true);
});

test('a book that was broadcast wrongly is discovered', async () => {
  const replica = await exchange.replica();
  market = await exchange.market(replica);
  const client = await follow(replica);
  await place(exchange, market);
  await until('it is told', () => client.sequence() === 2);
  await exchange.store.redis.hset(exchange.store.keys.market(market.id), 'b4000', LEVEL);
  await until('the book is sent again', () => client.counts.resent === 1);
  await place(exchange, market);
  await agree(replica, [client]);
});
