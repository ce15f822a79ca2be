import type { SignedOrder } from '../../../src/exchange/order';
import { equip } from './equip';
import { type ChainMatch, type Market, newTrader, ONE, type Trader, type World } from './world';

/** The gas of matches of each kind, alone and in batches: the table of docs/run/contracts.md. */

export interface GasRow {
  readonly name: string;
  /** Gas of a transaction with one match. */
  readonly alone: number;
  /** Gas a match in a batch; null when only one was sent. */
  readonly inBatch: number | null;
  /** The plan for a batch, if there was one. */
  readonly planned: number | null;
}

export const BATCH = 40;
/** The next part of the same match (src/chain/exchange-contract.ts); the contract notes it in another word. */
const PART = 1n << 48n;
const SIZE = 2n * ONE;
const TAKER_PIPS = 6_000n;

type Kind = 'COMPLEMENTARY' | 'MINT' | 'MERGE';
interface Story {
  readonly name: string;
  readonly kind: Kind;
  /** The taker, and the makers, already hold every asset that they get. */
  readonly isKnown: boolean;
  readonly areMakersKnown?: boolean;
  readonly planned?: number;
  /** All matches of the batch meet one maker's order. */
  readonly isOneMaker?: boolean;
  /** All matches of the batch are the parts of one: a taker's order, each time with another maker. */
  readonly isOneTaker?: boolean;
  readonly feeRateBps?: bigint;
  readonly makers?: number;
}

const STORIES: readonly Story[] = [
  { name: 'COMPLEMENTARY, known holders', kind: 'COMPLEMENTARY', isKnown: true, planned: 115_000 },
  { name: 'COMPLEMENTARY, first tokens', kind: 'COMPLEMENTARY', isKnown: false, areMakersKnown: true },
  {
    name: 'COMPLEMENTARY, first tokens and first collateral',
    kind: 'COMPLEMENTARY',
    isKnown: false,
    planned: 148_000,
  },
  {
    name: 'COMPLEMENTARY, one resting order',
    kind: 'COMPLEMENTARY',
    isKnown: true,
    isOneMaker: true,
    planned: 87_000,
  },
  { name: 'COMPLEMENTARY, the fills of one taker', kind: 'COMPLEMENTARY', isKnown: true, isOneTaker: true },
  { name: 'COMPLEMENTARY, a fee of 2 %', kind: 'COMPLEMENTARY', isKnown: true, feeRateBps: 200n },
  { name: 'COMPLEMENTARY, 20 makers', kind: 'COMPLEMENTARY', isKnown: true, makers: 20 },
  { name: 'MINT, known holders', kind: 'MINT', isKnown: true, planned: 215_000 },
  { name: 'MINT, first tokens', kind: 'MINT', isKnown: false, planned: 244_000 },
  { name: 'MINT, 20 makers', kind: 'MINT', isKnown: true, makers: 20 },
  { name: 'MERGE, known holders', kind: 'MERGE', isKnown: true },
];

const price = (size: bigint, pips: bigint): bigint => (size * pips) / 10_000n;

/** Returns the rows of one market, whose ids the framework finds with as many tries as `market` needs. */
export async function gasRows(world: World, market: Market): Promise<GasRow[]> {
  let id = 1n << 60n;
  const rows: GasRow[] = [];
  // The fee receiver and the framework hold every asset, as they do on a chain in use.
  await equip(world, market, [world.fees.address, world.ctf], true, 'cash');
  // Neither is its word of match ids new.
  await world.settle(
    (await pairs(world, market, STORIES[0] as Story, 1)).map((match) => ({ id: id++, ...match })),
  );
  for (const story of STORIES) {
    const gasOf = async (matches: readonly Pair[]): Promise<number> => {
      const step = story.isOneTaker ? PART : 1n;
      const receipt = await world.settle(
        matches.map((match, at) => ({ id: id + BigInt(at) * step, ...match })),
      );
      id += BigInt(matches.length);
      const settled = world.eventsOf(receipt).filter(({ name }) => name === 'MatchSettled');
      if (settled.length !== matches.length) throw new Error(`${story.name}: ${settled.length} were settled`);
      return Math.round(Number(BigInt(receipt.gasUsed)) / matches.length);
    };
    const alone = await gasOf(await pairs(world, market, story, 1));
    const inBatch = story.makers ? null : await gasOf(await pairs(world, market, story, BATCH));
    rows.push({ name: story.name, alone, inBatch, planned: story.planned ?? null });
  }
  return rows;
}

type Pair = Omit<ChainMatch, 'id'>;

/** Matches of new wallets, which are equipped all at once. */
async function pairs(world: World, market: Market, story: Story, count: number): Promise<Pair[]> {
  const {
    kind,
    isKnown,
    areMakersKnown = isKnown,
    feeRateBps = 0n,
    isOneMaker = false,
    isOneTaker = false,
    makers: each = 1,
  } = story;
  const [yes, no] = market.tokens;
  const takers = Array.from({ length: isOneTaker ? 1 : count }, newTrader);
  const makers = Array.from({ length: isOneMaker ? 1 : count * each }, newTrader);
  const takerSide = kind === 'MERGE' ? 1 : 0;
  const makerSide = kind === 'MINT' ? 0 : 1;
  const addresses = (traders: readonly Trader[]) => traders.map(({ address }) => address);
  await equip(world, market, addresses(takers), isKnown, takerSide === 0 ? 'cash' : 'tokens');
  await equip(world, market, addresses(makers), areMakersKnown, makerSide === 0 ? 'cash' : 'tokens');

  const makerPips = kind === 'COMPLEMENTARY' ? TAKER_PIPS : 10_000n - TAKER_PIPS;
  const order = (one: Trader, tokenId: bigint, side: 0 | 1, size: bigint, pips: bigint): SignedOrder => {
    const [makerAmount, takerAmount] = side === 0 ? [price(size, pips), size] : [size, price(size, pips)];
    return world.sign(one, { tokenId, side, makerAmount, takerAmount, feeRateBps });
  };
  const makerToken = kind === 'COMPLEMENTARY' ? yes : no;
  const resting = makers.map((one) =>
    order(one, makerToken, makerSide, isOneMaker ? SIZE * BigInt(count) : SIZE, makerPips),
  );
  const makerFill = makerSide === 0 ? price(SIZE, makerPips) : SIZE;
  const size = SIZE * BigInt(each);
  const taking = takers.map((one) =>
    order(one, yes, takerSide, isOneTaker ? size * BigInt(count) : size, TAKER_PIPS),
  );
  const takerFill = takerSide === 0 ? price(size, TAKER_PIPS) : size;
  return Array.from({ length: count }, (_, at) => {
    const taker = (taking[at] ?? taking[0]) as SignedOrder;
    const own = isOneMaker ? resting : resting.slice(at * each, (at + 1) * each);
    return { taker, makers: own, takerFill, makerFills: own.map(() => makerFill) };
  });
}
