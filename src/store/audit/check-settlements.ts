import type { MarketId } from '../../exchange/market';
import type { ChainScale } from '../../exchange/order';
import { partsOf, type Settlement, settlementsOf } from '../../exchange/settlement';
import type { FundsMark } from '../health/funds';
import {
  decodeSettlement,
  type SettlementKey,
  type SettlementRecord,
  settlementId,
  settlementNames,
} from '../records/settlement';
import { isBefore, NO_ENTRY } from '../redis/entry-id';
import { readFields } from '../redis/fields';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Match } from './check-matches';
import type { Findings } from './report';
import type { Snapshot } from './snapshot';

interface SettlementChecksOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly snapshot: Snapshot;
  readonly findings: Findings;
  readonly scale: ChainScale;
  /** Younger matches may not have their records yet. */
  readonly youngerMs: number;
  readonly feeRateOf: (id: MarketId) => number | null;
  /** Null with paper funds. */
  readonly funds: FundsMark | null;
  /** The entry id of the market's matches up to which every settlement was final once. */
  readonly settledUpTo: ReadonlyMap<MarketId, string>;
}

export interface SettlementChecks {
  namesOf(match: Match): Buffer[];
  /** Null for a missing record. */
  records(names: readonly Buffer[]): Promise<(Buffer | null)[]>;
  /** The `records` of the match, part by part. */
  check(match: Match, isSound: boolean, records: readonly (Buffer | null)[]): void;
}

/** Checks that every match has its records, and that they agree with the match. */
export function createSettlementChecks(options: SettlementChecksOptions): SettlementChecks {
  const { redis, keys, snapshot, findings, scale, youngerMs, feeRateOf, settledUpTo } = options;
  const funds = options.funds === null ? 'paper' : 'chain';

  const namesOf = (match: Match): Buffer[] =>
    settlementNames(
      { marketId: match.marketId, sequence: match.place.sequence },
      Math.max(1, partsOf(match.fills.length, funds)),
    );

  const records = (names: readonly Buffer[]): Promise<(Buffer | null)[]> =>
    readFields(redis, keys.settlements, names);

  function check(match: Match, isSound: boolean, records: readonly (Buffer | null)[]): void {
    const { marketId, place } = match;
    const wanted = isSound ? expectedOf(match) : null;
    for (const [part, packed] of records.entries()) {
      const key = { marketId, sequence: place.sequence, part };
      const at = { marketId, sequence: place.sequence, settlementId: settlementId(key) };
      if (!packed) {
        const mayCome = place.tradeMs > youngerMs && !isPassed(match, settledUpTo.get(marketId));
        if (!mayCome) {
          findings.add({ kind: 'SETTLEMENT_MISSING', ...at, detail: 'a match has no settlement record' });
        }
        continue;
      }
      const problem = settlementProblem(key, packed, place.tradeMs, wanted?.[part]);
      if (problem) findings.add({ kind: 'SETTLEMENT_RECORD', ...at, detail: problem });
    }
  }

  function expectedOf({ marketId, fills }: Match): Settlement[] | null {
    const taker = snapshot.orders.get(fills[0]?.takerHash ?? '');
    const feeRateBps = feeRateOf(marketId);
    if (!taker || feeRateBps === null) return null;
    const met = fills.map((fill) => ({ ...fill, maker: snapshot.orders.get(fill.makerHash) ?? taker }));
    const isBudget = taker.orderType === 'MARKET' && taker.side === 0;
    return settlementsOf({ taker, isBudget, fills: met, feeRateBps }, scale, funds);
  }

  return { namesOf, records, check };
}

/** Up to the mark, including it. */
const isPassed = ({ place: { tradeMs, sequence } }: Match, mark = NO_ENTRY): boolean =>
  !isBefore(mark, `${tradeMs}-${sequence}`);

function readRecord(key: SettlementKey, packed: Buffer): SettlementRecord | Error {
  try {
    return decodeSettlement(key, packed);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Says why a record is not that of its match; null when it is. */
export function settlementProblem(
  key: SettlementKey,
  packed: Buffer,
  tradeMs: number,
  wanted: Settlement | undefined,
): string | null {
  const record = readRecord(key, packed);
  if (record instanceof Error) return `the record cannot be read: ${record.message}`;
  const { settlement, settlementStatus } = record;
  if (record.tradeMs !== tradeMs) return `the record is of another time than its match`;
  if (!settlement) return settlementStatus === 'CONFIRMED' ? 'a CONFIRMED record holds nothing' : null;
  if (!wanted || factsOf(settlement) === factsOf(wanted)) return null;
  return 'the record does not say what the match was';
}

const factsOf = (settlement: Settlement): string =>
  [
    [settlement.takerHash, settlement.takerFillAmount, settlement.refundAmount, settlement.takerFeeAmount],
    [settlement.makerHashes, settlement.makerFillAmounts, settlement.matchTypes, settlement.makerFeeAmounts],
  ].join();
