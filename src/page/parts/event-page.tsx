import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import '../people-words';
import type { Market, MarketEvent } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { useCell } from '../cell';
import { client } from '../exchange';
import { isOver } from '../exchange-state';
import { useFound } from '../found';
import { lazy } from '../lazy';
import { chanceOf, type Shown } from '../market-data';
import { remember } from '../market-list-data';
import { nameOf } from '../outcome-names';
import { eventChoice, inPage, linkTo } from '../route';
import { microOf, PIPS_ONE, percent, pipsOf, roundly } from '../units';
import { EventChart } from './event-chart';
import { statusWord } from './market-list';
import { Buy, byChance, listedChance } from './markets-page';
import { Notice, Skeleton } from './notice';
import { Ticket } from './ticket';

const Rules = lazy(async () => (await import('./later')).LATER.Rules, null);

const REFRESH_MS = 5_000;
/** More lines in one chart cannot be told apart. */
const LINES_MAX = 6;

async function askFor(slug: string): Promise<MarketEvent> {
  const event = await client.event(slug);
  remember(event.markets);
  return event;
}

/** The market of the ticket with the prices that the ticket has, which come sooner. */
function asInTicket(market: Market, shown: Shown | null): Market {
  if (shown?.market.id !== market.id || !shown.book) return market;
  const { bids, asks } = shown.book;
  const chance = chanceOf(shown);
  const price = chance === null ? null : String(chance / PIPS_ONE);
  return {
    ...market,
    bestBid: bids[0]?.price ?? null,
    bestAsk: asks[0]?.price ?? null,
    outcomes: market.outcomes.map((one) => (one.index === 0 ? { ...one, price } : one)),
  };
}

const choose = ({ slug }: Market): void => eventChoice.set(slug);

interface Props {
  readonly slug: string;
  /** The market that the ticket is for. */
  readonly shown: Shown | null;
}

/** The markets of an event: their chances over time, and a ticket for the chosen one. */
export const EventPage = ({ slug, shown }: Props) => {
  const { value: event, isMissing, failure } = useFound(slug, askFor, REFRESH_MS);
  const markets = byChance(event?.markets ?? []).map((market) => asInTicket(market, shown));
  const chosen = useCell(eventChoice);
  const first = markets[0];
  useEffect(() => {
    if (first && !markets.some((market) => market.slug === chosen)) choose(first);
  }, [first?.id]);
  useEffect(() => () => eventChoice.set(null), []);
  if (isMissing) return <Notice title="Event not found">Choose a market from the list.</Notice>;
  if (!event && failure !== null) return <Notice title="The event could not be loaded">{failure}</Notice>;
  if (!event) return <Skeleton rows={5} />;
  return (
    <>
      <main class="main event-page" id="content">
        <div class="head">
          <h1 class="head-question" dir="auto">
            {event.title}
          </h1>
          <Facts markets={markets} />
        </div>
        <EventChart markets={markets.slice(0, LINES_MAX)} />
        <ul class="card event-rows">
          {markets.map((market) => (
            <Row key={market.id} market={market} isChosen={market.slug === chosen} />
          ))}
        </ul>
      </main>
      <aside class="side event-side" aria-label="Trade">
        <Ticket shown={shown?.market.slug === chosen ? shown : null} />
      </aside>
    </>
  );
};

/** Volume, and the sum of what still trades: of outcomes that exclude each other it is about 100 %. */
const Facts = ({ markets }: { readonly markets: readonly Market[] }) => {
  const volume = markets.reduce((sum, market) => sum + microOf(market.volume), 0);
  const chances = markets.filter((market) => !isOver(market)).map(listedChance);
  const sum = chances.reduce<number>((all, chance) => all + (chance ?? 0), 0);
  return (
    <p class="head-facts">
      <span>{markets.length === 1 ? '1 market' : `${markets.length} markets`}</span>
      <span>{roundly(volume)} volume</span>
      {chances.length > 1 && sum > 0 && <span>Chances add up to {Math.round(sum / 100)}%</span>}
    </p>
  );
};

const Row = ({ market, isChosen }: { readonly market: Market; readonly isChosen: boolean }) => {
  const chance = listedChance(market);
  const [isOpen, setOpen] = useState(false);
  return (
    <li
      class={isChosen ? 'event-row event-row-chosen' : 'event-row'}
      data-testid="event-market"
      aria-current={isChosen ? 'true' : undefined}
    >
      <a dir="auto" href={linkTo(market.slug)} onClick={inPage(linkTo(market.slug))}>
        {market.question}
      </a>
      <strong>
        {statusWord(market) ?? (chance === null ? '–' : percent(chance, pipsOf(market.tickSize)))}
      </strong>
      {market.status === 'OPEN' && (
        <p class="event-row-buy">
          <Buy market={market} index={0} onChoose={choose} />
          <Buy market={market} index={1} onChoose={choose} />
        </p>
      )}
      <span class="hint">
        {isOver(market) ? 'ended' : nameOf(market, 0)} · {roundly(microOf(market.volume))} vol.
      </span>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Rules</summary>
        {isOpen && <Rules market={market} />}
      </details>
    </li>
  );
};
