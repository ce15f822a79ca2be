import type { BookLevel, BookSides, Client, Live, LiveBook, Market, Trading } from 'ctf-exchange-client';
import type { Character, DemoMarket } from './markets';
import { createOpinion, type Opinion } from './opinion';
import type { Random } from './random';
import { createWalk } from './walk';

/** Prices are whole numbers of 0.0001 here: a bot's opinion is rough, its orders are not. */
export const PIPS = 10_000;

export const pipsOf = (price: string): number => Math.round(Number(price) * PIPS);

export function priceText(pips: number): string {
  const digits = String(pips).padStart(5, '0');
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, '');
}

/** The bots' view of one market. */
export interface Desk {
  readonly trading: Trading;
  readonly market: Market;
  readonly character: Character;
  readonly tickPips: number;
  /** Usual size of a quote, in shares; smaller when wallets are granted less. */
  readonly size: number;
  readonly live: LiveBook;
  readonly opinion: Opinion;
  /** Whether the market takes orders, as far as the bot knows. */
  isOpen(): boolean;
}

/** The grant on which the sizes of the markets are based. */
const USUAL_GRANT = 10_000;

export interface DeskOptions {
  readonly client: Client;
  readonly live: Live;
  readonly demo: Pick<DemoMarket, 'character'> & { readonly body: { readonly slug: string } };
  readonly random: Random;
  /** The grant of a new wallet. */
  readonly grant: number;
  readonly say: (line: string) => void;
}

/** Continues from the market's prices. Rejects when the exchange does not have the market. */
export async function openDesk({ client, live, demo, random, grant, say }: DeskOptions): Promise<Desk> {
  const { character } = demo;
  const trading = await client.trading(demo.body.slug);
  const { market } = trading;
  const { history } = await client.priceHistory(market.id, '1h');
  const last = market.lastTradePrice ?? history.at(-1)?.p;
  const opinion = createOpinion(createWalk(character, random, last === undefined ? undefined : Number(last)));
  let status = market.status;
  return {
    trading,
    market,
    isOpen: () => status === 'OPEN',
    character,
    tickPips: pipsOf(market.tickSize),
    size: Math.max(Number(market.minOrderSize), character.size * Math.min(1, grant / USUAL_GRANT)),
    live: live.watch(market.conditionId, {
      // A dropped connection is usual; a book that does not fit is an error.
      onState: (state, why) => {
        if (state === 'stale') say(`${market.slug}: ${why}`);
      },
      onMarket: (now) => {
        status = now.status;
      },
      onTrade: ({ price, outcomeIndex }) =>
        opinion.follow(outcomeIndex === 0 ? pipsOf(price) : PIPS - pipsOf(price)),
    }),
    opinion,
  };
}

/** Best Yes bid and ask, in pips. */
export function touchOf(book: BookSides | null): { bid: number | null; ask: number | null } {
  const best = (levels: readonly BookLevel[] | undefined): number | null =>
    levels?.[0] === undefined ? null : pipsOf(levels[0].price);
  return { bid: best(book?.bids), ask: best(book?.asks) };
}
