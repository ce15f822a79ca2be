import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import '../people-words';
import type { MarketEvent } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { client } from '../exchange';
import { isOver } from '../exchange-state';
import { remember } from '../market-list-data';
import { nameOf } from '../outcome-names';
import { inPage, linkTo } from '../route';
import { aboutPips, microOf, percent, pipsOf, roundly } from '../units';
import { statusWord } from './market-list';
import { Notice, Skeleton } from './notice';

const REFRESH_MS = 5_000;

/** The markets of an event together, each with a link to trade it. */
export const EventPage = ({ slug }: { readonly slug: string }) => {
  const [event, setEvent] = useState<MarketEvent | 'missing' | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const ask = (): void =>
      void client.event(slug).then(
        (found) => {
          remember(found.markets);
          if (isCurrent) setEvent(found);
        },
        () => isCurrent && setEvent((now) => now ?? 'missing'),
      );
    ask();
    const timer = setInterval(ask, REFRESH_MS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, [slug]);
  if (event === 'missing') return <Notice title="Event not found">Choose a market from the list.</Notice>;
  if (!event) return <Skeleton rows={5} />;
  return (
    <main class="event-page">
      <h1 class="head-question">{event.title}</h1>
      <ul class="card event-rows">
        {event.markets.map((market) => (
          <li key={market.id} class="event-row" data-testid="event-market">
            <a href={linkTo(market.slug)} onClick={inPage(linkTo(market.slug))}>
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
