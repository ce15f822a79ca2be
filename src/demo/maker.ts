import { isBooked, type NewOrder, type PlaceOptions } from 'ctf-exchange-client';
import { type Desk, PIPS, priceText } from './desk';
import { chance, pick, type Random, spread } from './random';
import { followOrders, type Quote, type QuoteTerms } from './resting';
import type { BotWallet } from './wallet';

/** Distances of the quotes from the best one, in half spreads. */
const LADDER = [0, 1, 2, 3.5, 5, 7, 10];
/** The most quotes set and cancelled in one turn. */
const PLACE_MAX = 14;
const CANCEL_MAX = 14;
/** A quote that is not cancelled expires. */
const EXPIRY_MS = 15 * 60_000;
/** Quotes of one side. */
const SIDE_MAX = LADDER.length + 4;
const RENEW_AFTER_MS = 10 * 60_000;
/** An excess of one outcome of this many usual quotes moves the quotes by one half spread. */
const QUOTES_PER_STEP = 6;
const SKEW_STEPS_MAX = 3;
/** The share of quotes that sell the wallet's tokens instead of buying the other outcome. */
const SELLING = 0.5;
/** In usual quotes: the tokens of both outcomes to keep for selling, and the number that is too many. */
const STOCK = 4;
const STOCK_MAX = 12;
/** Part of the grant that is never turned into sets. */
const CASH_MIN = 0.3;

export interface Maker {
  /** One turn in the market: cancels quotes that no longer fit, and sets missing ones. */
  quote(): Promise<void>;
  /** Converts money into full sets to sell, and surplus full sets back into money. */
  stock(): Promise<void>;
  stop(): void;
}

/** Quotes both sides of one market around the bots' opinion. */
export function createMaker(desk: Desk, wallet: BotWallet, random: Random): Maker {
  const { market, trading, tickPips, size } = desk;
  const step = Math.max(tickPips, Math.round(desk.character.halfSpreadPips));
  const resting = followOrders(wallet, market.id);

  /** A maker with much Yes quotes lower, to reduce it. */
  function centrePips(): number {
    const [yes, no] = wallet.held(market.id);
    const steps = (yes - no) / (QUOTES_PER_STEP * size);
    return desk.opinion.pips() - Math.max(-SKEW_STEPS_MAX, Math.min(SKEW_STEPS_MAX, steps)) * step;
  }

  /** Prices of the ladder, best first, each once. */
  function ladder(centre: number, bookSide: Quote['bookSide']): number[] {
    const away = bookSide === 'bid' ? -1 : 1;
    const round = bookSide === 'bid' ? Math.floor : Math.ceil;
    const prices = LADDER.map(
      (steps) =>
        round((centre + (away * desk.character.halfSpreadPips) / 2 + away * steps * step) / tickPips) *
        tickPips,
    );
    return [...new Set(prices)].filter((price) => price >= tickPips && price <= PIPS - tickPips);
  }

  /** Selects quotes that are too close, too far, too many or too old; and at times any quote, so that the book moves. */
  function unwanted(centre: number, quotes: readonly Quote[]): Quote[] {
    const end = ((LADDER.at(-1) ?? 0) + 2) * step;
    const distanceOf = ({ bookSide, yesPips }: Quote): number =>
      bookSide === 'bid' ? centre - yesPips : yesPips - centre;
    const farthestFirst = [...quotes].sort((a, b) => distanceOf(b) - distanceOf(a));
    const surplus = (['bid', 'ask'] as const).flatMap((bookSide) => {
      const side = farthestFirst.filter((one) => one.bookSide === bookSide);
      return side.slice(0, Math.max(0, side.length - SIDE_MAX));
    });
    const gone = quotes.filter((quote) => {
      const distance = distanceOf(quote);
      const isOff = distance < step / 3 || distance > end;
      return isOff || Date.now() - quote.atMs > RENEW_AFTER_MS || surplus.includes(quote);
    });
    const other = pick(random, quotes);
    if (other && !gone.includes(other)) gone.push(other);
    return gone.slice(0, CANCEL_MAX);
  }

  function orderAt(bookSide: Quote['bookSide'], yesPips: number): NewOrder & PlaceOptions & QuoteTerms {
    const shares = Math.max(Number(market.minOrderSize), Math.round(spread(random, size)));
    // A bid buys Yes or sells No.
    const [bought, sold] = bookSide === 'bid' ? ([0, 1] as const) : ([1, 0] as const);
    const sells = wallet.free(market.id, sold) >= shares && chance(random, SELLING);
    const outcomeIndex = sells ? sold : bought;
    return {
      outcomeIndex,
      side: sells ? 'SELL' : 'BUY',
      orderType: 'POST_ONLY',
      price: priceText(outcomeIndex === 0 ? yesPips : PIPS - yesPips),
      size: String(shares),
      expiresAt: Date.now() + EXPIRY_MS,
    };
  }

  return {
    async quote() {
      // Without a book in step the maker does not quote.
      if (desk.live.state !== 'live') return;
      const centre = centrePips();
      const gone = unwanted(centre, resting.quotes()).map(({ hash }) => hash);
      if (gone.length > 0) {
        await wallet.client.cancelMany(gone);
        resting.gone(gone);
      }
      const orders = (['bid', 'ask'] as const)
        .flatMap((bookSide) => {
          const near = resting.quotes().filter((one) => one.bookSide === bookSide);
          return ladder(centre, bookSide)
            .filter((price) => near.every(({ yesPips }) => Math.abs(yesPips - price) * 2 >= step))
            .map((price) => orderAt(bookSide, price));
        })
        .slice(0, PLACE_MAX);
      if (orders.length === 0) return;
      const results = await wallet.client.batch(wallet.signer, trading, orders);
      for (const [i, result] of results.entries()) {
        const terms = orders[i];
        if (terms && isBooked(result)) resting.placed(terms, result.order);
      }
    },
    async stock() {
      const sets = Math.min(wallet.free(market.id, 0), wallet.free(market.id, 1));
      const [yes, no] = wallet.held(market.id);
      const spare = Math.floor(sets - STOCK * size);
      const lacking = Math.ceil(STOCK * size - Math.min(yes, no));
      if (sets > STOCK_MAX * size && spare > 0) await wallet.merge(market.id, String(spare));
      else if (lacking > 0 && wallet.cash() - lacking > CASH_MIN * wallet.grant) {
        await wallet.split(market.id, String(lacking));
      }
    },
    stop: resting.stop,
  };
}
