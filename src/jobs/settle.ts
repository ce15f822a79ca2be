import type { MarketTerms } from '../exchange/market';
import type { ChainScale, SignedOrder } from '../exchange/order';
import { partsOf, SETTLEMENT_MAKERS_MAX, type Settlement, settlementsOf } from '../exchange/settlement';
import { type MatchRef, settlementId } from '../store/records/settlement';
import { signedOf } from '../store/records/signed-order';
import { BrokenMatch, type Matches, NoSuchMatch, type StoredMatch } from '../store/settlement/matches';
import type { Settlements } from '../store/settlement/settlements';

/** One call of the exchange contract. */
export interface ChainCall {
  /** The same id for every attempt to send this settlement. */
  readonly id: string;
  readonly takerOrder: SignedOrder;
  readonly makerOrders: readonly SignedOrder[];
  readonly takerFillAmount: bigint;
  readonly makerFillAmounts: readonly bigint[];
}

/**
 * Sends one settlement and resolves with the transaction's hash once it is final; rejects when the caller should try again.
 * It may be called twice with the same id, when the first caller died; it must not send again while the first transaction
 * may still succeed. Funds on a chain are not built yet, so only tests pass a sender.
 */
export type SendToChain = (call: ChainCall) => Promise<string>;

export interface Failure {
  readonly ref: MatchRef;
  readonly error: Error;
  /** The parts of the match that failed. */
  readonly parts: readonly number[];
  /** The failed attempt at sending; null when no attempt was made. */
  readonly attempt: number | null;
}

interface SettleOptions {
  readonly matches: Matches;
  readonly settlements: Settlements;
  readonly termsOf: (marketId: string) => Promise<MarketTerms>;
  readonly scale: ChainScale;
  /** Absent with paper funds: a settlement is then complete when its record is written. */
  readonly send?: SendToChain | undefined;
}

interface Built {
  readonly match: StoredMatch;
  readonly terms: MarketTerms;
  readonly settlement: Settlement;
}

/** If the sender of a settlement died, another one may send it after this time. */
const SEND_HOLD_MS = 90_000;

/**
 * Settles matches; repeated calls settle each match once. Resolves with the matches that could not be settled; rejects
 * when the store did not respond.
 */
export function createSettle({ matches, settlements, termsOf, scale, send }: SettleOptions) {
  return async (refs: readonly MatchRef[]): Promise<Failure[]> => {
    const failures: Failure[] = [];
    const built: Built[] = [];
    const loaded = await matches.load(refs);
    for (const [i, ref] of refs.entries()) {
      const match = loaded[i] ?? new NoSuchMatch();
      try {
        if (match instanceof Error) throw match;
        built.push(...build(match, await termsOf(ref.marketId), scale));
      } catch (error) {
        failures.push({ ref, error: asError(error), parts: partsIn(match), attempt: null });
      }
    }
    const records = built.map(({ match, settlement }) => ({ ref: match.ref, settlement }));
    await settlements.record(records, send ? 'MATCHED' : 'CONFIRMED');
    if (send) {
      for (const one of built) {
        const failure = await sendOne(one, send);
        if (failure) failures.push(failure);
      }
    }
    return failures;
  };

  async function sendOne({ match, terms, settlement }: Built, submit: SendToChain): Promise<Failure | null> {
    const key = { ...match.ref, part: settlement.part };
    const attempt = await settlements.move(key, 'SUBMITTED', { holdMs: SEND_HOLD_MS });
    if (attempt === null) return null;
    let transactionHash: string;
    try {
      const from = settlement.part * SETTLEMENT_MAKERS_MAX;
      const fills = match.fills.slice(from, from + SETTLEMENT_MAKERS_MAX);
      transactionHash = await submit({
        id: settlementId(key),
        takerOrder: signedOf(match.taker, terms),
        makerOrders: fills.map(({ maker }) => signedOf(maker, terms)),
        takerFillAmount: settlement.takerFillAmount,
        makerFillAmounts: settlement.makerFillAmounts,
      });
    } catch (error) {
      return { ref: match.ref, error: asError(error), parts: [settlement.part], attempt };
    }
    await settlements.move(key, 'CONFIRMED', { transactionHash });
    return null;
  }
}

function build(match: StoredMatch, terms: MarketTerms, scale: ChainScale): Built[] {
  const { taker, fills } = match;
  const isBudget = taker.orderType === 'MARKET' && taker.side === 0;
  const records = settlementsOf({ taker, isBudget, fills, feeRateBps: terms.feeRateBps }, scale);
  return records.map((settlement) => ({ match, terms, settlement }));
}

function partsIn(match: StoredMatch | Error): number[] {
  const known = match instanceof BrokenMatch ? match : match instanceof Error ? null : match;
  return Array.from({ length: Math.max(1, partsOf(known?.fills.length ?? 0)) }, (_, part) => part);
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
