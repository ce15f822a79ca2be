import { partsOf, SETTLEMENT_MAKERS_MAX, type Settlement } from '../../../src/exchange/settlement';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createDueMatches } from '../../../src/extensions/archive/store/due-matches';
import { createForgetting } from '../../../src/extensions/archive/store/forgetting';
import type { LeavingMatches } from '../../../src/extensions/archive/store/leaving';
import { createCandleWriter } from '../../../src/store/candles/writer';
import { decodeFills, type Fill } from '../../../src/store/records/order';
import type { MatchRef } from '../../../src/store/records/settlement';
import type { Keys } from '../../../src/store/redis/keys';
import type { RedisClient, RunScript } from '../../../src/store/redis/scripts';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';

export interface LeavingStore {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
}
/** A match in Redis. */
export interface Met {
  readonly ref: MatchRef;
  readonly fills: readonly Fill[];
}

/** A later match than any. */
const END = { tradeMs: Number.MAX_SAFE_INTEGER, sequence: 0 };
/** No match is too young to be looked at. */
const NOW = { graceMs: 0, patienceMs: 0, most: 1_000 };

/** Settles and counts matches, so that they may leave, and chooses those that may. */
export function createLeavingWorld(store: LeavingStore, archive: Archive, now: () => number, keepMs: number) {
  const { redis, keys } = store;
  const settlements = createSettlements(store);
  const matches = createMatches({ ...store, settlements });
  const candles = createCandleWriter(store);
  const forgetting = createForgetting({ ...store, archive, keepMs });

  async function met(marketId: string): Promise<Met[]> {
    const entries = await redis.xrangeBuffer(keys.trades(marketId), '-', '+');
    return entries.map(([id, fields]) => {
      const [tradeMs = 0, sequence = 0] = id.toString().split('-').map(Number);
      return {
        ref: { marketId, tradeMs, sequence },
        fills: decodeFills(tradeMs, sequence, fields[1] as Buffer),
      };
    });
  }

  /** Records the settlements of these matches, or of all, under a status, and moves the mark on. */
  async function settle(marketId: string, only?: readonly Met[]): Promise<void> {
    const list = (only ?? (await met(marketId))).flatMap(settlementsOf);
    await settlements.record(list, 'CONFIRMED');
    await mark(marketId);
  }
  const mark = (marketId: string) => matches.unsettled(marketId, { ...NOW, nowMs: now() });

  async function count(marketId: string): Promise<void> {
    while (await candles.extend(marketId));
  }

  /** Those that may leave, by the rules that the worker follows. */
  async function due(...marketIds: readonly string[]): Promise<readonly LeavingMatches[]> {
    const chosen = createDueMatches({ redis, keys, now, keepMs });
    for (const id of marketIds) chosen.note(id, END);
    return (await chosen.next()).markets;
  }

  return { settlements, forgetting, met, settle, mark, count, due };
}

/** The settlements of a match; no test looks at their amounts. */
export function settlementsOf({ ref, fills }: Met): { ref: MatchRef; settlement: Settlement }[] {
  const parts = partsOf(fills.length);
  const most = SETTLEMENT_MAKERS_MAX.paper;
  return Array.from({ length: parts }, (_, part) => {
    const own = fills.slice(part * most, (part + 1) * most);
    const zeros = own.map(() => 0n);
    return {
      ref,
      settlement: {
        part,
        takerHash: own[0]?.takerHash ?? '',
        makerHashes: own.map(({ makerHash }) => makerHash),
        takerFillAmount: 0n,
        refundAmount: 0n,
        takerFeeAmount: 0n,
        makerFillAmounts: zeros,
        makerFeeAmounts: zeros,
        matchTypes: own.map(({ matchType }) => matchType),
      },
    };
  });
}
