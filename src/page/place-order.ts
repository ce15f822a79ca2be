import type { Market, NewOrder, Order, Placed, Submission } from 'ctf-exchange-client';
import { reloadAccount, showOrder } from './account-data';
import { client, type Wallet } from './exchange';
import { connection, isLiveSoon, type Shown } from './market-data';
import { type Inputs, judge, type Standing } from './order-draft';
import { namesOf } from './outcome-names';
import { signerOf } from './sign-in';
import { centsOf, lotsOf, shares } from './units';
import './refusal-words';
import { type Refused, wordsFor } from './words';

/** The result of an order in words, and the field of the ticket to which they belong. */
export interface Said extends Refused {
  readonly tone: 'done' | 'refused';
}

const refusal = (refused: Refused): Said => ({ tone: 'refused', ...refused });

/** Checks, signs and sends an order; returns the answer in words. */
export async function place(inputs: Inputs, shown: Shown, standing: Standing, wallet: Wallet): Promise<Said> {
  if (inputs.orderType === 'MARKET' && !(standing.book && (await isLiveSoon()))) {
    const text =
      'The book may be old until the connection is back, so a market order has to wait. A limit order works.';
    return refusal({ field: 'form', text });
  }
  // A book that may be outdated is no reason to refuse other orders.
  const isLive = connection.get() === 'live';
  const judged = judge(inputs, isLive ? standing : { ...standing, book: null, free: null });
  if ('refused' in judged) return refusal(judged.refused);
  const names = namesOf(shown.market);
  const { tickSize, lotSize, minOrderSize } = shown.market;
  try {
    const signer = await signerOf(wallet);
    const placed = await client.placeOrder(signer, shown.trading ?? shown.market.id, judged.order);
    showOrder(recordOf(judged.order, shown.market, wallet, placed));
    reloadAccount();
    return { tone: 'done', field: 'form', text: happened(inputs, placed, names[inputs.outcome]) };
  } catch (error) {
    const words = { side: inputs.side, outcome: names[inputs.outcome], names, tick: tickSize, lot: lotSize };
    return refusal(wordsFor(error, { ...words, least: minOrderSize }));
  }
}

/** Makes a record of the answer, to show it at once; the exchange's own record follows. */
function recordOf(order: NewOrder, market: Market, { address }: Wallet, placed: Placed): Order {
  const { outcomeIndex, side, orderType = 'GTC' } = order;
  return {
    ...placed,
    marketId: market.id,
    conditionId: market.conditionId,
    maker: address,
    outcomeIndex,
    tokenId: market.outcomes[outcomeIndex]?.tokenId ?? '',
    side,
    orderType,
    expiration: placed.signed.expiration,
    clientOrderId: null,
    updatedAt: placed.createdAt,
    fills: [],
  };
}

/** The result of an order in a sentence. */
function happened(inputs: Inputs, placed: Submission, name: string): string {
  const { status, filledSize, remainingSize, averagePrice, price: limit } = placed;
  const did = inputs.side === 'BUY' ? 'Bought' : 'Sold';
  const amount = (size: string): string => shares(lotsOf(size));
  const filled =
    averagePrice === null ? null : `${did} ${amount(filledSize)} ${name} at ${centsOf(averagePrice)}`;
  const isResting = status === 'OPEN' || status === 'PARTIALLY_FILLED';
  if (isResting) {
    const rest = `${amount(remainingSize)} at ${centsOf(limit)} ${filled ? 'wait' : 'now wait'} in the book`;
    return filled ? `${filled}; ${rest}.` : `Order placed: ${rest}.`;
  }
  if (filled === null) return 'No shares were available within your price, so the order was not filled.';
  return status === 'FILLED' ? `${filled}.` : `${filled}; the rest was not available.`;
}
