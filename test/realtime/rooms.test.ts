import { connect, disconnect } from '../../src/store/redis/connection';
import { place } from '../support/engine-order';
import { type Listener, listen } from '../support/listener';
import { createTrader, domainOf, type OpenMarket, type Trader } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { type BookClient, bookOf, createBookClient } from './book-client';

/** A replica receives the updates of a market, and the news of a wallet, only while it has sockets for them. */
const ALL_REPLICAS = 'socket.io:0#/#';
const PRIVATE = ['order:update', 'trade:update', 'balance:update'];

let exchange: WebReplicas;
let near: Replica;
let far: Replica;
let market: OpenMarket;
const open: { close(): void }[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true, env: { RATE_LIMIT: 'off' } });
  near = await exchange.replica();
  far = await exchange.replica();
});
beforeEach(async () => {
  market = await exchange.market(near);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => exchange.stop());

const channelOf = (room: string): string => `${ALL_REPLICAS}${room}#`;
const marketRoom = (): string => `m:${market.id}`;
const walletRoom = ({ address }: Trader): string => `w:${address.toLowerCase()}`;

/** The number of replicas that hear a channel. */
async function hearing(channel: string): Promise<number> {
  const [, count] = (await exchange.store.redis.call('PUBSUB', 'SHARDNUMSUB', channel)) as [string, number];
  return Number(count);
}
const isHeardBy = (count: number, room: string) =>
  until(`${count} hear ${room}`, async () => (await hearing(channelOf(room))) === count);

/** Everything that is published on some channels from now on. */
async function ear(...channels: string[]): Promise<string[]> {
  const redis = connect({ urls: [exchange.redis.url], blocking: true });
  open.push({ close: () => disconnect(redis) });
  const heard: string[] = [];
  redis.on('smessage', (_channel: string, message: string) => heard.push(message));
  for (const channel of channels) await redis.ssubscribe(channel);
  return heard;
}

async function follow({ url }: Replica, client = createBookClient(market.conditionId)): Promise<BookClient> {
  open.push(client);
  await client.connect(url);
  return client;
}

async function privately({ url }: Replica, owner: Trader, auth: object = {}): Promise<Listener> {
  const one = await listen(url, { token: await owner.token(), ...auth });
  open.push(one);
  return one;
}

const numbered = ({ told }: Listener) =>
  told.flatMap(([event, body]) => (PRIVATE.includes(event) ? [body] : []));

function expectUnbroken(one: Listener): void {
  const events = numbered(one);
  for (const [i, { previousAccountSequence }] of events.entries()) {
    if (i > 0) expect(previousAccountSequence).toBe(events[i - 1]?.accountSequence);
  }
}

/** Places orders until it is stopped. */
function orders(everyMs: number): () => Promise<void> {
  let stopped = false;
  const run = (async () => {
    for (let i = 0; !stopped; i++) {
      await place(exchange, market, { pips: 3_000 + 100 * (i % 30) });
      await sleep(everyMs);
    }
  })();
  return async () => {
    stopped = true;
    await run;
  };
}

async function agree(...clients: BookClient[]): Promise<void> {
  const book = bookOf((await near.client.get(`/markets/${market.id}/orderbook`)).body);
  await until('all are at the end', () => clients.every((client) => client.sequence() === book.sequence));
  for (const client of clients) {
    expect(client.book()).toEqual(book);
    expect(client.faults).toEqual([]);
  }
}

test('a replica without sockets of a market or wallet receives no message about them', async () => {
  const alice = createTrader(near.client, await domainOf(near.client));
  const one = await privately(near, alice);
  const book = await follow(near);
  for (const room of [marketRoom(), walletRoom(alice)]) await isHeardBy(1, room);
  const everyone = await ear(ALL_REPLICAS);
  const followers = await ear(channelOf(marketRoom()), channelOf(walletRoom(alice)));
  await isHeardBy(2, walletRoom(alice));
  for (const pips of [5_000, 4_900, 4_800]) {
    await alice.submit(market, { side: 'BUY', outcome: 0, pips, lots: 100 });
    await sleep(50);
  }
  await one.heard('order:update', 3);
  await agree(book);
  const about = (messages: readonly string[], text: string) => messages.filter((one) => one.includes(text));
  for (const text of [market.id, alice.address.toLowerCase()]) {
    await until('the followers are told', () => about(followers, text).length > 0);
  }
  for (const text of [market.id, market.conditionId, alice.address.toLowerCase()]) {
    expect(about(everyone, text)).toEqual([]);
  }
});

test('a replica hears a market and a wallet from its first socket to its last', async () => {
  const alice = createTrader(near.client, await domainOf(near.client));
  const books = [await follow(far), await follow(far)];
  const one = await privately(far, alice);
  for (const room of [marketRoom(), walletRoom(alice)]) await isHeardBy(1, room);
  books[0]?.close();
  const stop = orders(5);
  await until('updates', () => (books[1]?.updates.length ?? 0) > 5);
  await stop();
  expect(await hearing(channelOf(marketRoom()))).toBe(1);
  books[1]?.close();
  one.close();
  for (const room of [marketRoom(), walletRoom(alice)]) await isHeardBy(0, room);
});

test('sockets that come and go while others trade miss no update and receive none twice', async () => {
  const stop = orders(4);
  const clients: BookClient[] = [];
  for (let turn = 0; turn < 12; turn++) {
    const client = await follow(far);
    clients.push(client);
    await until('updates', () => client.updates.length > turn % 4);
    // Now and then the replica has no socket of the market, or its only one subscribes again.
    if (turn % 3 === 0) await client.connect(far.url);
    if (turn % 2 === 0) client.socket()?.disconnect();
  }
  const stays = clients.filter((client) => client.connected());
  await stop();
  await agree(...stays);
  expect(clients.flatMap(({ faults }) => faults)).toEqual([]);
  for (const { counts } of clients) expect(counts).toMatchObject({ snapshots: 1, resent: 0 });
});

test('a wallet whose replica loses its connection to Redis again and again has every event once', async () => {
  const alice = createTrader(near.client, await domainOf(near.client));
  const [here, there] = [await privately(near, alice), await privately(far, alice)];
  const hashes: string[] = [];
  for (let i = 0; i < 20; i++) {
    const { body } = await alice.submit(market, {
      side: 'BUY',
      outcome: 0,
      pips: 3_000 + 100 * i,
      lots: 100,
    });
    hashes.push(body.orderHash);
    await sleep(20);
    if (i % 2 === 0) await exchange.store.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  }
  for (const one of [here, there]) await one.heard('order:update', hashes.length);
  for (const one of [here, there]) {
    expect(one.all('order:update').map(({ orderHash }) => orderHash)).toEqual(hashes);
  }
  for (const one of [here, there]) expectUnbroken(one);
});

test('a subscription that Redis refuses is tried again until it succeeds', async () => {
  const { redis } = exchange.store;
  const before = await follow(near);
  const stop = orders(5);
  await isHeardBy(1, marketRoom());
  await redis.call('ACL', 'SETUSER', 'default', 'resetchannels');
  await isHeardBy(0, marketRoom());
  const during = await follow(far);
  const refused = async () =>
    Number(/errorstat_NOPERM:count=(\d+)/.exec(await redis.info('errorstats'))?.[1]);
  await until('Redis refuses', async () => (await refused()) > 1);
  await redis.call('ACL', 'SETUSER', 'default', 'allchannels');
  await isHeardBy(2, marketRoom());
  await stop();
  await agree(before, during);
});
