import type { OrderType } from 'ctf-exchange-client';
import { PIPS_ONE } from './units';

/** The effect of an order on the present book. Prices are those of the traded outcome. */
export interface Level {
  readonly pips: number;
  readonly lots: number;
}

export interface Walk {
  readonly filledLots: number;
  readonly costMicro: number;
  /** The last price reached; null when nothing fills. */
  readonly worstPips: number | null;
  /** What fills at each level. */
  readonly taken: readonly Level[];
}

const NOTHING: Walk = { filledLots: 0, costMicro: 0, worstPips: null, taken: [] };

/** Meets the levels, best first, while they are acceptable and `lotsAt` returns some lots. */
function meet(
  levels: readonly Level[],
  acceptable: (pips: number) => boolean,
  lotsAt: (pips: number, walked: Walk) => number,
): Walk {
  let walked = NOTHING;
  for (const { pips, lots } of levels) {
    const takenLots = acceptable(pips) ? Math.min(lots, lotsAt(pips, walked)) : 0;
    if (takenLots <= 0) break;
    walked = {
      filledLots: walked.filledLots + takenLots,
      costMicro: walked.costMicro + takenLots * pips,
      worstPips: pips,
      taken: [...walked.taken, { pips, lots: takenLots }],
    };
  }
  return walked;
}

export const walk = (
  levels: readonly Level[],
  wantedLots: number,
  acceptable: (pips: number) => boolean,
): Walk => meet(levels, acceptable, (_pips, { filledLots }) => wantedLots - filledLots);

/** Meets levels until the money is spent; the last lot is the largest that it still buys. */
export const spend = (
  levels: readonly Level[],
  budgetMicro: number,
  acceptable: (pips: number) => boolean,
): Walk => meet(levels, acceptable, (pips, { costMicro }) => Math.floor((budgetMicro - costMicro) / pips));

export interface Draft {
  readonly side: 'BUY' | 'SELL';
  readonly orderType: OrderType;
  readonly pips: number;
  readonly lots: number;
  readonly feeRateBps: number;
}

export interface Preview {
  readonly filledLots: number;
  readonly restingLots: number;
  /** Average price of the immediate fills, in millionths; null when there is none. */
  readonly averageMicro: number | null;
  /** The price of the last immediate fill; null when there is none. */
  readonly worstPips: number | null;
  /** Whether the book has an order within the limit. */
  readonly wouldTrade: boolean;
  /** A BUY: the payment, at the book's prices for the immediate fills, at the limit for the rest. */
  readonly costMicro: number;
  /** A BUY: the payout if the outcome wins. A SELL: the proceeds. After fees. */
  readonly payoutMicro: number;
  readonly feeMicro: number;
}

/** Whether an order of each type trades when it meets lots, and whether its rest stays in the book. */
const BEHAVIOUR: Readonly<Record<OrderType, { readonly trades: boolean; readonly rests: boolean }>> = {
  GTC: { trades: true, rests: true },
  IOC: { trades: true, rests: false },
  FOK: { trades: true, rests: false },
  POST_ONLY: { trades: false, rests: true },
  MARKET: { trades: true, rests: false },
};

/** `levels` is the side of the book that the order would meet, best first. */
export function preview(levels: readonly Level[], draft: Draft): Preview {
  const { side, orderType, pips, lots } = draft;
  const isBuy = side === 'BUY';
  const met = walk(levels, lots, (price) => (isBuy ? price <= pips : price >= pips));
  const { trades, rests } = BEHAVIOUR[orderType];
  const now = trades ? met : NOTHING;
  return resultOf(now, rests ? lots - now.filledLots : 0, met.filledLots > 0, draft);
}

/** The preview of a market order that spends an amount. */
export const previewSpending = (met: Walk, draft: Draft): Preview =>
  resultOf(met, 0, met.filledLots > 0, draft);

function resultOf(now: Walk, restingLots: number, wouldTrade: boolean, draft: Draft): Preview {
  const { side, pips } = draft;
  const costMicro = now.costMicro + restingLots * pips;
  const heldLots = now.filledLots + restingLots;
  const fills = [...now.taken, { pips, lots: restingLots }];
  const feeMicro = fills.reduce((sum, fill) => sum + feeOf(fill, draft), 0);
  return {
    filledLots: now.filledLots,
    restingLots,
    wouldTrade,
    worstPips: now.worstPips,
    averageMicro: now.filledLots === 0 ? null : Math.round((now.costMicro * 100) / now.filledLots),
    costMicro,
    payoutMicro: (side === 'BUY' ? heldLots * PIPS_ONE : costMicro) - feeMicro,
    feeMicro,
  };
}

/**
 * The fee of a fill, as the exchange computes it: bps of the cheaper outcome's price; a seller pays in money, a buyer in shares.
 * A level may have several orders, whose fees are rounded down one by one.
 */
function feeOf({ pips, lots }: Level, { side, feeRateBps }: Draft): number {
  if (feeRateBps === 0 || lots === 0) return 0;
  const collateralMicro = (feeRateBps * Math.min(pips, PIPS_ONE - pips) * lots) / PIPS_ONE;
  return Math.floor(side === 'SELL' || pips === 0 ? collateralMicro : (collateralMicro * PIPS_ONE) / pips);
}
