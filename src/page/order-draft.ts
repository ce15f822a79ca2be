import type { Balances, BookSides, Market, NewOrder, OrderType, OutcomeIndex } from 'ctf-exchange-client';
import { nameOf } from './outcome-names';
import { type Level, type Preview, preview, previewSpending, spend, walk } from './preview';
import {
  cents,
  decimalOf,
  dollarsTyped,
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
  /** Cents as typed; empty means "at the book's price" for a MARKET order. */
  readonly price: string;
  readonly shares: string;
  /** Dollars as typed, instead of shares; for an order to buy. */
  readonly amount?: string;
  /** The time at which the order expires; null for never. */
  readonly expiresAtMs?: number | null;
}

/** The resting orders that the order would meet. */
export interface Standing {
  readonly market: Pick<Market, 'tickSize' | 'lotSize' | 'minOrderSize' | 'feeRateBps' | 'status'> &
    Partial<Pick<Market, 'outcomes'>>;
  /** The book of the traded outcome; null while it may be wrong. */
  readonly book: BookSides | null;
  /** Null without a session, or until it is known. */
  readonly free: { readonly cashMicro: number; readonly lots: number } | null;
}

/** The distance beyond the last level reached that a MARKET order without a price may go: 3¢. */
const SLIPPAGE_PIPS = 300;

export const levelsOf = (side: BookSides['bids']): Level[] =>
  side.map(({ price, size }) => ({ pips: pipsOf(price), lots: lotsOf(size) }));

/** The side of the book that a taker of this side meets. */
export function facing(book: BookSides | null, side: 'BUY' | 'SELL'): Level[] {
  if (!book) return [];
  return levelsOf(side === 'BUY' ? book.asks : book.bids);
}

/** The most tokens of an outcome that can be sold, and the free money. */
export function freeOf(balances: Balances | null, marketId: string, outcome: OutcomeIndex): Standing['free'] {
  if (!balances) return null;
  const held = balances.tokens.find((token) => token.marketId === marketId && token.outcomeIndex === outcome);
  return {
    cashMicro: microOf(balances.collateral.available),
    lots: Math.floor(microOf(held?.available ?? '0') / PIPS_ONE),
  };
}

/** Whether the order has an amount of money instead of a number of shares. */
export const isInDollars = ({ side, orderType, amount = '', shares }: Inputs): boolean =>
  side === 'BUY' && orderType === 'MARKET' && amount.trim() !== '' && shares.trim() === '';

/** Dollars typed for an order with a price are the shares that they buy at that price, in whole lots. */
function inShares(inputs: Inputs, { lotSize }: Standing['market']): Inputs {
  const { side, orderType, amount = '', shares } = inputs;
  if (side === 'SELL' || orderType === 'MARKET' || shares.trim() !== '') return inputs;
  const budgetMicro = dollarsTyped(amount);
  const pips = pipsTyped(inputs.price);
  if (!budgetMicro || !pips) return inputs;
  const lot = lotsOf(lotSize);
  const lots = Math.floor(Math.floor(budgetMicro / pips) / lot) * lot;
  return { ...inputs, amount: '', shares: sizeOf(lots) };
}

/** The limit of the order in pips: as typed, or for a MARKET order the book's price and a little more. */
function limitOf(inputs: Inputs, lots: number | null, { book, market }: Standing): number | null {
  if (inputs.price.trim() !== '' || inputs.orderType !== 'MARKET') return pipsTyped(inputs.price);
  const levels = facing(book, inputs.side);
  const budgetMicro = isInDollars(inputs) ? dollarsTyped(inputs.amount ?? '') : null;
  const reached =
    budgetMicro === null ? walk(levels, lots ?? 1, () => true) : spend(levels, budgetMicro, () => true);
  const worstPips = reached.worstPips ?? levels[0]?.pips ?? null;
  if (worstPips === null) return null;
  const tick = pipsOf(market.tickSize);
  return inputs.side === 'BUY'
    ? Math.min(worstPips + SLIPPAGE_PIPS, PIPS_ONE - tick)
    : Math.max(worstPips - SLIPPAGE_PIPS, tick);
}

export interface Estimate {
  readonly limitPips: number;
  readonly lots: number;
  /** The preview of an order in dollars. */
  readonly budgetMicro?: number;
  /** The book has less than the order wants, and the order does not wait for the rest. */
  readonly isShort: boolean;
  readonly preview: Preview;
}

/** The summary that the ticket shows beside the fields; null until they are complete. */
export function estimate(typed: Inputs, standing: Standing): Estimate | null {
  const inputs = inShares(typed, standing.market);
  const lots = lotsTyped(inputs.shares);
  const limitPips = limitOf(inputs, lots, standing);
  if (isInDollars(inputs)) return estimateSpending(inputs, limitPips, standing);
  if (lots === null || lots === 0 || lots > LOTS_MAX) return null;
  if (limitPips === null || limitPips <= 0 || limitPips >= PIPS_ONE) return null;
  const { side, orderType } = inputs;
  const draft = { side, orderType, pips: limitPips, lots, feeRateBps: standing.market.feeRateBps };
  const found = preview(facing(standing.book, side), draft);
  const isShort = (orderType === 'MARKET' || orderType === 'IOC') && found.filledLots < lots;
  return { limitPips, lots, isShort, preview: found };
}

function estimateSpending(inputs: Inputs, limitPips: number | null, standing: Standing): Estimate | null {
  const budgetMicro = dollarsTyped(inputs.amount ?? '');
  if (budgetMicro === null || budgetMicro === 0 || limitPips === null) return null;
  if (limitPips <= 0 || limitPips >= PIPS_ONE) return null;
  const met = spend(facing(standing.book, 'BUY'), budgetMicro, (pips) => pips <= limitPips);
  const { feeRateBps, lotSize } = standing.market;
  // What is left after the last level would still buy a lot there.
  const isShort = budgetMicro - met.costMicro >= (met.worstPips ?? 0) * lotsOf(lotSize);
  const draft = {
    side: 'BUY',
    orderType: 'MARKET',
    pips: limitPips,
    lots: met.filledLots,
    feeRateBps,
  } as const;
  return { limitPips, lots: met.filledLots, budgetMicro, isShort, preview: previewSpending(met, draft) };
}

export type Judgement = { readonly refused: Refused } | { readonly order: NewOrder };

/**
 * Finds mistakes that the exchange would certainly refuse, before a wallet signs; the exchange checks everything else.
 */
export function judge(typed: Inputs, standing: Standing): Judgement {
  const inputs = inShares(typed, standing.market);
  const judged = judgeShares(inputs, standing);
  if (inputs === typed || !('refused' in judged) || judged.refused.field !== 'shares') return judged;
  return refusedAs('amount', judged.refused.text);
}

function judgeShares(inputs: Inputs, standing: Standing): Judgement {
  const wrong =
    wrongPrice(inputs, standing) ?? wrongAmount(inputs) ?? wrongShares(inputs, standing) ?? wrongEnd(inputs);
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

function wrongAmount(inputs: Inputs): Refused | null {
  const { side, orderType, amount = '', shares } = inputs;
  if (side === 'SELL' || shares.trim() !== '') return null;
  if (amount.trim() === '') {
    return orderType === 'MARKET'
      ? { field: 'amount', text: 'Enter how many dollars to spend, for example 20.' }
      : null;
  }
  if (!dollarsTyped(amount))
    return { field: 'amount', text: 'Enter an amount in dollars and cents, for example 20.' };
  return null;
}

function wrongShares(inputs: Inputs, { market }: Standing): Refused | null {
  if (isInDollars(inputs)) return null;
  const { shares } = inputs;
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

/** An empty date must not become an order without an end. */
const wrongEnd = ({ expiresAtMs = null }: Inputs): Refused | null =>
  expiresAtMs !== null && Number.isNaN(expiresAtMs)
    ? { field: 'form', text: 'Choose the date and the time at which the order expires.' }
    : null;

/** Checks against the present book and balances. */
function unfit(inputs: Inputs, standing: Standing, found: Estimate): { readonly refused: Refused } | null {
  const { side, orderType } = inputs;
  const outcome = nameOf(standing.market, inputs.outcome);
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
      const { field, text } = wordsOf('INSUFFICIENT_BALANCE', { side, outcome }, facts);
      return { refused: { field: isInDollars(inputs) ? 'amount' : field, text } };
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
const neededMicro = (
  { orderType }: Inputs,
  { limitPips, lots, budgetMicro, preview: { costMicro } }: Estimate,
): number => (orderType === 'MARKET' ? (budgetMicro ?? costMicro) : limitPips * lots);

/** A MARKET BUY spends the present cost of these shares at most, at no worse price than the limit. */
function orderOf(
  { side, outcome, orderType, expiresAtMs = null }: Inputs,
  { limitPips, lots, budgetMicro, preview: now }: Estimate,
): NewOrder {
  const ends = expiresAtMs === null ? {} : { expiresAt: expiresAtMs };
  const order = { outcomeIndex: outcome, side, orderType, price: priceOf(limitPips), ...ends };
  if (budgetMicro !== undefined) return { ...order, budget: decimalOf(budgetMicro) };
  if (side === 'SELL' || orderType !== 'MARKET' || now.filledLots === 0)
    return { ...order, size: sizeOf(lots) };
  return { ...order, budget: decimalOf(now.costMicro) };
}
