import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import type { Category, Market, OutcomeIndex, PricePoint } from 'ctf-exchange-client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useWallet } from '../account-data';
import { useCell } from '../cell';
import { endOf } from '../chart-history';
import { client } from '../exchange';
import { isOver } from '../exchange-state';
import { listQuery } from '../list-query';
import { dayChange } from '../market-data';
import type { MarketList as List } from '../market-list-data';
import { isNarrow } from '../narrow';
import { nameOf } from '../outcome-names';
import { go, inPage, LEADERS, linkTo, linkToEvent, openSheet } from '../route';
import { prepare } from '../ticket-state';
import { aboutPips, cents, microOf, PIPS_ONE, pipsOf, priceOf, roundly } from '../units';
import { Change, endsWord, Find, More, nothingOf, Star, standingOf, statusWord } from './market-list';

interface Props {
  readonly list: List;
  readonly categories: readonly Category[];
}

/** All markets as cards, each with the way to trade it. */
export const MarketsPage = ({ list, categories }: Props) => {
  const query = useCell(listQuery);
  const isStranger = useWallet() === null;
  return (
    <main class="markets-page" id="content">
      <h1 class="head-question">Markets</h1>
      {isStranger && (
        <p class="markets-words">
          Pick a side of a question, pay its price in cents, and get $1 a share if it happens.
        </p>
      )}
      <p>
        <a href={LEADERS} onClick={inPage(LEADERS)}>
          Leaderboard of the week
        </a>
      </p>
      <Find categories={categories} />
      {nothingOf(list, query) ?? (
        <ul class="market-grid">
          {grouped(list.markets ?? []).map((markets) =>
            markets.length > 1 && markets[0]?.event ? (
              <EventCard key={markets[0].event.slug} event={markets[0].event} markets={markets} />
            ) : (
              markets.map((market) => <Card key={market.id} market={market} />)
            ),
          )}
          {list.hasMore && <More onReached={list.more} count={list.markets?.length ?? 0} />}
        </ul>
      )}
    </main>
  );
};

const toMarket = ({ slug }: Market): void => go(slug);

/** The markets of an event stand together, where its first one is. */
function grouped(markets: readonly Market[]): readonly (readonly Market[])[] {
  const groups = new Map<string, Market[]>();
  for (const market of markets) {
    const key = market.event ? `event ${market.event.slug}` : market.id;
    const group = groups.get(key);
    if (group) group.push(market);
    else groups.set(key, [market]);
  }
  return [...groups.values()];
}

/** Markets of an event that its card names. */
const LEADING = 3;

interface EventCardProps {
  readonly event: NonNullable<Market['event']>;
  readonly markets: readonly Market[];
}

/** An event with its likeliest markets. */
const EventCard = ({ event, markets }: EventCardProps) => {
  const link = linkToEvent(event.slug);
  const volume = markets.reduce((sum, market) => sum + microOf(market.volume), 0);
  return (
    <li class="card market-card" data-testid="event-card">
      <a class="market-card-question" dir="auto" href={link} onClick={inPage(link)}>
        {event.title}
      </a>
      <ul class="event-leaders">
        {byChance(markets)
          .slice(0, LEADING)
          .map((market) => (
            <li key={market.id}>
              <a dir="auto" href={linkTo(market.slug)} onClick={inPage(linkTo(market.slug))}>
                {market.question}
              </a>
              <strong>{standingOf(market, listedChance(market))}</strong>
            </li>
          ))}
      </ul>
      <p class="hint">
        {markets.length} markets · {roundly(volume)} vol.
      </p>
    </li>
  );
};

/** In pips, as the list of markets has it; null before the first price. */
export function listedChance({ outcomes }: Market): number | null {
  const price = outcomes[0]?.price ?? null;
  return price === null ? null : aboutPips(price);
}

/** Likeliest first; those that are over come last. */
export const byChance = (markets: readonly Market[]): readonly Market[] =>
  markets.toSorted(
    (a, b) => Number(isOver(a)) - Number(isOver(b)) || (listedChance(b) ?? -1) - (listedChance(a) ?? -1),
  );

const Card = ({ market }: { readonly market: Market }) => {
  const chance = listedChance(market);
  const link = linkTo(market.slug);
  return (
    <li class="card market-card" data-testid="market-card" data-market-id={market.id}>
      <a class="market-card-question" dir="auto" href={link} onClick={inPage(link)}>
        {market.question}
      </a>
      <Star market={market} />
      <p class="market-card-chance">
        <strong>{standingOf(market, chance)}</strong>
        {!isOver(market) && <Change change={dayChange(chance, market)} />}
      </p>
      <Sparkline market={market} />
      {market.status === 'OPEN' && (
        <p class="market-card-buy">
          <Buy market={market} index={0} onChoose={toMarket} />
          <Buy market={market} index={1} onChoose={toMarket} />
        </p>
      )}
      <p class="hint">
        {statusWord(market) ?? market.category} · {roundly(microOf(market.volume))} vol.{endsWord(market)}
      </p>
    </li>
  );
};

/** The price of an outcome now; an offer of the second outcome is a bid for the first. */
function costOf({ bestAsk, bestBid }: Market, index: OutcomeIndex): number | null {
  if (index === 0) return bestAsk === null ? null : pipsOf(bestAsk);
  return bestBid === null ? null : PIPS_ONE - pipsOf(bestBid);
}

interface BuyProps {
  readonly market: Market;
  readonly index: OutcomeIndex;
  /** Shows the market of the ticket. */
  onChoose(market: Market): void;
}

/** Fills in the ticket, which is a sheet on a phone. */
export const Buy = ({ market, index, onChoose }: BuyProps) => {
  const pips = costOf(market, index);
  const open = (): void => {
    prepare(market.id, { side: 'BUY', outcome: index, shares: '' });
    onChoose(market);
    if (isNarrow.get()) openSheet();
  };
  return (
    <button type="button" class={`button button-soft-${index}`} onClick={open}>
      {nameOf(market, index)} {pips === null ? '' : cents(pips)}
      <span class="hidden">: {market.question}</span>
    </button>
  );
};

const WIDTH = 100;
const HEIGHT = 30;
/** Minimum price range of a sparkline: a market that stood still is a line in the middle. */
const RANGE_MIN = 0.04;

/** The last day, asked for when the card comes into sight. */
const Sparkline = ({ market }: { readonly market: Market }) => {
  const element = useRef<SVGSVGElement>(null);
  const [points, setPoints] = useState<readonly PricePoint[]>([]);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      client.priceHistory(market.id, '1d').then(
        ({ history }) => setPoints([...history, ...endPoint(market)]),
        () => undefined,
      );
    });
    observer.observe(target);
    return () => observer.disconnect();
  }, [market.id]);
  return (
    <svg
      ref={element}
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {points.length > 0 && <polyline points={lineOf(points)} />}
    </svg>
  );
};

/** A resolved market ends with what a share paid. */
function endPoint(market: Market): readonly PricePoint[] {
  const end = endOf(market, 0);
  return end ? [{ t: end.t, p: priceOf(end.pips) }] : [];
}

function lineOf(points: readonly PricePoint[]): string {
  const prices = points.map(({ p }) => Number(p));
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  const range = Math.max(most - least, RANGE_MIN);
  const floor = (least + most - range) / 2;
  // The line of a new market is level.
  const [first = 0] = prices;
  const shown = prices.length > 1 ? prices : [first, first];
  return shown
    .map((price, at) => {
      const x = (at / (shown.length - 1)) * WIDTH;
      const y = HEIGHT - ((price - floor) / range) * HEIGHT;
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(' ');
}
