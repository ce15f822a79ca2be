import type { Funds } from '../exchange/chain';
import type { MarketTerms } from '../exchange/market';
import type { ChainScale } from '../exchange/order';
import { partsOf, type Settlement, settlementsOf } from '../exchange/settlement';
import type { MatchRef } from '../store/records/settlement';
import { BrokenMatch, type Matches, NoSuchMatch, type StoredMatch } from '../store/settlement/matches';
import type { Settlements } from '../store/settlement/settlements';

export interface Failure {
  readonly ref: MatchRef;
  readonly error: Error;
  /** The parts of the match that failed. */
  readonly parts: readonly number[];
}

interface SettleOptions {
  readonly matches: Matches;
  readonly settlements: Settlements;
  readonly termsOf: (marketId: string) => Promise<MarketTerms>;
  readonly scale: ChainScale;
  /** With paper funds a settlement is complete when its record is written; on a chain the operator sends it (src/extensions/chain/jobs). */
  readonly funds?: Funds;
}

/**
 * Writes the records of matches; repeated calls write each once. Resolves with the matches that have none; rejects
 * when the store did not respond.
 */
export function createSettle({ matches, settlements, termsOf, scale, funds = 'paper' }: SettleOptions) {
  return async (refs: readonly MatchRef[]): Promise<Failure[]> => {
    const failures: Failure[] = [];
    const records: { ref: MatchRef; settlement: Settlement }[] = [];
    const loaded = await matches.load(refs);
    for (const [i, ref] of refs.entries()) {
      const match = loaded[i] ?? new NoSuchMatch();
      try {
        if (match instanceof Error) throw match;
        const built = build(match, await termsOf(ref.marketId), scale, funds);
        records.push(...built.map((settlement) => ({ ref, settlement })));
      } catch (error) {
        failures.push({ ref, error: asError(error), parts: partsIn(match, funds) });
      }
    }
    await settlements.record(records, funds === 'chain' ? 'MATCHED' : 'CONFIRMED');
    return failures;
  };
}

function build(
  { taker, fills }: StoredMatch,
  terms: MarketTerms,
  scale: ChainScale,
  funds: Funds,
): Settlement[] {
  const isBudget = taker.orderType === 'MARKET' && taker.side === 0;
  return settlementsOf({ taker, isBudget, fills, feeRateBps: terms.feeRateBps }, scale, funds);
}

function partsIn(match: StoredMatch | Error, funds: Funds): number[] {
  const known = match instanceof BrokenMatch ? match : match instanceof Error ? null : match;
  return Array.from({ length: Math.max(1, partsOf(known?.fills.length ?? 0, funds)) }, (_, part) => part);
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
