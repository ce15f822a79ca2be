import type { SignedOrder } from '../../src/exchange/order';
import { feeOfFill } from './fee';

/**
 * The CTF exchange as arithmetic: `matchOrders` step by step, with its reverts, over balances in chain units.
 * Source: Polymarket/ctf-exchange, src/exchange/mixins/Trading.sol. It ignores signatures, nonces and expiry, and fees are those
 * of this exchange: of each fill, from the amounts exchanged in it.
 */
const ONE = 10n ** 18n;
const FEE_RATE_MAX = 1_000n;
const COLLATERAL = 0n;
const EXCHANGE = 'exchange';
export const OPERATOR = 'operator';

export class Revert extends Error {}

export interface MatchOrders {
  readonly takerOrder: SignedOrder;
  readonly makerOrders: readonly SignedOrder[];
  readonly takerFillAmount: bigint;
  readonly makerFillAmounts: readonly bigint[];
}

/** The amounts that one call moved besides the exchange between the orders. */
export interface Matched {
  readonly refund: bigint;
  readonly takerFee: bigint;
  readonly makerFees: readonly bigint[];
}

const takingAmount = (making: bigint, order: SignedOrder): bigint =>
  (making * order.takerAmount) / order.makerAmount;

function price(making: bigint, taking: bigint, side: number): bigint {
  if (side === 0) return taking === 0n ? 0n : (making * ONE) / taking;
  return making === 0n ? 0n : (taking * ONE) / making;
}

function isCrossing(a: SignedOrder, b: SignedOrder): boolean {
  if (a.takerAmount === 0n || b.takerAmount === 0n) return true;
  const [pa, pb] = [a, b].map((o) => price(o.makerAmount, o.takerAmount, o.side)) as [bigint, bigint];
  if (a.side === 0) return b.side === 0 ? pa + pb >= ONE : pa >= pb;
  return b.side === 0 ? pb >= pa : pa + pb <= ONE;
}

/** A fresh contract for one condition, whose two tokens are `tokens`. */
export function createContract(tokens: readonly [bigint, bigint]) {
  const balances = new Map<string, bigint>();
  const left = new Map<SignedOrder, { remaining: bigint; done: boolean }>();
  const key = (who: string, asset: bigint): string => `${who}/${asset}`;
  const balance = (who: string, asset: bigint): bigint => balances.get(key(who, asset)) ?? 0n;
  const add = (who: string, asset: bigint, amount: bigint): void => {
    const next = balance(who, asset) + amount;
    if (next < 0n) throw new Revert(`TransferFailed: ${who} has too little of ${asset}`);
    balances.set(key(who, asset), next);
  };
  function transfer(from: string, to: string, asset: bigint, amount: bigint): void {
    if (amount < 0n) throw new Revert('arithmetic underflow');
    add(from, asset, -amount);
    add(to, asset, amount);
  }
  const assets = (order: SignedOrder): [bigint, bigint] =>
    order.side === 0 ? [COLLATERAL, order.tokenId] : [order.tokenId, COLLATERAL];

  function performChecks(order: SignedOrder, making: bigint): bigint {
    if (order.feeRateBps > FEE_RATE_MAX) throw new Revert('FeeTooHigh');
    const status = left.get(order) ?? { remaining: 0n, done: false };
    if (status.done) throw new Revert('OrderFilledOrCancelled');
    const remaining = status.remaining === 0n ? order.makerAmount : status.remaining;
    if (making > remaining) throw new Revert('MakingGtRemaining');
    left.set(order, { remaining: remaining - making, done: remaining === making });
    return takingAmount(making, order);
  }

  /** Returns the fee of the taker and that of the maker. */
  function fillMaker(
    taker: SignedOrder,
    maker: SignedOrder,
    making: bigint,
  ): readonly [taker: bigint, maker: bigint] {
    if (!isCrossing(taker, maker)) throw new Revert('NotCrossing');
    const isAlike = taker.side === maker.side;
    if (isAlike === (taker.tokenId === maker.tokenId)) throw new Revert('MismatchedTokenIds');
    const taking = performChecks(maker, making);
    const [collateral, outcomes] = maker.side === 0 ? [making, taking] : [taking, making];
    const takers = isAlike ? outcomes - collateral : collateral;
    const fee = feeOfFill(maker.feeRateBps, maker.side, collateral, outcomes);
    const [gives, gets] = assets(maker);
    transfer(maker.maker, EXCHANGE, gives, making);
    if (isAlike) convert(maker.side === 0 ? taking : -making);
    if (balance(EXCHANGE, gets) < taking) throw new Revert('TooLittleTokensReceived');
    transfer(EXCHANGE, maker.maker, gets, taking - fee);
    transfer(EXCHANGE, OPERATOR, gets, fee);
    return [feeOfFill(taker.feeRateBps, taker.side, takers, outcomes), fee];
  }

  /** Splits (positive) or merges the exchange's own tokens. */
  function convert(sets: bigint): void {
    add(EXCHANGE, COLLATERAL, -sets);
    for (const token of tokens) add(EXCHANGE, token, sets);
  }

  return {
    balance,
    give: add,
    /** The rest of its maker amount; null before its first fill, 0 when it is filled. */
    remaining: (order: SignedOrder): bigint | null => left.get(order)?.remaining ?? null,
    /** The balance of the contract itself, which must be zero between two calls. */
    kept: (): bigint[] => [COLLATERAL, ...tokens].map((asset) => balance(EXCHANGE, asset)),
    /** Throws Revert; balances are then half moved, which a chain would undo. */
    matchOrders({ takerOrder, makerOrders, takerFillAmount, makerFillAmounts }: MatchOrders): Matched {
      const making = takerFillAmount;
      const least = performChecks(takerOrder, making);
      const [gives, gets] = assets(takerOrder);
      transfer(takerOrder.maker, EXCHANGE, gives, making);
      const fees = makerOrders.map((maker, i) => fillMaker(takerOrder, maker, makerFillAmounts[i] ?? 0n));
      const taking = balance(EXCHANGE, gets);
      if (taking < least) throw new Revert('TooLittleTokensReceived');
      const takerFee = fees.reduce((sum, [fee]) => sum + fee, 0n);
      transfer(EXCHANGE, takerOrder.maker, gets, taking - takerFee);
      transfer(EXCHANGE, OPERATOR, gets, takerFee);
      const refund = balance(EXCHANGE, gives);
      transfer(EXCHANGE, takerOrder.maker, gives, refund);
      return { refund, takerFee, makerFees: fees.map(([, fee]) => fee) };
    },
  };
}
