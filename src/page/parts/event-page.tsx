import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import '../people-words';
import type { MarketEvent } from 'ctf-exchange-client';
import { client } from '../exchange';
import { isOver } from '../exchange-state';
import { useFound } from '../found';
import { remember } from '../market-list-data';
import { nameOf } from '../outcome-names';
import { inPage, linkTo } from '../route';
import { aboutPips, microOf, percent, pipsOf, roundly } from '../units';
import { statusWord } from './market-list';
import { Notice, Skeleton } from './notice';

const REFRESH_MS = 5_000;

async function askFor(slug: string): Promise<MarketEvent> {
  const event = await client.event(slug);
  remember(event.markets);
  return event;
}

/** The markets of an event together, each with a link to trade it. */
export const EventPage = ({ slug }: { readonly slug: string }) => {
  const { value: event, isMissing, failure } = useFound(slug, askFor, REFRESH_MS);
  if (isMissing) return <Notice title="Event not found">Choose a market from the list.</Notice>;
  if (!event && failure !== null) return <Notice title="The event could not be loaded">{failure}</Notice>;
  if (!event) return <Skeleton rows={5} />;
  return (
    <main class="event-page" id="content">
      <h1 class="head-question" dir="auto">
        {event.title}
      </h1>
      <ul class="card event-rows">
        {event.markets.map((market) => (
          <li key={market.id} class="event-row" data-testid="event-market">
            <a dir="auto" href={linkTo(market.slug)} onClick={inPage(linkTo(market.slug))}>
              {market.question}
            </a>
            <strong>
              {statusWord(market) ??
                (market.outcomes[0]?.price == null
                  ? '–'
                  : percent(aboutPips(market.outcomes[0].price), pipsOf(market.tickSize)))}
            </strong>
            <span class="hint">
              {isOver(market) ? 'ended' : nameOf(market, 0)} · {roundly(microOf(market.volume))} vol.
            </span>
          </li>
        ))}
      </ul>
    </main>
  );
};
