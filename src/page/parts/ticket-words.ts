import { type Estimate, type Inputs, isInDollars } from '../order-draft';
import { cents, dollarsTyped, lotsTyped, pipsTyped, shares as sharesText, shortDollars } from '../units';

/** The words of the button: "Buy Yes, $20", "Sell 10 No at 62¢", "Buy Yes, $791 of $1,000" where the book has no more. */
export function submitWords(
  inputs: Inputs,
  found: Estimate | null,
  name: string,
  isSignedIn: boolean,
): string {
  const did = inputs.side === 'BUY' ? 'Buy' : 'Sell';
  if (!isSignedIn) return `Sign in to ${did.toLowerCase()} ${name}`;
  const short = found?.isShort && found.preview.filledLots > 0 ? found.preview : null;
  const budget = isInDollars(inputs) ? dollarsTyped(inputs.amount ?? '') : null;
  if (budget)
    return `${did} ${name}, ${short ? `${shortDollars(short.costMicro)} of ` : ''}${shortDollars(budget)}`;
  const lots = found?.lots ?? lotsTyped(inputs.shares);
  if (!lots) return `${did} ${name}`;
  const pips = inputs.orderType === 'MARKET' ? null : pipsTyped(inputs.price);
  const part = short ? `${sharesText(short.filledLots)} of ` : '';
  return `${did} ${part}${sharesText(lots)} ${name}${pips ? ` at ${cents(pips)}` : ''}`;
}

/** What a button says while an order is under way. */
export const DOING = {
  starting: 'Placing…',
  book: 'Waiting for the book…',
  signing: 'Confirm in your wallet',
  sending: 'Sending…',
  late: 'Sending…',
} as const;
