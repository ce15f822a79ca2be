import type { Order, Submission } from 'ctf-exchange-client';
import { PIPS, pipsOf } from './desk';
import type { BotWallet } from './wallet';

/** An order of a bot in the Yes book. */
export interface Quote {
  readonly hash: string;
  readonly bookSide: 'bid' | 'ask';
  readonly yesPips: number;
  readonly atMs: number;
}

export interface QuoteTerms {
  readonly outcomeIndex: 0 | 1;
  readonly side: 'BUY' | 'SELL';
  readonly price: string;
}

/** A BUY of Yes and a SELL of No are bids. */
export const bookSideOf = ({ side, outcomeIndex }: QuoteTerms): Quote['bookSide'] =>
  (side === 'BUY') === (outcomeIndex === 0) ? 'bid' : 'ask';

const yesPipsOf = ({ outcomeIndex, price }: QuoteTerms): number =>
  outcomeIndex === 0 ? pipsOf(price) : PIPS - pipsOf(price);

const isOpen = (status: string): boolean => status === 'OPEN' || status === 'PARTIALLY_FILLED';
const ORDERS_MAX = 200;

export interface Resting {
  quotes(): readonly Quote[];
  /** Adds an order when the answer to its submission came before its event. */
  placed(terms: QuoteTerms, order: Submission): void;
  gone(hashes: readonly string[]): void;
  stop(): void;
}

/** The open orders of a wallet in one market, from the wallet's own events. */
export function followOrders({ client, live }: BotWallet, marketId: string): Resting {
  const quotes = new Map<string, Quote>();
  function note(order: QuoteTerms & { orderHash: string; status: string; createdAt: string }): void {
    const { orderHash: hash, status, createdAt } = order;
    if (!isOpen(status)) quotes.delete(hash);
    else {
      const atMs = Date.parse(createdAt);
      quotes.set(hash, { hash, bookSide: bookSideOf(order), yesPips: yesPipsOf(order), atMs });
    }
  }
  /** After an interruption or a loss of data, the list is read from the exchange. */
  function lookUp(): void {
    client.orders({ status: 'open', marketId, limit: ORDERS_MAX }).then(
      ({ data }) => {
        quotes.clear();
        for (const order of data) note(order);
      },
      // The next connection tries again; until then the cancel of a quote that has ended reveals that.
      () => undefined,
    );
  }
  const stops = [
    live.onOrder((order: Order) => {
      if (order.marketId === marketId) note(order);
    }),
    live.onConnect(lookUp),
    live.onEpoch(lookUp),
  ];
  return {
    quotes: () => [...quotes.values()],
    placed: (terms, order) => note({ ...terms, ...order, price: terms.price }),
    gone(hashes) {
      for (const hash of hashes) quotes.delete(hash);
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}
