import { micro } from '../../../../src/exchange/units';
import { createHomeLogs, type HomeLogs } from '../../../../src/extensions/shards/store/account-logs';
import { createHomeMarks } from '../../../../src/extensions/shards/store/home-marks';
import { createShardLogWriter } from '../../../../src/extensions/shards/store/log-writer';
import type { Logger } from '../../../../src/log';
import { createAccountWriter } from '../../../../src/realtime/broadcast/account-writer';
import { NO_ARCHIVED_READS } from '../../../../src/store/lists/archived-reads';
import { createOrderRecords } from '../../../../src/store/lists/orders';
import type {
  AccountEvent,
  AccountLogWriter,
  EventsByWallet,
} from '../../../../src/store/outbox/account-log';
import { createOutboxPolling } from '../../../../src/store/outbox/reader';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys, type Keys } from '../../../../src/store/redis/keys';
import { createScripts, type RedisClient, type RunScript } from '../../../../src/store/redis/scripts';
import { createEngine } from '../../../../src/store/verbs/engine';
import { startTestRedis } from '../../../support/redis';
import { READY_MS, until } from '../../../support/waiting';
import { walletWithHome } from './world';

/** The outboxes of four shards are written into the logs of wallets at their homes: each event once, also when a process dies. */
const COUNT = 4;
const shards = Array.from({ length: COUNT }, (_, k) => createKeys(k));
const WALLETS = shards.map((_, home) => walletWithHome(home, COUNT));
const [ANN, BOB] = WALLETS as [string, string];
const TOKEN = 'any process';

let server: Awaited<ReturnType<typeof startTestRedis>>;
let redis: RedisClient;
let run: RunScript;
let logs: HomeLogs;
beforeEach(async () => {
  server = await startTestRedis();
  redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  run = createScripts(redis);
  logs = createHomeLogs({ redis, run, shards });
});
afterEach(async () => {
  disconnect(redis);
  await server.stop();
});

const keysOf = (shard: number): Keys => shards[shard] as Keys;

/** A writer as a process has it; `around` stands between it and Redis. */
const writer = (source: number, around: (run: RunScript) => RunScript = (same) => same): AccountLogWriter =>
  createShardLogWriter({
    redis,
    run: around(run),
    shards,
    source,
    logs,
    marks: createHomeMarks({ redis, shards }),
    onError: () => undefined,
  });

/** Adds entries with the ids `from`-0 to `to`-0 to the outbox of a shard; resolves with the last id. */
async function add(shard: number, from: number, to: number): Promise<string> {
  for (let i = from; i <= to; i++) await redis.xadd(keysOf(shard).outbox, `${i}-0`, 'e', 'x');
  return `${to}-0`;
}

/** An event that says which entry it is of. */
const event = (entry: number): AccountEvent => ({
  kind: 'order',
  orderHash: `0x${entry.toString(16).padStart(64, '0')}`,
  match: null,
  makerHash: null,
});
const eventsOf = (entries: readonly number[], ...wallets: readonly string[]): EventsByWallet =>
  new Map(wallets.map((wallet) => [wallet, entries.map(event)]));
const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** The entries whose events the log has, in its order. */
async function entriesOf(wallet: string): Promise<number[]> {
  const found = await logs.since(wallet, 0, 1_000);
  const numbers = found.map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  return found.map(({ event: one }) => (one.kind === 'order' ? Number(one.orderHash) : 0));
}

/** Asks until the writer knows where it is; resolves with that place. */
async function placeOf(one: AccountLogWriter, from = ''): Promise<string> {
  const reply = await one.ask(TOKEN, from);
  if (reply.code === 'BROKEN') return placeOf(one, reply.logged);
  expect(reply.code).toBe('HEARD');
  return from;
}

test('while no log is open anywhere, there is nothing to write', async () => {
  await add(2, 1, 3);
  const one = writer(2);
  expect(await one.ask(TOKEN, '')).toEqual({ code: 'IDLE' });
  expect(await one.append(TOKEN, '', '3-0', eventsOf([1], ANN))).toEqual({ code: 'IDLE' });
});

test('a log has the events of every shard since it was opened, under one row of numbers', async () => {
  for (const shard of range(0, 3)) await add(shard, 1, 2);
  const { first, last } = await logs.open(ANN);
  expect(last).toBe(first);
  for (const shard of [2, 0, 3, 1]) {
    const one = writer(shard);
    const at = await placeOf(one);
    expect(at).toBe('2-0');
    await add(shard, 3, 3);
    const reply = await one.append(TOKEN, at, '3-0', eventsOf([10 * shard], ANN));
    expect(reply).toMatchObject({ code: 'OK', grown: [[ANN, expect.any(Number)]] });
  }
  expect(await entriesOf(ANN)).toEqual([20, 0, 30, 10]);
  expect(await logs.gap(ANN)).toBe(0);
  // A second socket keeps the log open and changes nothing.
  expect((await logs.open(ANN)).first).toBe(first);
});

test('a writer whose reply was lost, and another process after it, log nothing twice', async () => {
  await logs.open(ANN);
  await logs.open(BOB);
  const at = await placeOf(writer(1));
  await add(1, 1, 4);
  // The script ran, but its reply was lost; at the home of BOB nothing ran.
  const first = writer(1, (real) => async (name, keys, args) => {
    if (name === 'log_shard_events' && String(keys[0]).startsWith(keysOf(1).prefix)) throw new Error('lost');
    const reply = await real(name, keys, args);
    if (name === 'log_shard_events') throw new Error('lost');
    return reply;
  });
  await placeOf(first, at);
  await first.append(TOKEN, at, '4-0', eventsOf(range(1, 4), ANN, BOB));
  expect(first.isWhole?.()).toBe(false);
  expect([await entriesOf(ANN), await entriesOf(BOB)]).toEqual([range(1, 4), []]);

  const second = writer(1);
  const place = await placeOf(second);
  expect(place).toBe(at);
  expect(second.bounds?.()).toEqual(['4-0']);
  await add(1, 5, 6);
  // A range beyond the mark of one home would be doubled there.
  expect(await second.append(TOKEN, place, '6-0', eventsOf(range(1, 6), ANN, BOB))).toEqual({
    code: 'BROKEN',
    logged: place,
  });
  await second.append(TOKEN, place, '4-0', eventsOf(range(1, 4), ANN, BOB));
  await second.append(TOKEN, '4-0', '6-0', eventsOf([5, 6], ANN, BOB));
  // The first one still believes that it has the lease.
  await placeOf(first, place);
  expect((await first.append(TOKEN, '4-0', '6-0', eventsOf([5, 6], ANN, BOB))).code).toBe('BROKEN');
  expect([await entriesOf(ANN), await entriesOf(BOB)]).toEqual([range(1, 6), range(1, 6)]);
});

test('two processes that write the same outbox at the same time log each event once', async () => {
  for (const wallet of WALLETS) await logs.open(wallet);
  await add(3, 1, 60);
  const work = async (step: number): Promise<void> => {
    const one = writer(3);
    for (let at = await placeOf(one); at !== '60-0'; ) {
      const from = Number(at.split('-')[0]);
      const bound = Math.min(60, ...(one.bounds?.() ?? []).map((id) => Number(id.split('-')[0])));
      const to = Math.min(bound, from + step);
      const reply = await one.append(TOKEN, at, `${to}-0`, eventsOf(range(from + 1, to), ...WALLETS));
      at = reply.code === 'OK' ? `${to}-0` : await placeOf(one);
    }
  };
  await Promise.all([work(3), work(4), work(7)]);
  for (const wallet of WALLETS) expect(await entriesOf(wallet)).toEqual(range(1, 60));
});

test('a home that does not answer does not stop the others, and has every event when it is back', async () => {
  await logs.open(ANN);
  await logs.open(BOB);
  let isAway = false;
  const one = writer(2, (real) => async (name, keys, args) => {
    if (isAway && String(keys[0]).startsWith(keysOf(1).prefix)) throw new Error('away');
    return real(name, keys, args);
  });
  const at = await placeOf(one);
  await add(2, 1, 5);
  isAway = true;
  await one.append(TOKEN, at, '2-0', eventsOf([1, 2], ANN, BOB));
  await one.append(TOKEN, '2-0', '5-0', eventsOf([3, 4, 5], ANN, BOB));
  expect([await entriesOf(ANN), await entriesOf(BOB)]).toEqual([range(1, 5), []]);
  isAway = false;
  const place = await placeOf(one, '5-0');
  expect(place).toBe(at);
  expect(one.isWhole?.()).toBe(true);
  await one.append(TOKEN, place, '5-0', eventsOf(range(1, 5), ANN, BOB));
  expect([await entriesOf(ANN), await entriesOf(BOB)]).toEqual([range(1, 5), range(1, 5)]);
});

test('the first log of a home is heard without a question', async () => {
  await logs.open(ANN);
  const one = writer(0);
  const at = await placeOf(one);
  await add(0, 1, 2);
  await logs.open(BOB);
  await add(0, 3, 4);
  expect(await one.opened([ANN, BOB])).toEqual(new Set([ANN, BOB]));
  expect(one.bounds?.()).toEqual(['2-0']);
  await one.append(TOKEN, at, '2-0', eventsOf([1, 2], ANN));
  await one.append(TOKEN, '2-0', '4-0', eventsOf([3, 4], ANN, BOB));
  expect([await entriesOf(ANN), await entriesOf(BOB)]).toEqual([range(1, 4), [3, 4]]);
});

test('marks follow without events, so that trimming what was read is no gap; trimming what was not read is one', async () => {
  const { last } = await logs.open(ANN);
  const one = writer(1);
  const at = await placeOf(one);
  await add(1, 1, 10);
  await one.append(TOKEN, at, '10-0', new Map());
  await placeOf(one, '10-0');
  await redis.xtrim(keysOf(1).outbox, 'MINID', '11-0');
  const next = writer(1);
  expect(await placeOf(next)).toBe('10-0');
  await add(1, 11, 11);
  await next.append(TOKEN, '10-0', '11-0', eventsOf([11], ANN));
  expect(await logs.gap(ANN)).toBe(0);
  await add(1, 12, 15);
  await redis.xtrim(keysOf(1).outbox, 'MINID', '14-0');
  await next.append(TOKEN, '11-0', '15-0', eventsOf([14, 15], ANN));
  expect(await logs.gap(ANN)).toBeGreaterThan(last);
  expect(await entriesOf(ANN)).toEqual([11, 14, 15]);
});

test('an outbox that lost its end is a gap, and is followed again', async () => {
  await logs.open(ANN);
  const one = writer(3);
  const at = await placeOf(one);
  await add(3, 100, 104);
  await one.append(TOKEN, at, '104-0', eventsOf([104], ANN));
  await redis.del(keysOf(3).outbox);
  await add(3, 50, 51);
  expect(await placeOf(one, '104-0')).toBe('51-0');
  expect(await logs.gap(ANN)).toBeGreaterThan(0);
  await add(3, 52, 52);
  await one.append(TOKEN, '51-0', '52-0', eventsOf([52], ANN));
  expect(await entriesOf(ANN)).toEqual([104, 52]);
});

test('homes with different marks follow an outbox that lost the entries between them', async () => {
  await logs.open(ANN);
  await logs.open(BOB);
  // As after its Redis came back with older data, and went on: the entries that both homes knew last are gone.
  await redis.hset(keysOf(0).accountMarks, { '2:logged': '9-0', '2:seen': 9 });
  await redis.hset(keysOf(1).accountMarks, { '2:logged': '5-0', '2:seen': 5 });
  const engine = createEngine({ run, keys: keysOf(2), grantMicro: micro(0), makersMax: 500 });
  const credit = (address: string): Promise<unknown> => engine.credit(address, micro(1));
  for (const address of [ANN, BOB]) await credit(address);
  const kept = await redis.xlen(keysOf(2).outbox);
  expect(kept).toBeGreaterThan(1);
  const problems: unknown[] = [];
  const account = createAccountWriter({
    accounts: writer(2),
    reader: createOutboxPolling(redis)(keysOf(2)),
    records: createOrderRecords({ redis, keys: keysOf(2), archivedReads: NO_ARCHIVED_READS }),
    broadcasts: { fills: () => Promise.reject(new Error('no event here has fills')) },
    held: () => ({ token: TOKEN, sinceMs: 0 }),
    log: { warn: (...told: unknown[]) => problems.push(told) } as unknown as Logger,
    notify: () => undefined,
  });
  account.start();
  try {
    for (const address of [ANN, BOB]) {
      await until('the event is in the log', async () => (await logs.since(address, 0, 10)).length > 0);
      expect(await logs.gap(address)).toBeGreaterThan(0);
      // The faucet pays a new account at once.
      await redis.del(keysOf(2).cash);
      await credit(address);
      await until('the next one is, too', async () => (await logs.since(address, 0, 10)).length === 2);
    }
  } finally {
    await account.stop();
  }
  expect(problems).toEqual([]);
});
