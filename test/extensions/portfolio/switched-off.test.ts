import type { Market } from '../../../src/exchange/facts';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import { createJournalReads } from '../../../src/extensions/portfolio/store/reads';
import { createStoredLines } from '../../../src/extensions/portfolio/store/stored';
import type { RunningRedis } from '../../../src/local/redis';
import { NO_ARCHIVED_READS } from '../../../src/store/lists/archived-reads';
import { CORE_READERS, createOutbox } from '../../../src/store/outbox/outbox';
import { createShell } from '../../cli/shell';
import { type Auditing, openAuditing, told } from '../../store/audit/auditing';
import { startTestRedis } from '../../support/redis';

/** An exchange in which some or all processes do not have this extension. */
let server: RunningRedis;
let exchange: Auditing;
let market: Market;
let alice: string;
let bob: string;

beforeEach(async () => {
  server = await startTestRedis();
  exchange = openAuditing(server.url);
  // Redis only deletes whole nodes of a stream.
  await exchange.redis.config('SET', 'stream-node-max-entries', '1');
  [alice = '', bob = ''] = exchange.wallets;
  market = await exchange.createMarket();
});
afterEach(async () => {
  exchange.stop();
  await server.stop();
});

const MANY = 1_000;
const FEW = 10;
const TRADES = 20;
const MINUTE_MS = 60_000;

/** Two wallets buy ten lots of both outcomes, which the exchange splits for them. */
async function trade(times = TRADES): Promise<void> {
  for (let i = 0; i < times; i++) {
    await exchange.place(market, bob, 0, 1, 4_000, 10);
    await exchange.place(market, alice, 0, 0, 6_000, 10);
  }
  await exchange.settle();
}

async function lastEntry(): Promise<string> {
  const [[last] = ['0-0']] = await exchange.redis.xrevrange(exchange.keys.outbox, '+', '-', 'COUNT', 1);
  return last;
}

/** As the processes of the core, which have finished every entry. */
async function finish(): Promise<void> {
  const last = await lastEntry();
  for (const reader of CORE_READERS) await exchange.redis.hset(exchange.keys.readers, reader, last);
}

/** The worker of a process without the extension trims until it deletes nothing more; returns the number of entries left. */
async function trim(keepMax: number, keepMs = 0): Promise<number> {
  const { redis, run, keys } = exchange;
  const outbox = createOutbox({ run, keys, readers: CORE_READERS, keepMs, keepMax });
  while ((await outbox.trim()) > 0);
  return redis.xlen(keys.outbox);
}

function openJournal() {
  const journal = createJournal({ ...exchange, doubts: () => 0 });
  const lines = createStoredLines({ ...exchange, archivedReads: NO_ARCHIVED_READS });
  const reads = createJournalReads({ ...exchange, journal, lines });
  const page = { limit: 100, cursor: null };
  return {
    journal,
    sizeOf: async (wallet: string) =>
      (await reads.positions(wallet, {}, page)).positions.map(({ sizeMicro }) => sizeMicro),
    linesOf: async (wallet: string) => (await reads.rows(wallet, { tradesOnly: true }, page)).rows.length,
  };
}

const position = () => exchange.redis.hget(exchange.keys.readers, 'journal');
const differences = async () => told(await exchange.audit());
/** Micro-units of ten lots. */
const TEN_LOTS = 100_000n;

test('without it the outbox is trimmed, and when it is switched on its answers wait for a rebuild', async () => {
  await trade();
  await finish();
  expect(await trim(MANY)).toBe(1);
  expect(await position()).toBeNull();

  const { journal, sizeOf, linesOf } = openJournal();
  await expect(sizeOf(alice)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(linesOf(alice)).rejects.toThrow('exchange journal rebuild');
  expect(await differences()).toEqual(['POSITION']);
  const shell = createShell(server.url);
  const warnings = async () =>
    (await shell.exchange('doctor')).out
      .split('\n')
      .filter((line) => line.includes('exchange journal rebuild'));
  expect(await warnings()).toHaveLength(1);
  // What happens meanwhile is recorded.
  await trade(1);
  await journal.catchUp();

  const { repaired } = await shell.json('journal', 'rebuild');
  expect(await warnings()).toEqual([]);
  expect(repaired).toEqual([alice, bob].sort());
  expect(await sizeOf(alice)).toEqual([BigInt(TRADES + 1) * TEN_LOTS]);
  expect(await linesOf(bob)).toBe(TRADES + 1);
  await trade(1);
  expect(await sizeOf(bob)).toEqual([BigInt(TRADES + 2) * TEN_LOTS]);
  expect(await differences()).toEqual([]);
});

test('the place of one that was switched off holds up trimming to a bound, and no entry is recorded twice', async () => {
  const before = openJournal();
  await trade();
  await before.journal.catchUp();
  const left = await position();
  await trade();
  await finish();
  expect(await trim(MANY)).toBeGreaterThan(TRADES);
  expect(await position()).toBe(left);

  expect(await trim(FEW)).toBeGreaterThan(TRADES);
  expect(await position()).toBeNull();
  expect(await trim(FEW)).toBe(1);

  const after = openJournal();
  await expect(after.sizeOf(alice)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await position()).toBe(await lastEntry());
  await createShell(server.url).json('journal', 'rebuild');
  expect(await after.linesOf(alice)).toBe(2 * TRADES);
  expect(await after.sizeOf(alice)).toEqual([BigInt(2 * TRADES) * TEN_LOTS]);
  expect(await differences()).toEqual([]);
});

test('within the bound it goes on where it was, without a rebuild', async () => {
  const { journal, sizeOf } = openJournal();
  await trade();
  await journal.catchUp();
  await trade();
  await finish();
  await trim(MANY);
  expect(await sizeOf(alice)).toEqual([BigInt(2 * TRADES) * TEN_LOTS]);
  expect(await differences()).toEqual([]);
});

test('the place of one at work stays, however late another reader is', async () => {
  const { redis, keys } = exchange;
  const { journal, sizeOf } = openJournal();
  await trade(1);
  await finish();
  const late = await lastEntry();
  await trade();
  await journal.catchUp();
  await redis.hset(keys.readers, 'broadcast', await lastEntry());
  expect(await trim(FEW)).toBeGreaterThan(TRADES);
  expect(await position()).toBe(await lastEntry());
  // Also when both are at the same entry.
  await redis.hset(keys.readers, 'journal', late);
  expect(await trim(FEW)).toBeGreaterThan(TRADES);
  expect(await position()).toBe(late);
  await redis.hset(keys.readers, 'journal', await lastEntry());
  await finish();
  expect(await trim(FEW)).toBe(1);
  expect(await sizeOf(alice)).toEqual([BigInt(TRADES + 1) * TEN_LOTS]);
});

test('the place of one at work stays where a few entries are too many, but too few for Redis to delete a node of them', async () => {
  const { redis } = exchange;
  await redis.config('SET', 'stream-node-max-entries', '100');
  const { journal } = openJournal();
  await trade(1);
  await journal.catchUp();
  // Others are a little ahead of it, and every entry is young.
  const place = await position();
  await trade(2);
  await finish();
  const count = await redis.xlen(exchange.keys.outbox);
  expect(await trim(count - 1, MINUTE_MS)).toBe(count);
  expect(await position()).toBe(place);
});
