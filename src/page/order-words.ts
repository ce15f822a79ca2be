import type { Market, Order, Submission } from 'ctf-exchange-client';
import { nameOf } from './outcome-names';
import { centsOf, lotsOf, microOf, PIPS_ONE, pipsOf, shares, shortDollars } from './units';

export const STATUS: Readonly<Record<Order['status'], string>> = {
  OPEN: 'Open',
  PARTIALLY_FILLED: 'Partly filled',
  FILLED: 'Filled',
  CANCELLED: 'Cancelled',
  EXPIRED: 'Expired',
  INVALIDATED: 'Invalidated',
};

/** The reason why an order ended without a request of the wallet. */
export const REASON: Readonly<Record<string, string>> = {
  IOC_REMAINDER: 'the rest could not be had at once',
  MARKET_REMAINDER: 'the rest could not be had within the price',
  SELF_TRADE: 'it would have met your own order',
  MATCH_LIMIT: 'it met too many orders to be matched in time',
  MARKET_CLOSED: 'the market has closed',
  EXPIRED: 'its time was over',
  NONCE: 'you invalidated your older orders',
  FUNDS: 'the funds were gone',
  DISCONNECT: 'the connection was lost',
  REPLACED: 'another order took its place',
  SETTLEMENT_FAILED: 'a trade failed on the chain, not by your fault',
};

/** What an order did: "Bought 46.51 Yes for $20, pays $46.51 if Yes"; "Sold 10 Yes at 43¢". Null without a fill. */
export function filledWords(
  side: Order['side'],
  placed: Pick<Submission, 'filledSize' | 'averagePrice' | 'fillCount' | 'fills'>,
  name: string,
): string | null {
  const { filledSize, averagePrice, fillCount, fills } = placed;
  if (averagePrice === null) return null;
  const filledLots = lotsOf(filledSize);
  const did = `${side === 'BUY' ? 'Bought' : 'Sold'} ${shares(filledLots)} ${name}`;
  // The answer has the latest fills only, and the sum of a part is no sum.
  if (side === 'SELL' || fills.length < fillCount) return `${did} at ${centsOf(averagePrice)}`;
  const costMicro = fills.reduce((sum, { price, size }) => sum + pipsOf(price) * lotsOf(size), 0);
  const feeMicro = fills.reduce((sum, { fee }) => sum + microOf(fee), 0);
  const payoutMicro = filledLots * PIPS_ONE - feeMicro;
  return `${did} for ${shortDollars(costMicro)}, pays ${shortDollars(payoutMicro)} if ${name}`;
}

/** Reasons that the person already knows. */
const ASKED_FOR: ReadonlySet<string | null> = new Set([null, 'USER', 'CANCEL_ALL', 'REPLACED']);

/** The change of a known order in words; null when there is nothing to report. */
export function newsOf(before: Order, now: Order, market: Market | undefined): string | null {
  const name = nameOf(market, now.outcomeIndex);
  // The chain does not change the order itself.
  const failed = lotsOf(now.failedSize ?? '0') - lotsOf(before.failedSize ?? '0');
  if (failed > 0) return `A trade of ${shares(failed)} ${name} failed on the chain: nothing was paid.`;
  if (before.updatedAt >= now.updatedAt) return null;
  const back = lotsOf(before.filledSize) - lotsOf(now.filledSize);
  if (back > 0) {
    const then = Number(now.remainingSize) > 0 ? 'your order offers them again' : 'your order has ended';
    return `A trade of ${shares(back)} ${name} failed on the chain, not by your fault: nothing was paid, and ${then}.`;
  }
  const filled = lotsOf(now.filledSize) - lotsOf(before.filledSize);
  if (filled > 0) {
    const did = now.side === 'BUY' ? 'Bought' : 'Sold';
    const part = now.status === 'FILLED' ? '' : `, ${shares(lotsOf(now.remainingSize))} still wait`;
    return `${did} ${shares(filled)} ${name} at ${centsOf(now.averagePrice ?? now.price)}${part}.`;
  }
  return before.status === now.status ? null : endWords(now, market);
}

/** How an order ended without a request of the wallet; null when it did not. */
export function endWords(now: Order, market: Market | undefined): string | null {
  if (ASKED_FOR.has(now.reason)) return null;
  const name = nameOf(market, now.outcomeIndex);
  const why = REASON[now.reason ?? ''];
  const rest = `Your order for ${shares(lotsOf(now.size))} ${name} at ${centsOf(now.price)}`;
  return `${rest} is ${STATUS[now.status].toLowerCase()}${why === undefined ? '' : `: ${why}`}.`;
}
