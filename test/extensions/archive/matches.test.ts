import { formatMicro, formatPips } from '../../../src/exchange/units';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createDueMatches } from '../../../src/extensions/archive/store/due-matches';
import { Fenced } from '../../../src/extensions/archive/store/forgetting';
import {
  isOver,
  type LeavingMatches,
  type SettledMatch,
} from '../../../src/extensions/archive/store/leaving';
import { LEFT } from '../../../src/store/records/layout';
import { hashBytes } from '../../../src/store/records/order';
import { settlementId, settlementKey } from '../../../src/store/records/settlement';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { withWorlds } from '../../store/engine/setup';
import { alice, bob, carla, NO, START_SECOND, YES } from '../../support/engine-world';
import { createMemoryArchive } from '../../support/memory-archive';
import { until } from '../../support/waiting';
import { createLeavingWorld, type Met } from './leaving-world';

/** The rules by which matches, and the orders that met in them, leave Redis. */
const { world } = withWorlds();
const MARKET = 'market00';
const TOKEN = 'the test';
const LEASE_MS = 600_000;
const KEEP_MS = 60_000;
const START_MS = START_SECOND * 1_000;

async function leaving(archive: Archive = createMemoryArchive()) {
  const { redis, keys } = world();
  const made = createLeavingWorld(world(), archive, world().now, KEEP_MS);
  const { forgetting } = made;
  expect(await forgetting.lease.take(TOKEN, LEASE_MS)).toBe(true);
  await forgetting.open();
  const stored = async (...requests: PlaceRequest[]) => {
    const raw = requests.map(({ orderHash }) => hashBytes(orderHash));
    if (raw.length === 0) return [];
    const packed = await redis.hmgetBuffer(keys.orders, ...raw);
    return raw.flatMap((hash, i) => (packed[i] ? [{ hash, packed: packed[i] as Buffer }] : []));
  };
  return {
    ...made,
    archive,
    stored,
    forget: async (markets: readonly LeavingMatches[], ...orders: PlaceRequest[]) =>
      forgetting.move(TOKEN, { markets, orders: await stored(...orders) }),
    streams: async (): Promise<number[]> =>
      Promise.all([
        redis.xlen(keys.trades(MARKET)),
        redis.hlen(keys.settlements),
        redis.xlen(keys.settlementList),
        redis.xlen(keys.settlementListOf(MARKET)),
      ]),
    left: async () => {
      const packed = await redis.hgetBuffer(keys.market(MARKET), 'f');
      if (!packed) return null;
      const { matches, volumeMicro, feeMicro, yesFeeMicro, noFeeMicro, lastPips } = LEFT.read(packed);
      const fees = [feeMicro, yesFeeMicro, noFeeMicro].map(formatMicro);
      return { matches, volume: formatMicro(volumeMicro), fees, last: formatPips(lastPips) };
    },
    old: () => world().clock(START_MS + KEEP_MS),
  };
}

/** Two orders that meet whole, at 0.60 for Yes. */
async function meet(market = MARKET): Promise<[PlaceRequest, PlaceRequest]> {
  const [maker, taker] = [
    world().buy(alice, YES, '10', '0.60', { market }),
    world().buy(bob, NO, '10', '0.40', { market }),
  ];
  for (const order of [maker, taker]) await world().place(order);
  return [maker, taker];
}

test('a match leaves with its settlement, and then the orders that met in it', async () => {
  await world().market();
  const orders = await meet();
  const { settle, count, due, forget, streams, left, old, archive, stored } = await leaving();
  await settle(MARKET);
  await count(MARKET);
  await old();
  const [stretch] = await due(MARKET);
  expect(stretch?.matches).toHaveLength(1);
  expect(await streams()).toEqual([1, 1, 1, 1]);
  expect(await forget([stretch as LeavingMatches], ...orders)).toEqual({ orders: 2, matches: 1, lines: 0 });
  expect([await streams(), await stored(...orders)]).toEqual([[0, 0, 0, 0], []]);
  expect(await left()).toEqual({ matches: 1, volume: '4', fees: ['0', '0', '0'], last: '0.6' });
  expect((await archive.state())?.batch).toBe(1);
  expect(await due(MARKET)).toEqual([]);
});

test('a market keeps the sums of its matches that left: value, fees by who pays them, the last price', async () => {
  await world().market({ feeRateBps: 200 });
  const { place, buy, sell, split } = world();
  for (const who of [bob, carla]) await split(who, '1000');
  // As in test/store/engine/fees.test.ts: 1.636363 Yes and 0.9; 1.636363 Yes and 2 No.
  await place(sell(bob, YES, '100', '0.55'));
  await place(buy(alice, YES, '100', '0.60'));
  await place(buy(bob, NO, '100', '0.45'));
  await place(buy(alice, YES, '100', '0.60'));
  // A MERGE: both sell, and pay collateral: 0.02 x 0.3 x 10 each.
  await place(sell(bob, YES, '10', '0.30'));
  await place(sell(carla, NO, '10', '0.70'));
  const { settle, count, due, forget, left, old } = await leaving();
  await settle(MARKET);
  await count(MARKET);
  await old();
  const [stretch] = await due(MARKET);
  const [first, ...rest] = stretch?.matches ?? [];
  await forget([{ marketId: MARKET, matches: [first as SettledMatch] }]);
  expect(await left()).toEqual({ matches: 1, volume: '55', fees: ['0.9', '1.636363', '0'], last: '0.55' });
  await forget([{ marketId: MARKET, matches: rest }]);
  const { volume, last } = await world().book();
  expect(await left()).toEqual({
    matches: 3,
    volume,
    last,
    fees: ['1.02', '3.272726', '2'],
  });
});

test('a match stays while it is young, unsettled, uncounted, not the next one, or not as it was archived', async () => {
  await world().market();
  await meet();
  await meet();
  const { settle, count, due, forget, streams, left, old, met, mark } = await leaving();
  const [first, second] = await met(MARKET);
  expect(await due(MARKET)).toEqual([]);
  await settle(MARKET, [second as Met]);
  await old();
  await count(MARKET);
  // The first is not settled, so the mark is before both.
  expect(await due(MARKET)).toEqual([]);
  await settle(MARKET, [first as Met]);
  const [stretch] = await due(MARKET);
  const [one, two] = (stretch?.matches ?? []) as [SettledMatch, SettledMatch];
  const tried = async (...matches: SettledMatch[]) => (await forget([{ marketId: MARKET, matches }])).matches;
  expect(await tried(two)).toBe(0);
  expect(await tried(two, one)).toBe(0);
  expect(await tried({ ...one, sequence: one.sequence + 1 })).toBe(0);
  expect(await tried({ ...one, settlements: [] })).toBe(0);
  const head = Buffer.from(one.settlements[0] as Buffer);
  head[1] = 9;
  expect(await tried({ ...one, settlements: [head] })).toBe(0);
  await world().clock(START_MS + KEEP_MS - 1);
  expect(await tried(one)).toBe(0);
  await old();
  const { redis, keys } = world();
  for (const key of [keys.settledUpTo, keys.candleMarks]) {
    const noted = (await redis.hgetBuffer(key, MARKET)) as Buffer;
    await redis.hdel(key, MARKET);
    expect(await tried(one)).toBe(0);
    await redis.hset(key, MARKET, noted);
  }
  await redis.hset(keys.settledUpTo, MARKET, `${one.tradeMs}-${one.sequence - 1}`);
  expect(await tried(one)).toBe(0);
  await redis.hset(keys.settledUpTo, MARKET, `${one.tradeMs}-${one.sequence}`);
  expect([await tried(one, two), await streams(), await left()]).toEqual([0, [2, 2, 2, 2], null]);
  expect(await tried(one)).toBe(1);
  await mark(MARKET);
  expect(await tried(one, two)).toBe(0);
  expect([await tried(two), await tried(two)]).toEqual([1, 0]);
  expect(await streams()).toEqual([0, 0, 0, 0]);
});

test('matches take their own settlements out of both lists, also from among those of another market', async () => {
  const OTHER = 'market01';
  for (const id of [MARKET, OTHER]) await world().market({ id });
  const { settle, count, due, forget, old } = await leaving();
  for (const id of [MARKET, OTHER, MARKET, MARKET]) {
    await meet(id);
    await settle(id);
    await count(id);
  }
  const { redis, keys } = world();
  const lists = [keys.settlementList, keys.settlementListOf(MARKET), keys.settlementListOf(OTHER)];
  const listed = async (key: string): Promise<string[]> => {
    const entries = await redis.xrangeBuffer(key, '-', '+');
    return entries.map(([, fields]) => settlementId(settlementKey(fields[1] as Buffer)));
  };
  const inLists = () => Promise.all(lists.map(listed));
  const [all = []] = await inLists();
  const [, b, , c] = all as [string, string, string, string];
  await old();
  const [stretch, other] = (await due(MARKET, OTHER)) as [LeavingMatches, LeavingMatches];
  expect(stretch.matches).toHaveLength(3);
  await forget([{ ...stretch, matches: stretch.matches.slice(0, 2) }]);
  expect(await inLists()).toEqual([[b, c], [c], [b]]);
  await forget([other]);
  expect(await inLists()).toEqual([[c], [c], []]);
  await forget([{ ...stretch, matches: stretch.matches.slice(2) }]);
  expect(await inLists()).toEqual([[], [], []]);
});

test('a settlement that FAILED holds its match and those behind it, until it is CONFIRMED', async () => {
  await world().market();
  await meet();
  const { settlements, settle, count, due, old, met, mark, streams, forget } = await leaving();
  const [held] = await met(MARKET);
  const key = { ...held?.ref, part: 0 } as Parameters<typeof settlements.move>[0];
  await settlements.move(key, 'FAILED');
  await meet();
  await settle(MARKET, (await met(MARKET)).slice(1));
  await mark(MARKET);
  await count(MARKET);
  await old();
  expect(await due(MARKET)).toEqual([]);
  expect(await streams()).toEqual([2, 2, 2, 2]);
  await settle(MARKET, (await met(MARKET)).slice(0, 1));
  const markets = await due(MARKET);
  expect(markets[0]?.matches).toHaveLength(2);
  expect((await forget(markets)).matches).toBe(2);
});

test('a match of many makers leaves with all parts of its settlement, and not with one of them missing', async () => {
  await world().market();
  const { place, buy } = world();
  for (let i = 0; i < 120; i++) await place(buy(alice, YES, '1', '0.60'));
  await place(buy(bob, NO, '120', '0.40'));
  const { settle, count, due, forget, streams, old, archive } = await leaving();
  await settle(MARKET);
  await count(MARKET);
  await old();
  expect(await streams()).toEqual([1, 3, 3, 3]);
  const [stretch] = (await due(MARKET)) as [LeavingMatches];
  const [match] = stretch.matches as [SettledMatch];
  const cut = { ...match, settlements: match.settlements.slice(0, 2) };
  expect((await forget([{ marketId: MARKET, matches: [cut] }])).matches).toBe(0);
  expect((await forget([stretch])).matches).toBe(1);
  expect([await streams(), (await archive.state())?.batch]).toEqual([[0, 0, 0, 0], 2]);
});

test('an order that rests stays, however many of its matches have left, and leaves after its last one', async () => {
  await world().market();
  const { place, buy, engine, redis, keys } = world();
  const maker = buy(alice, YES, '30', '0.60');
  await place(maker);
  const takers = [buy(bob, NO, '10', '0.40'), buy(bob, NO, '10', '0.40')] as const;
  await place(takers[0]);
  const { settle, count, due, forget, old, stored } = await leaving();
  await settle(MARKET);
  await count(MARKET);
  await old();
  expect(await forget(await due(MARKET), takers[0])).toMatchObject({ matches: 1, orders: 1 });
  await place(takers[1]);
  await engine.cancel(null, alice, maker.orderHash, 'USER');
  await world().clock(START_MS + 2 * KEEP_MS);
  // It is over, and so is the other order; their match is in Redis.
  expect(await forget([], maker, takers[1])).toMatchObject({ orders: 0 });
  const over = (await stored(maker)).map(({ packed }) => isOver(packed, world().now(), () => null));
  expect(over).toEqual([false]);
  await settle(MARKET);
  await count(MARKET);
  expect(await forget(await due(MARKET), maker, takers[1])).toMatchObject({ matches: 1, orders: 2 });
  expect(await redis.hlen(keys.orders)).toBe(0);
});

test('a match leaves neither by a process without the lease nor while the exchange is HALTED', async () => {
  await world().market();
  await meet();
  const { settle, count, due, forget, old, forgetting, streams } = await leaving();
  await settle(MARKET);
  await count(MARKET);
  await old();
  const markets = await due(MARKET);
  await world().engine.setMode('HALTED');
  await expect(forget(markets)).rejects.toThrow(Fenced);
  await world().engine.setMode('NORMAL');
  await forgetting.open();
  await forgetting.lease.release(TOKEN);
  await expect(forget(markets)).rejects.toThrow(Fenced);
  expect(await streams()).toEqual([1, 1, 1, 1]);
});

test('a match from a time when the clock was ahead leaves when that time has passed for a minute', async () => {
  await world().market();
  await world().clock(START_MS + 600_000);
  await meet();
  await world().clock(START_MS);
  const { settle, count, forgetting, archive } = await leaving();
  await settle(MARKET);
  await count(MARKET);
  const { redis, keys, now } = world();
  const due = createDueMatches({ redis, keys, now, keepMs: KEEP_MS });
  due.note(MARKET, { tradeMs: START_MS + 600_000, sequence: 9 });
  expect((await due.next()).markets).toEqual([]);
  await world().clock(START_MS + 600_000 + KEEP_MS);
  await until('it is looked at again', async () => {
    const { markets } = await due.next();
    return markets.length > 0 && (await forgetting.move(TOKEN, { markets })).matches === 1;
  });
  expect((await archive.state())?.batch).toBe(1);
});
