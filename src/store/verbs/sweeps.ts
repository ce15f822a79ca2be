import { Refusal } from '../../exchange/errors';
import type { MarketId, OutcomeIndex } from '../../exchange/market';
import type { Side } from '../../exchange/match';
import { REASONS } from '../../exchange/status';
import { addressBytes, hashHex } from '../records/order';
import type { ShardKeys } from '../redis/keys';
import { refusalCode } from '../redis/refusals';
import type { RunScript } from '../redis/scripts';
import type { ReplyOf } from '../redis/verbs';

/** Which of a wallet's open orders; all of them without any member. */
export interface SweepFilter {
  readonly marketId?: MarketId;
  readonly outcome?: OutcomeIndex;
  readonly side?: Side;
}

/** Where a walk over a wallet's open orders goes on (lua/lib/walk.lua). */
export interface WalkPlace {
  readonly rank: string;
  readonly behind: number;
}

export interface Sweep {
  readonly cancelled: readonly string[];
  /** Number of the latest command in each market touched; of the one market asked for always. */
  readonly sequences: ReadonlyMap<MarketId, number>;
}
export interface SweepStep extends Sweep {
  /** Null at the end. */
  readonly next: WalkPlace | null;
}

type Reply = ReplyOf<'cancel_all' | 'cancel_absent'>;
type Step = (from: WalkPlace) => Promise<SweepStep | null>;

const BEGINNING: WalkPlace = { rank: '0', behind: 0 };
const HASH_BYTES = 32;
/** Open orders one step looks at (LOOK_MAX in lua/lib/walk.lua). */
const LOOK_MAX = 1_000;
/** Steps of one walk: what a wallet has open beyond them is for the next request. */
const STEPS_MAX = 5_000;

export interface Sweeps {
  /** cancel_all: one bounded step. MARKET_NOT_FOUND, HALTED. */
  sweep(address: string, filter: SweepFilter, from?: WalkPlace, look?: number): Promise<SweepStep>;
  /**
   * Every open order of the wallet that passes the filter. When it answers there was a moment at which none was open,
   * and in a market asked for its `sequence` is of that moment.
   */
  cancelAll(address: string, filter: SweepFilter): Promise<Sweep>;
  /**
   * cancel_absent: the open orders of a wallet that is gone, which were placed before it counted as gone; nothing once it
   * is back, or without the lease. HALTED.
   */
  cancelAbsent(address: string, lease: string): Promise<Sweep>;
}

/** The verbs that cancel all of a wallet's orders; the scripts decide which those are, step by step. */
export function createSweeps({ run, keys }: { run: RunScript; keys: ShardKeys }): Sweeps {
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

/** Goes on until a step says that it is at the end, or that there is no wallet to go on with. */
async function walk(take: Step): Promise<Sweep> {
  const cancelled: string[] = [];
  const sequences = new Map<MarketId, number>();
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
  return { cancelled, sequences };
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
