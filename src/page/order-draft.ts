import type { Balances, BookSides, Market, NewOrder, OrderType, OutcomeIndex } from 'ctf-exchange-client';
import { type Level, type Preview, preview, walk } from './preview';
import {
  cents,
  LOTS_MAX,
  lotsOf,
  lotsTyped,
  MICRO_ONE,
  microOf,
  PIPS_ONE,
  pipsOf,
  pipsTyped,
  priceOf,
  sizeOf,
} from './units';
import { type Refused, wordsOf } from './words';

/** The content of the ticket. */
export interface Inputs {
  readonly side: 'BUY' | 'SELL';
  readonly outcome: OutcomeIndex;
  readonly orderType: OrderType;
  /** Cents as typed; empty is "as the book stands" for a MARKET order. */
  readonly price: string;
  readonly shares: string;
}

/** The resting orders that the order would meet. */
export interface Standing {
  readonly market: Pick<Market, 'tickSize' | 'lotSize' | 'minOrderSize' | 'feeRateBps' | 'status'>;
  /** Of the outcome traded; null while the book is not known to be right. */
  readonly book: BookSides | null;
  /** Null without a session, or until it is known. */
  readonly free: { readonly cashMicro: number; readonly lots: number } | null;
}

/** How far beyond the last level reached a MARKET order without a price may go: 3¢. */
const SLIPPAGE_PIPS = 300;

export const levelsOf = (side: BookSides['bids']): Level[] =>
  side.map(({ price, size }) => ({ pips: pipsOf(price), lots: lotsOf(size) }));

/** The side of the book a taker of this side meets. */
export function facing(book: BookSides | null, side: 'BUY' | 'SELL'): Level[] {
  if (!book) return [];
  return levelsOf(side === 'BUY' ? book.asks : book.bids);
}

/** The most of an outcome that can be sold, and the money that is free. */
export function freeOf(balances: Balances | null, marketId: string, outcome: OutcomeIndex): Standing['free'] {
  if (!balances) return null;
  const held = balances.tokens.find((token) => token.marketId === marketId && token.outcomeIndex === outcome);
  return {
    cashMicro: microOf(balances.collateral.available),
    lots: Math.floor(microOf(held?.available ?? '0') / PIPS_ONE),
  };
}

/** The limit of the order in pips: typed, or for a MARKET order what the book needs and a little more. */
function limitOf(inputs: Inputs, lots: number | null, { book, market }: Standing): number | null {
  if (inputs.price.trim() !== '' || inputs.orderType !== 'MARKET') return pipsTyped(inputs.price);
  const levels = facing(book, inputs.side);
  const { worstPips } = walk(levels, lots ?? 1, () => true);
  if (worstPips === null) return null;
  const tick = pipsOf(market.tickSize);
  return inputs.side === 'BUY'
    ? Math.min(worstPips + SLIPPAGE_PIPS, PIPS_ONE - tick)
    : Math.max(worstPips - SLIPPAGE_PIPS, tick);
}

export interface Estimate {
  readonly limitPips: number;
  readonly lots: number;
  readonly preview: Preview;
}

/** The summary that the ticket shows beside the fields; null until they are complete. */
export function estimate(inputs: Inputs, standing: Standing): Estimate | null {
  const lots = lotsTyped(inputs.shares);
  const limitPips = limitOf(inputs, lots, standing);
  if (lots === null || lots === 0 || lots > LOTS_MAX) return null;
  if (limitPips === null || limitPips <= 0 || limitPips >= PIPS_ONE) return null;
  const { side, orderType } = inputs;
  const draft = { side, orderType, pips: limitPips, lots, feeRateBps: standing.market.feeRateBps };
  return { limitPips, lots, preview: preview(facing(standing.book, side), draft) };
}

export type Judgement = { readonly refused: Refused } | { readonly order: NewOrder };

/**
 * Mistakes that the exchange would certainly refuse are shown before a wallet signs; the exchange judges everything
 * else.
 */
export function judge(inputs: Inputs, standing: Standing): Judgement {
  const wrong = wrongPrice(inputs, standing) ?? wrongShares(inputs, standing);
  if (wrong) return { refused: wrong };
  const found = estimate(inputs, standing);
  if (!found) {
    const who = inputs.side === 'BUY' ? 'offers shares' : 'bids';
    return refusedAs('form', `Nobody ${who} right now. Place a limit order instead.`);
  }
  return unfit(inputs, standing, found) ?? { order: orderOf(inputs, found) };
}

const refusedAs = (field: Refused['field'], text: string): { readonly refused: Refused } => ({
  refused: { field, text },
});

function wrongPrice({ price, orderType }: Inputs, { market }: Standing): Refused | null {
  const isMarket = orderType === 'MARKET';
  if (price.trim() === '') {
    return isMarket ? null : { field: 'price', text: 'Enter a price in cents, for example 62.' };
  }
  const pips = pipsTyped(price);
  if (pips === null) return { field: 'price', text: 'A price is a number of cents, for example 62 or 62.5.' };
  const tick = pipsOf(market.tickSize);
  const facts = { tick: market.tickSize };
  if (pips <= 0 || pips >= PIPS_ONE) return wordsOf('PRICE_OUT_OF_RANGE', facts);
  // A worst price need not be on the tick.
  if (isMarket || pips % tick === 0) return null;
  const below = Math.floor(pips / tick) * tick;
  return wordsOf('INVALID_TICK', facts, { nearest: [below, below + tick].map(priceOf) });
}

function wrongShares({ shares }: Inputs, { market }: Standing): Refused | null {
  if (shares.trim() === '') return { field: 'shares', text: 'Enter a number of shares, for example 10.' };
  const lots = lotsTyped(shares);
  const lot = lotsOf(market.lotSize);
  const facts = { lot: market.lotSize, least: market.minOrderSize };
  if (lots === null) {
    return /^[\d\s.,]+$/.test(shares)
      ? wordsOf('INVALID_LOT', facts)
      : { field: 'shares', text: 'Enter the shares as a number, for example 10.' };
  }
  if (lots < lotsOf(market.minOrderSize) || lots > LOTS_MAX) return wordsOf('SIZE_OUT_OF_RANGE', facts);
  if (lots % lot === 0) return null;
  const below = Math.floor(lots / lot) * lot;
  return wordsOf('INVALID_LOT', facts, { nearest: [below, below + lot].map(sizeOf) });
}

/** By the book and the balances as they stand. */
function unfit(inputs: Inputs, standing: Standing, found: Estimate): { readonly refused: Refused } | null {
  const { side, orderType } = inputs;
  const outcome = inputs.outcome === 0 ? 'Yes' : 'No';
  const best = facing(standing.book, side)[0];
  const { limitPips, lots } = found;
  const crosses = best !== undefined && (side === 'BUY' ? best.pips <= limitPips : best.pips >= limitPips);
  if (standing.free) {
    const required = side === 'BUY' ? neededMicro(inputs, found) : lots;
    const available = side === 'BUY' ? standing.free.cashMicro : standing.free.lots;
    if (required > available) {
      const inUnits = (amount: number): string =>
        side === 'BUY' ? (amount / MICRO_ONE).toFixed(2) : sizeOf(amount);
      const facts = { required: inUnits(required), available: inUnits(available) };
      return { refused: wordsOf('INSUFFICIENT_BALANCE', { side, outcome }, facts) };
    }
  }
  if (orderType === 'POST_ONLY' && crosses) {
    return { refused: wordsOf('POST_ONLY_WOULD_CROSS', { side, outcome }, { best: priceOf(best.pips) }) };
  }
  if (orderType === 'MARKET' && !crosses) {
    return refusedAs('price', `Nothing in the book is within ${cents(limitPips)}. Change the price.`);
  }
  return null;
}

/** The amount that the exchange reserves for a BUY. */
const neededMicro = ({ orderType }: Inputs, { limitPips, lots, preview: { costMicro } }: Estimate): number =>
  orderType === 'MARKET' ? costMicro : limitPips * lots;

/** A MARKET BUY spends what these shares cost now, and no cent more, at no worse price than the limit. */
function orderOf(
  { side, outcome, orderType }: Inputs,
  { limitPips, lots, preview: now }: Estimate,
): NewOrder {
  const order = { outcomeIndex: outcome, side, orderType, price: priceOf(limitPips) };
  if (side === 'SELL' || orderType !== 'MARKET' || now.filledLots === 0)
    return { ...order, size: sizeOf(lots) };
  return { ...order, budget: priceOfMicro(now.costMicro) };
}

const priceOfMicro = (micro: number): string =>
  `${Math.floor(micro / MICRO_ONE)}.${String(micro % MICRO_ONE).padStart(6, '0')}`;
