import { type Book, checksumOf, type LiveBook } from 'ctf-exchange-client';
import type { OpenMarket } from '../support/trader';
import type { Trader } from '../support/typed-clients';
import { until } from '../support/waiting';

/** Orders that rest, trade and go, of both outcomes; `from` goes on where the last call ended. */
export async function tradeSome(
  market: OpenMarket,
  who: readonly Trader[],
  count: number,
  from = 0,
): Promise<void> {
  for (let i = from; i < from + count; i++) {
    const { client, wallet } = who[i % who.length] as Trader;
    const price = `0.${35 + ((i * 7) % 30)}`;
    const order = { outcomeIndex: i % 3 === 0 ? 1 : 0, side: 'BUY', price, size: `${1 + (i % 9)}` } as const;
    const placed = await client.placeOrder(wallet, market.id, order);
    if (i % 4 === 0 && placed.status === 'OPEN') await client.cancel(placed.orderHash);
  }
}

/** In step again, and equal to what REST shows. */
export async function expectRest({ client }: Trader, market: OpenMarket, live: LiveBook): Promise<void> {
  const rest = await client.orderbook(market.id);
  await until('the book is where REST is', () => live.sequence === rest.sequence && live.state === 'live');
  const levels = (side: typeof rest.bids) => side.map(({ price, size }) => ({ price, size }));
  expect(live.book).toEqual({ sequence: rest.sequence, bids: levels(rest.bids), asks: levels(rest.asks) });
  const no = rest.outcomes[1];
  expect(live.view(1)).toEqual({ bids: levels(no?.bids ?? []), asks: levels(no?.asks ?? []) });
  expect(checksumOf(live.book as Book)).toBe(rest.checksum);
}
