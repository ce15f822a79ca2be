import type { OutcomeIndex } from '../../../src/exchange/market';
import type { Side } from '../../../src/exchange/match';
import {
  ORDER_TYPES,
  type OrderType,
  type Reason,
  type SelfTradePrevention,
} from '../../../src/exchange/status';
import { createRandom, type Random } from '../../support/random';
import { ENDING_WEIGHTS, type MarketStep, marketSteps, STEP_WEIGHTS } from './market-steps';
import { createReplacing } from './replacing';
import { type SweepOperation, sweepOf } from './sweeps';

/** One market of a world. */
export interface WorldMarket {
  readonly id: string;
  readonly tickPips: number;
  readonly lotLots: number;
  readonly feeRateBps: number;
  /** Prices are drawn around this tick of the Yes book. */
  readonly centre: number;
}

export interface World {
  readonly seed: number;
  readonly markets: readonly WorldMarket[];
  readonly wallets: number;
  readonly grantMicro: number;
  readonly makersMax: number;
  /** Stale makers that one command expires (STALE_MAX of the script). */
  readonly staleMax: number;
  /** Sizes are multiplied by this. */
  readonly scale: number;
  /** Resting orders pile up, so that one submission meets very many. */
  readonly deep: boolean;
}

/** A number of lots, or that number above the most that the wallet can afford. */
export type Size = { readonly lots: number } | { readonly all: number };

/**
 * Operations refer to earlier ones only by their number, so that any of them can be omitted and the rest still makes sense;
 * shrinking needs that.
 */
export interface Place {
  readonly kind: 'place';
  readonly id: number;
  readonly market: number;
  readonly wallet: number;
  readonly side: Side;
  readonly outcome: OutcomeIndex;
  readonly type: OrderType;
  readonly pips: number;
  readonly size: Size;
  /** For a MARKET BUY: micro-units above size x price, and the least it must buy as a share of its size. */
  readonly extra: number;
  readonly least: number;
  readonly prevention: SelfTradePrevention;
  /** Seconds after the second that is now; null never. */
  readonly expires: number | null;
  /** Milliseconds from now; null none. */
  readonly deadline: number | null;
  /** Above the wallet's nonce of the moment. */
  readonly nonce: number;
  readonly dryRun: boolean;
}
export type Operation =
  | Place
  | { readonly kind: 'replace'; readonly of: number; readonly place: Place }
  | { readonly kind: 'again'; readonly of: number; readonly type: OrderType | null; readonly dryRun: boolean }
  | {
      readonly kind: 'cancel';
      readonly market: number;
      readonly wallet: number;
      readonly of: readonly number[];
      /** By the command for one order, in this market or in any. */
      readonly one: 'here' | 'anywhere' | null;
      readonly reason: Reason;
    }
  | { readonly kind: 'expire'; readonly most: number }
  | { readonly kind: 'clock'; readonly ms: number | 'before' | 'at' }
  | {
      readonly kind: 'convert';
      readonly id: number;
      readonly market: number;
      readonly wallet: number;
      readonly sets: number | 'all' | 'none' | 'more';
    }
  | { readonly kind: 'credit'; readonly wallet: number; readonly micro: number }
  | MarketStep
  | SweepOperation
  | { readonly kind: 'raise'; readonly id: number; readonly wallet: number }
  /** The next bounded step over the wallet's open orders. */
  | { readonly kind: 'invalidate'; readonly wallet: number; readonly most: number };

const TICKS = [1000, 100, 10, 1] as const;
const MICRO_PER_LOT = 10_000;
/** All that exists must stay below 2^53 micro-units. */
const GRANT_MAX = 2e15;

/** The last operations of a world, in which its markets end. */
const ENDING_OPERATIONS = 180;

/** The same seed makes the same world. Ticks alternate, so each is in half of all worlds. */
export function worldOf(seed: number): World {
  const random = createRandom(seed ^ 0x5eed);
  const isHuge = seed % 8 === 7;
  const deep = seed % 8 === 3;
  const market = (index: number): WorldMarket => {
    const tickPips = TICKS[(seed + index * (1 + (seed % 3))) % 4] ?? 100;
    const ticks = 10_000 / tickPips;
    const centre = random.pick([3, Math.floor(ticks / 2), ticks - 3, random.int(2, ticks - 2)]);
    const lotLots = random.pick([1, 1, 5, 100]);
    const feeRateBps = random.pick([0, 37, 200, 1000, 10_000]);
    return {
      id: `world${String(seed % 100).padStart(2, '0')}${index}`,
      tickPips,
      lotLots,
      feeRateBps,
      centre,
    };
  };
  const markets = [market(0), market(1)];
  const scale = isHuge ? random.pick([1_000_003, 99_999_989]) : 1;
  const lot = Math.max(...markets.map((m) => m.lotLots));
  return {
    seed,
    markets,
    wallets: 4,
    grantMicro: Math.min((deep ? 8_000_000 : 400_000) * lot * scale, GRANT_MAX) + random.int(0, 9_999),
    makersMax: deep ? 500 : random.pick([3, 5, 500]),
    staleMax: random.pick([2, 200]),
    scale,
    deep,
  };
}

/** `count` random operations in a world. */
export function operationsOf(world: World, count: number): Operation[] {
  const random = createRandom(world.seed);
  const operations: Operation[] = opening(world, random);
  const placed: Place[] = [];
  const replacing = createReplacing(world.seed);
  while (operations.length < count) {
    const step = generate(world, random, operations.length, count, placed);
    operations.push(...step.flatMap((operation) => replacing(operation, placed)));
  }
  return operations.slice(0, count);
}

/** Every wallet but the last starts with some sets of every market. */
function opening(world: World, random: Random): Operation[] {
  const share = Math.floor(world.grantMicro / 3 / MICRO_PER_LOT) * MICRO_PER_LOT;
  return world.markets.flatMap((_, market) =>
    Array.from({ length: world.wallets - 1 }, (_, wallet): Operation => {
      const sets = share + (random.chance(0.3) ? random.int(1, 9_999) : 0);
      return { kind: 'convert', id: 1_000_000 + market * 100 + wallet, market, wallet, sets };
    }),
  );
}

const WEIGHTS = {
  place: 66,
  again: 8,
  cancel: 9,
  sweep: 1.5,
  expire: 2.5,
  clock: 4,
  convert: 5,
  credit: 0.7,
  ...STEP_WEIGHTS,
  raise: 0.6,
  invalidate: 1,
};
const DEEP_WEIGHTS = { ...WEIGHTS, cancel: 3, sweep: 0.1, clock: 1, pause: 0.1, raise: 0.02 };

function generate(
  world: World,
  random: Random,
  at: number,
  count: number,
  placed: readonly Place[],
): Operation[] {
  const market = random.int(0, world.markets.length - 1);
  const wallet = random.int(0, world.wallets - 1);
  const weights = world.deep ? DEEP_WEIGHTS : WEIGHTS;
  const kind = random.weighted(at > count - ENDING_OPERATIONS ? { ...weights, ...ENDING_WEIGHTS } : weights);
  const recent = (): Place | undefined => {
    const reach = random.pick([1, 1, 20, 60, placed.length]);
    return placed[placed.length - 1 - random.int(0, Math.min(reach, placed.length) - 1)];
  };
  switch (kind) {
    case 'place':
      return [place(world, random, at, market, wallet)];
    case 'again': {
      const of = recent();
      const type = random.chance(0.2) ? random.pick(ORDER_TYPES) : null;
      return of ? [{ kind: 'again', of: of.id, type, dryRun: random.chance(0.1) }] : [];
    }
    case 'cancel': {
      const of = recent();
      const one = random.pick(['here', 'anywhere', null] as const);
      const others = Array.from({ length: one ? 0 : random.pick([0, 1, 3]) }, () => recent()?.id ?? 0);
      const reason = random.pick(['USER', 'CANCEL_ALL', 'DISCONNECT'] as const);
      if (!of) return [];
      const where = random.chance(0.9) ? of.market : market;
      const who = random.chance(0.85) ? of.wallet : wallet;
      return [{ kind: 'cancel', market: where, wallet: who, of: [of.id, ...others], one, reason }];
    }
    case 'sweep':
      return [sweepOf(at, market, wallet)];
    case 'expire':
      return [{ kind: 'expire', most: random.pick([1, 2, 200]) }];
    case 'clock':
      return [
        {
          kind: 'clock',
          ms: random.pick([1, 300, 999, 1000, random.int(1, 1500), 'before', 'at', 'at'] as const),
        },
      ];
    case 'convert': {
      const lots = random.int(1, 9) * (world.markets[market]?.lotLots ?? 1) * world.scale;
      const some = random.pick([1, -1]) * (lots * MICRO_PER_LOT + random.pick([0, 0, random.int(0, 9_999)]));
      const sets = random.chance(0.8) ? some : random.pick(['all', 'none', 'more'] as const);
      const id = random.chance(0.9) ? at : Math.max(0, at - random.int(1, 40));
      return [{ kind: 'convert', id, market, wallet, sets }];
    }
    case 'credit':
      return [{ kind: 'credit', wallet, micro: random.int(1, 50_000) * world.scale }];
    case 'invalidate':
      return [invalidate(random, wallet)];
    case 'raise':
      return [
        { kind: 'raise', id: random.chance(0.6) ? at : random.int(0, 2), wallet },
        ...Array.from({ length: random.int(0, 4) }, () => invalidate(random, wallet)),
      ];
    default:
      return marketSteps(kind, random, market, () => others(world, random, at, market, wallet, recent()));
  }
}

/** Some submissions and, now and then, requests that a mode refuses. */
function others(
  world: World,
  random: Random,
  at: number,
  market: number,
  wallet: number,
  recent: Place | undefined,
): Operation[] {
  const list: Operation[] = Array.from({ length: random.int(1, 6) }, (_, i) =>
    place(world, random, at + 1 + i, market, wallet),
  );
  const one = random.pick(['here', 'anywhere', null] as const);
  const of = recent && { market: recent.market, wallet: recent.wallet, of: [recent.id] };
  if (of && random.chance(0.5)) list.push({ kind: 'cancel', ...of, one, reason: 'USER' });
  if (random.chance(0.3)) list.push({ kind: 'credit', wallet, micro: random.int(1, 50_000) });
  if (random.chance(0.3)) list.push({ kind: 'convert', id: at + 9, market, wallet, sets: 10_000 });
  if (random.chance(0.3)) list.push({ kind: 'raise', id: at, wallet });
  return list;
}

const invalidate = (random: Random, wallet: number): Operation => ({
  kind: 'invalidate',
  wallet,
  most: random.pick([1, 2, 200]),
});

type Weights = Readonly<Record<OrderType, number>>;
const TYPES: Weights = { GTC: 46, IOC: 12, FOK: 10, POST_ONLY: 12, MARKET: 20 };
const DEEP_TYPES: Weights = { GTC: 60, IOC: 4, FOK: 2, POST_ONLY: 30, MARKET: 4 };

function place(world: World, random: Random, id: number, market: number, wallet: number): Place {
  const { tickPips, lotLots, centre } = world.markets[market] ?? { tickPips: 100, lotLots: 1, centre: 50 };
  const side = random.int(0, 1) as Side;
  const outcome = random.int(0, 1) as OutcomeIndex;
  const isBid = side === outcome;
  const type = random.weighted(world.deep ? DEEP_TYPES : TYPES);
  // In a deep world bids and asks rest apart from each other, and sometimes an order sweeps.
  const sweeps = world.deep && random.chance(0.02);
  const apart = world.deep && !sweeps ? (isBid ? -random.int(0, 2) : random.int(1, 2)) : random.int(-2, 2);
  const reach = sweeps ? (isBid ? 2 : -2) : apart;
  const tick = Math.min(Math.max(centre + reach, 1), 10_000 / tickPips - 1);
  const own = outcome === 0 ? tick * tickPips : 10_000 - tick * tickPips;
  const isMarket = type === 'MARKET' && random.chance(0.3);
  const noLimit = side === 0 ? 10_000 - tickPips : 0;
  const lots = lotLots * (sweeps ? random.int(60, 200) : random.int(1, world.deep ? 2 : 8)) * world.scale;
  const size = random.chance(0.9) || world.deep ? { lots } : { all: random.pick([0, 0, 1, -1]) };
  return {
    kind: 'place',
    id,
    market,
    wallet,
    side,
    outcome,
    type,
    pips: isMarket ? noLimit : own,
    size,
    extra: random.pick([0, 0, random.int(0, own * lotLots)]),
    least: random.pick([0, 0.5, 1, 1.5]),
    prevention: random.weighted({ NONE: 60, CANCEL_TAKER: 12, CANCEL_MAKER: 16, CANCEL_BOTH: 12 }),
    expires: random.chance(0.25) ? random.pick([0, 1, 1, 2, 3]) : null,
    deadline: random.chance(0.04) ? random.pick([-1, 0, 1, 5_000]) : null,
    nonce: random.chance(0.01) ? random.pick([1, -1]) : 0,
    dryRun: random.chance(0.05),
  };
}
