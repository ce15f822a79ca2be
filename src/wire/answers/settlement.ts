import type { Funds } from '../../exchange/chain';
import { type SettlementState, settlementOf } from '../../exchange/facts';
import type { MarketTerms } from '../../exchange/market';
import type { SignedOrder } from '../../exchange/order';
import { SETTLEMENT_MAKERS_MAX, type Settlement } from '../../exchange/settlement';
import { iso } from '../prices';
import { presentSigned } from './order';

export interface SettlementFacts extends SettlementState {
  readonly id: string;
  /** The sequence of the match. */
  readonly sequence: number;
  readonly part: number;
  readonly attempts: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Null while it could not be built. */
  readonly settlement: Settlement | null;
  /** The orders as signed; addresses checksummed. */
  readonly takerOrder: SignedOrder | null;
  readonly makerOrders: readonly SignedOrder[];
}

/** A settlement in the form of `matchOrders` of the exchange contract, and its progress. */
export function presentSettlement(facts: SettlementFacts, terms: MarketTerms, funds: Funds) {
  const { settlement, sequence, part } = facts;
  const { settlementStatus: status, ...progress } = settlementOf(facts);
  const makers = settlement?.makerHashes ?? [];
  const first = part * SETTLEMENT_MAKERS_MAX[funds];
  return {
    id: facts.id,
    marketId: terms.id,
    conditionId: terms.conditionId,
    sequence,
    status,
    takerOrderHash: settlement?.takerHash ?? null,
    makerOrderHashes: makers,
    takerOrder: facts.takerOrder && presentSigned(facts.takerOrder),
    makerOrders: facts.makerOrders.map(presentSigned),
    takerFillAmount: (settlement?.takerFillAmount ?? 0n).toString(),
    makerFillAmounts: settlement?.makerFillAmounts.map(String) ?? [],
    matchTypes: settlement?.matchTypes ?? [],
    refundAmount: (settlement?.refundAmount ?? 0n).toString(),
    tradeIds: makers.map((_, i) => `${terms.id}-${sequence}-${first + i}`),
    attempts: facts.attempts,
    ...progress,
    createdAt: iso(facts.createdAtMs),
    updatedAt: iso(facts.updatedAtMs),
  };
}
