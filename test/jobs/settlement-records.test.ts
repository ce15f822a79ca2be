import type { Market } from '../../src/exchange/facts';
import { createSettle } from '../../src/jobs/settle';
import type { MatchRef } from '../../src/store/records/settlement';
import { type Settling, scale, startSettling } from './settling';

let world: Settling;
let market: Market;
beforeAll(async () => {
  world = await startSettling();
  market = await world.createMarket();
});
afterAll(() => world.stop());

async function matched(): Promise<MatchRef> {
  const { marketId, fillMs: tradeMs, sequence } = (await world.match(market)).record;
  return { marketId, tradeMs, sequence };
}

const settle = (ref: MatchRef, funds: 'paper' | 'chain' = 'paper') =>
  createSettle({ ...world, termsOf: async () => market.terms, scale, funds })([ref]);
const HASH = `0x${'cd'.repeat(32)}`;

async function statusOf({ sequence }: MatchRef) {
  const { records } = await world.settlements.list({}, { limit: 100, cursor: null });
  const record = records.find((one) => one.sequence === sequence);
  return [record?.settlementStatus, record?.attempts, record?.transactionHash];
}

test('a record that failed may be settled, and a final one stays final', async () => {
  const ref = await matched();
  await settle(ref, 'chain');
  const key = { ...ref, part: 0 };
  const { move } = world.settlements;
  expect(await move(key, 'RETRYING')).toBe(true);
  expect(await move(key, 'FAILED')).toBe(true);
  expect(await move(key, 'FAILED')).toBe(false);
  expect(await statusOf(ref)).toEqual(['FAILED', 2, null]);
  expect(await move(key, 'CONFIRMED', HASH)).toBe(true);
  for (const status of ['RETRYING', 'FAILED', 'CONFIRMED'] as const)
    expect(await move(key, status, `0x${'ee'.repeat(32)}`)).toBe(false);
  expect(await statusOf(ref)).toEqual(['CONFIRMED', 2, HASH]);
});

test('the CONFIRMED record of a lost match is not used for the match that got its number', async () => {
  const { redis, keys, matches, settlements } = world;
  const ref = await matched();
  await settle(ref);
  await settlements.move({ ...ref, part: 0 }, 'CONFIRMED', HASH);
  expect(await statusOf(ref)).toEqual(['CONFIRMED', 1, HASH]);
  // Pretends that a failover has lost it, and that another match of the same moment got its number.
  const stream = keys.trades(market.terms.id);
  const [[id, fields]] = (await redis.xrangeBuffer(stream, '-', '+')).slice(-1) as [[Buffer, Buffer[]]];
  const other = Buffer.from(fields[1] as Buffer);
  const maker = Buffer.from(other.subarray(36, 68));
  other.copy(other, 36, 0, 32);
  maker.copy(other, 0);
  await redis.del(stream);
  await redis.xadd(stream, id, 'f', other);
  const bounds = { nowMs: Date.now() + 1, graceMs: 0, patienceMs: 0, most: 100 };
  await redis.del(keys.settledUpTo);
  const takerHash = `0x${maker.toString('hex')}`;
  expect(await settlements.show(ref.marketId, [{ ...ref, takerHash, index: 0 }])).toMatchObject([
    { settlementStatus: 'MATCHED', transactionHash: null },
  ]);
  expect(await matches.unsettled(ref.marketId, bounds)).toEqual([ref]);
  expect(await settle(ref)).toEqual([]);
  expect(await settlements.show(ref.marketId, [{ ...ref, takerHash, index: 0 }])).toMatchObject([
    { settlementStatus: 'CONFIRMED', transactionHash: null },
  ]);
  const { records } = await settlements.list({}, { limit: 100, cursor: null });
  expect(records.filter(({ sequence }) => sequence === ref.sequence)).toHaveLength(1);
  expect(await redis.zcard(keys.unsettled)).toBe(0);
});

test('a record of a match that does not exist cannot be moved', async () => {
  const ref = { ...(await matched()), sequence: 999_999, part: 0 };
  expect(await world.settlements.move(ref, 'RETRYING')).toBe(false);
});
