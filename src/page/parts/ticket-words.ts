import type { Inputs } from '../order-draft';
import { isInDollars } from '../order-draft';
import { cents, dollarsTyped, lotsTyped, pipsTyped, shares as sharesText, shortDollars } from '../units';

/** The words of the button: "Buy Yes, $20", "Sell 10 No at 62¢". */
export function submitWords(inputs: Inputs, name: string, isSignedIn: boolean): string {
  const did = inputs.side === 'BUY' ? 'Buy' : 'Sell';
  if (!isSignedIn) return `Sign in to ${did.toLowerCase()} ${name}`;
  const budget = isInDollars(inputs) ? dollarsTyped(inputs.amount ?? '') : null;
  if (budget) return `${did} ${name}, ${shortDollars(budget)}`;
  const lots = lotsTyped(inputs.shares);
  if (!lots) return `${did} ${name}`;
  const pips = inputs.orderType === 'MARKET' ? null : pipsTyped(inputs.price);
  return `${did} ${sharesText(lots)} ${name}${pips ? ` at ${cents(pips)}` : ''}`;
}

/** What a button says while an order is under way. */
export const DOING = {
  starting: 'Placing…',
  book: 'Waiting for the book…',
  signing: 'Confirm in your wallet',
  sending: 'Sending…',
  late: 'Sending…',
} as const;
