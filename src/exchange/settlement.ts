import type { Funds } from './chain';
import type { MatchType, Side } from './match';
import type { ChainScale } from './order';
import type { Lots, Pips } from './units';

/**
 * A match in the form of the exchange contract: `matchOrders(takerOrder, makerOrders, takerFillAmount, makerFillAmounts)`
 * of the CTF exchange (ctf-exchange, mixins/Trading.sol `_matchOrders`). Amounts are in chain units and, as there, in the
 * asset that each order gives: collateral for a BUY, tokens for a SELL.
 */

/**
 * Maximum makers of one record; the scripts count records by the same number. On a chain each fill is a record of its
 * own: a maker at fault fails its own fill and no other, and no match can need more gas than a transaction may have.
 */
export const SETTLEMENT_MAKERS_MAX = { paper: 50, chain: 1 } as const satisfies Readonly<
  Record<Funds, number>
>;

/** The fields of an order on which its settlement depends. */
export interface MatchedOrder {
  readonly orderHash: string;
  readonly side: Side;
  /** The limit, in the order's own token. */
  readonly pricePips: Pips;
}

export interface MatchedFill {
  readonly maker: MatchedOrder;
  /** The amount that the taker paid or received, in its own token. */
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly matchType: MatchType;
}

export interface Match {
  readonly taker: MatchedOrder;
  /** A MARKET BUY has a budget; every other order has a size. */
  readonly isBudget: boolean;
  /** In the order in which the makers were met. */
  readonly fills: readonly MatchedFill[];
  /** The fee rate of every order of the match. */
  readonly feeRateBps: number;
}

/** One call of `matchOrders`. */
export interface Settlement {
  /** The number of the record among the records of its match. */
  readonly part: number;
  readonly takerHash: string;
  readonly makerHashes: readonly string[];
  readonly takerFillAmount: bigint;
  readonly makerFillAmounts: readonly bigint[];
  readonly matchTypes: readonly MatchType[];
  /** The part of the taker's amount that the contract returns. */
  readonly refundAmount: bigint;
  /** The sum of the fees of its fills, in tokens for a BUY, in collateral for a SELL. */
  readonly takerFeeAmount: bigint;
  readonly makerFeeAmounts: readonly bigint[];
}

/** The record of a match that settles a fill, by the fill's index. */
export const partOf = (fillIndex: number, funds: Funds = 'paper'): number =>
  Math.floor(fillIndex / SETTLEMENT_MAKERS_MAX[funds]);
/** The number of records that settle a match with this many fills. */
export const partsOf = (fills: number, funds: Funds = 'paper'): number =>
  Math.ceil(fills / SETTLEMENT_MAKERS_MAX[funds]);

/**
 * Returns the records of one match. Each is valid without the others: every amount is a whole multiple of the amount that
 * its order signed, so the chain truncates nothing, and no part needs the surplus of another. Makers are never MARKET
 * orders (those do not rest), so their limits are exact.
 */
export function settlementsOf(match: Match, scale: ChainScale, funds: Funds = 'paper'): Settlement[] {
  const most = SETTLEMENT_MAKERS_MAX[funds];
  return Array.from({ length: partsOf(match.fills.length, funds) }, (_, part) =>
    settlementOf(part, match, match.fills.slice(part * most, (part + 1) * most), scale),
  );
}

function settlementOf(
  part: number,
  { taker, isBudget, feeRateBps }: Match,
  fills: readonly MatchedFill[],
  scale: ChainScale,
): Settlement {
  let filledLots = 0n;
  let value = 0n;
  let takerFeeAmount = 0n;
  for (const { sizeLots, pricePips } of fills) {
    filledLots += BigInt(sizeLots);
    value += BigInt(sizeLots) * BigInt(pricePips);
    takerFeeAmount += feeAmount(feeRateBps, taker.side, pricePips, sizeLots, scale);
  }
  const tokens = filledLots * scale.lotAmount;
  const collateral = value * scale.microAmount;
  const atLimit = filledLots * BigInt(taker.pricePips) * scale.microAmount;
  // At the order's limit, so that as much of the order is left on chain as here; the contract returns the difference.
  const given = taker.side === 1 ? tokens : isBudget ? collateral : atLimit;
  return {
    part,
    takerHash: taker.orderHash,
    makerHashes: fills.map(({ maker }) => maker.orderHash),
    takerFillAmount: given,
    makerFillAmounts: fills.map(({ maker, sizeLots }) => gives(maker, sizeLots, scale)),
    matchTypes: fills.map(({ matchType }) => matchType),
    refundAmount: taker.side === 0 ? given - collateral : 0n,
    takerFeeAmount,
    makerFeeAmounts: fills.map(({ maker, sizeLots }) =>
      feeAmount(feeRateBps, maker.side, maker.pricePips, sizeLots, scale),
    ),
  };
}

/** The amount that an order pays for `sizeLots` at its own limit. */
const gives = ({ side, pricePips }: MatchedOrder, sizeLots: Lots, scale: ChainScale): bigint =>
  side === 1 ? BigInt(sizeLots) * scale.lotAmount : BigInt(sizeLots) * BigInt(pricePips) * scale.microAmount;

const BPS_ONE = 10_000n;
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/**
 * The fee of an order for one fill, computed from what it exchanged in that fill and never from its limit: bps of the smaller
 * of the collateral and the difference between the tokens and the collateral. A SELL pays it in collateral, a BUY in tokens
 * at the price of the fill. It is rounded down. lua/lib/fee.lua and contracts/MarketExchange.sol compute the same.
 */
function feeAmount(
  feeRateBps: number,
  side: Side,
  pricePips: Pips,
  sizeLots: Lots,
  scale: ChainScale,
): bigint {
  const tokens = BigInt(sizeLots) * scale.lotAmount;
  const collateral = BigInt(sizeLots) * BigInt(pricePips) * scale.microAmount;
  const charged = BigInt(feeRateBps) * min(collateral, tokens - collateral);
  return side === 1 ? charged / BPS_ONE : (charged * tokens) / (BPS_ONE * collateral);
}
