import type { OrderType, OutcomeIndex } from 'ctf-exchange-client';
import { type Cell, cell } from './cell';

/** The ticket has several sources: its own fields, a level of the book, a position, a key. */
export const side: Cell<'BUY' | 'SELL'> = cell<'BUY' | 'SELL'>('BUY');
/** The traded outcome, which is also that of the shown book, chart and trades. */
export const outcome: Cell<OutcomeIndex> = cell<OutcomeIndex>(0);
/** The first type is the one that never rests by surprise. */
export const orderType: Cell<OrderType> = cell<OrderType>('MARKET');
/** Cents as typed; null follows the book until the button is pressed. */
export const price: Cell<string | null> = cell<string | null>(null);
export const shares: Cell<string> = cell('');
/** Dollars that an order may spend. Of amount and shares the one typed last counts; the other is empty. */
export const amount: Cell<string> = cell('');

export type Expiry = 'month' | 'hour' | 'day' | 'date' | 'never';
/** A signature that never ends is a choice, because only the contract can revoke it. */
export const expiry: Cell<Expiry> = cell<Expiry>('month');
/** In the format of a date and time field. */
export const expiryDate: Cell<string> = cell('');

/** All parts of an order. */
export const parts: readonly Cell<unknown>[] = [
  ...([side, outcome, orderType, price, shares, amount, expiry, expiryDate] as unknown as Cell<unknown>[]),
];

/** A price typed for one order does not apply to another. */
for (const part of [side, outcome, orderType] as unknown as Cell<unknown>[])
  part.subscribe(() => price.set(null));

export const typePrice = (text: string): void => price.set(text);

export function typeShares(text: string): void {
  amount.set('');
  shares.set(text);
}

export function typeAmount(text: string): void {
  shares.set('');
  amount.set(text);
}

/** Fills in a level of the book: its price makes a limit order. */
export function takeLevel(priceText: string, sizeText: string | null): void {
  if (orderType.get() === 'MARKET') orderType.set('GTC');
  typePrice(priceText);
  if (sizeText !== null) typeShares(sizeText);
}

interface Filled {
  readonly side: 'BUY' | 'SELL';
  readonly outcome: OutcomeIndex;
  readonly shares: string;
  readonly price?: string;
}

const EMPTY: Filled = { side: 'BUY', outcome: 0, shares: '' };
let marketId: string | null = null;
let wanted: (Filled & { readonly marketId: string }) | null = null;

function fillIn(next: Filled): void {
  side.set(next.side);
  outcome.set(next.outcome);
  typeShares(next.shares);
  if (next.price !== undefined) orderType.set('GTC');
  price.set(next.price ?? null);
  expiry.set('month');
}

/** Another market means another order. */
export function enterMarket(id: string): void {
  if (id === marketId) return;
  marketId = id;
  fillIn(wanted?.marketId === id ? wanted : EMPTY);
  wanted = null;
}

/** Fills in the ticket now, or as soon as that market is shown. */
export function prepare(id: string, next: Filled): void {
  if (id === marketId) fillIn(next);
  else wanted = { ...next, marketId: id };
}
