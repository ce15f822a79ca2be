import type { OrderType, OutcomeIndex } from 'ctf-exchange-client';
import { type Cell, cell } from './cell';

/** The ticket is filled in from several places: its own fields, a level of the book, a position. */
export const side: Cell<'BUY' | 'SELL'> = cell<'BUY' | 'SELL'>('BUY');
/** Also the outcome whose book, chart and trades are shown. */
export const outcome: Cell<OutcomeIndex> = cell<OutcomeIndex>(0);
export const orderType: Cell<OrderType> = cell<OrderType>('GTC');
/** Null follows the book: the price stays there until the person types one or enters a size. */
export interface TicketPrice {
  /** Cents. */
  readonly text: string;
  readonly isTyped: boolean;
}
export const price: Cell<TicketPrice | null> = cell<TicketPrice | null>(null);
export const shares: Cell<string> = cell('');

export const typePrice = (text: string): void => price.set({ text, isTyped: true });

/** A price is not to move any more while the rest is filled in. */
export const pinPrice = (text: string): void => {
  if (price.get() === null && text !== '') price.set({ text, isTyped: false });
};

/** Values that the person did not type are suggested again. */
export function unpinPrice(): void {
  if (price.get()?.isTyped === false) price.set(null);
}

interface Filled {
  readonly side: 'BUY' | 'SELL';
  readonly outcome: OutcomeIndex;
  readonly shares: string;
}

const EMPTY: Filled = { side: 'BUY', outcome: 0, shares: '' };
let marketId: string | null = null;
let wanted: (Filled & { readonly marketId: string }) | null = null;

function fillIn(next: Filled): void {
  side.set(next.side);
  outcome.set(next.outcome);
  shares.set(next.shares);
  price.set(null);
}

/** Another market, another order. */
export function enterMarket(id: string): void {
  marketId = id;
  fillIn(wanted?.marketId === id ? wanted : EMPTY);
  wanted = null;
}

/** Fills in the ticket, at once or as soon as that market is shown. */
export function prepare(id: string, next: Filled): void {
  if (id === marketId) fillIn(next);
  else wanted = { ...next, marketId: id };
}
