import { Refusal } from '../../exchange/errors';
import type { MarketId, OutcomeIndex } from '../../exchange/market';
import type { Side } from '../../exchange/match';
import { REASONS } from '../../exchange/status';
import { addressBytes, hashHex } from '../records/order';
import type { Keys } from '../redis/keys';
import { refusalCode } from '../redis/refusals';
import type { RunScript } from '../redis/scripts';
import type { ReplyOf } from '../redis/verbs';

/** Selects open orders of a wallet; without any member, all of them. */
export interface SweepFilter {
  readonly marketId?: MarketId;
  readonly outcome?: OutcomeIndex;
  readonly side?: Side;
}

/** The place at which a walk over a wallet's open orders continues (lua/lib/walk.lua). */
export interface WalkPlace {
  readonly rank: string;
  readonly behind: number;
  /** The partition in which it continues, where there are several. */
  readonly shard?: number;
}

export interface Sweep {
  readonly cancelled: readonly string[];
  /** Number of the latest command in each market touched, and always in a market that the filter names. */
  readonly sequences: ReadonlyMap<MarketId, number>;
}
export interface SweepStep extends Sweep {
  /** Null at the end. */
  readonly next: WalkPlace | null;
}

type Reply = ReplyOf<'cancel_all' | 'cancel_absent'>;
type Step = (from: WalkPlace) => Promise<SweepStep | null>;

export const BEGINNING: WalkPlace = { rank: '0', behind: 0 };
const HASH_BYTES = 32;
/** The most open orders that one step reads (LOOK_MAX in lua/lib/walk.lua). */
const LOOK_MAX = 1_000;
/** The most steps of one walk; the next request continues after them. */
const STEPS_MAX = 5_000;

export interface Sweeps {
  /** cancel_all: one bounded step. Throws MARKET_NOT_FOUND, HALTED. */
  sweep(address: string, filter: SweepFilter, from?: WalkPlace, look?: number): Promise<SweepStep>;
  /**
   * Cancels every open order of the wallet that the filter selects. When it returns, there was a moment at which none of them
   * was open; the `sequence` of a market that the filter names is of that moment.
   */
  cancelAll(address: string, filter: SweepFilter): Promise<Sweep>;
  /**
   * cancel_absent: cancels the open orders of a wallet that is gone, if they are older than its absence. It does nothing when
   * the wallet is back, or without the lease. Throws HALTED.
   */
  cancelAbsent(address: string, lease: string): Promise<Sweep>;
}

/** The verbs that cancel all orders of a wallet; the scripts select them, step by step. */
export function createSweeps({ run, keys }: { run: RunScript; keys: Keys }): Sweeps {
  const keysOf = (wallet: Buffer) =>
    [keys.wallet(wallet), keys.orders, keys.cash, keys.expiries, keys.outbox, keys.mode] as const;

  async function sweep(
    address: string,
    { marketId, outcome, side }: SweepFilter,
    from: WalkPlace = BEGINNING,
    look = LOOK_MAX,
  ): Promise<SweepStep> {
    const wallet = addressBytes(address);
    const wanted = [marketId ?? '', outcome ?? '', side ?? ''] as const;
    const reason = REASONS.indexOf('CANCEL_ALL');
    const place = [from.rank, from.behind, look] as const;
    const step = readStep(
      await run('cancel_all', keysOf(wallet), [keys.prefix, wallet, ...wanted, reason, ...place]),
    );
    if (!step) throw new Error('a wallet that cancels its orders is said to be back');
    return step;
  }

  const cancelAll = (address: string, filter: SweepFilter): Promise<Sweep> =>
    walk((from) => sweep(address, filter, from));

  const cancelAbsent = (address: string, lease: string): Promise<Sweep> => {
    const wallet = addressBytes(address);
    const reason = REASONS.indexOf('DISCONNECT');
    return walk(async ({ rank, behind }) =>
      readStep(
        await run(
          'cancel_absent',
          [...keysOf(wallet), keys.absences, keys.lease],
          [keys.prefix, wallet, lease, reason, rank, behind, LOOK_MAX],
        ),
      ),
    );
  };

  return { sweep, cancelAll, cancelAbsent };
}

/** The orders that a walk has cancelled so far. */
export interface GrowingSweep extends Sweep {
  readonly cancelled: string[];
  readonly sequences: Map<MarketId, number>;
}
export const newSweep = (): GrowingSweep => ({ cancelled: [], sequences: new Map() });

/** Repeats steps until one reports the end, or that the wallet is back. The orders that it cancels go into `found`, also when it fails. */
export async function walk(take: Step, found = newSweep()): Promise<Sweep> {
  const { cancelled, sequences } = found;
  let from: WalkPlace | null = BEGINNING;
  for (let taken = 0; from && taken < STEPS_MAX; taken++) {
    const step: SweepStep | null = await take(from);
    cancelled.push(...(step?.cancelled ?? []));
    for (const [marketId, sequence] of step?.sequences ?? []) sequences.set(marketId, sequence);
    from = step?.next ?? null;
  }
  if (from)
    throw new Refusal(
      'UNAVAILABLE',
      'this wallet has too many open orders to cancel in one request; repeat the request',
    );
  return found;
}

/** The reply of one step; null when the wallet is back. */
function readStep([code, , rank, behind, hashes, ...touched]: Reply): SweepStep | null {
  if (code.toString() === 'BACK') return null;
  if (code.toString() !== 'OK') throw new Refusal(refusalCode(code.toString()));
  const cancelled: string[] = [];
  for (let at = 0; at < hashes.length; at += HASH_BYTES) {
    cancelled.push(hashHex(hashes.subarray(at, at + HASH_BYTES)));
  }
  const sequences = new Map<MarketId, number>();
  for (let i = 0; i + 1 < touched.length; i += 2) sequences.set(String(touched[i]), Number(touched[i + 1]));
  return { cancelled, sequences, next: rank.length === 0 ? null : { rank: rank.toString(), behind } };
}
