import type { Category, Market } from 'ctf-exchange-client';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useCell, usePart } from '../cell';
import { isOver } from '../exchange-state';
import { type ListQuery, listQuery, PLAIN, SHELVES, SORTS } from '../list-query';
import { dayChange, shownChance } from '../market-data';
import type { MarketList as List } from '../market-list-data';
import { nameOf } from '../outcome-names';
import { inPage, linkTo } from '../route';
import {
  aboutPips,
  lasting,
  microOf,
  nowMs,
  numberWords,
  percent,
  pipsOf,
  pointsOf,
  roundly,
} from '../units';
import { toggleWatched, watchlist } from '../watchlist';
import { SearchIcon, StarIcon } from './icons';
import { Notice, Skeleton } from './notice';

interface Props {
  readonly list: List;
  readonly categories: readonly Category[];
  readonly chosen: string | null;
}

const ROWS_AT_FIRST = 8;

const change = (part: Partial<ListQuery>): void => listQuery.set({ ...listQuery.get(), ...part });

export const MarketList = ({ list, categories, chosen }: Props) => (
  <nav class="markets" aria-label="Markets">
    <Find categories={categories} />
    <Rows list={list} chosen={chosen} query={useCell(listQuery)} />
  </nav>
);

/** Search, filters and order of the markets. */
export const Find = ({ categories }: Pick<Props, 'categories'>) => {
  const query = useCell(listQuery);
  return (
    <div class="markets-find">
      <label class="search">
        <SearchIcon />
        <span class="hidden">Search markets</span>
        <input
          id="search"
          type="search"
          placeholder="Search markets"
          value={query.words}
          maxLength={100}
          onInput={({ currentTarget }) => change({ words: currentTarget.value.trim() })}
        />
      </label>
      <div class="markets-choose">
        <Select label="Show" value={query.shelf} options={SHELVES} onChoose={(shelf) => change({ shelf })} />
        <Select label="Sort by" value={query.sort} options={SORTS} onChoose={(sort) => change({ sort })} />
      </div>
      <Categories categories={categories} chosen={query.category} />
    </div>
  );
};

interface SelectProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [T, string])[];
  onChoose(value: T): void;
}

const Select = <T extends string>({ label, value, options, onChoose }: SelectProps<T>) => (
  <select
    aria-label={label}
    value={value}
    onChange={({ currentTarget }) => onChoose(currentTarget.value as T)}
  >
    {options.map(([one, name]) => (
      <option key={one} value={one}>
        {name}
      </option>
    ))}
  </select>
);

interface CategoriesProps {
  readonly categories: readonly Category[];
  readonly chosen: string | null;
}

const Categories = ({ categories, chosen }: CategoriesProps) => {
  const chip = (slug: string | null, name: string) => (
    <button
      key={slug ?? ''}
      type="button"
      class="chip"
      aria-pressed={chosen === slug}
      onClick={() => change({ category: slug })}
    >
      {name}
    </button>
  );
  return (
    <fieldset class="chips" aria-label="Categories">
      {chip(null, 'All')}
      {categories.map(({ slug, name }) => chip(slug, name))}
    </fieldset>
  );
};

interface RowsProps {
  readonly list: List;
  readonly chosen: string | null;
  readonly query: ListQuery;
}

/** Why there is nothing to show; null where there is. */
export const nothingOf = (
  { markets, failure }: Pick<List, 'markets' | 'failure'>,
  query: ListQuery,
): JSX.Element | null => {
  if (!markets) {
    return failure !== null ? (
      <Notice title="The markets could not be loaded">{failure}</Notice>
    ) : (
      <Skeleton rows={ROWS_AT_FIRST} tall />
    );
  }
  if (markets.length === 0) {
    if (query.shelf === 'WATCHED')
      return <Notice title="Nothing watched yet">The star beside a market puts it here.</Notice>;
    return (
      <Notice title="No market found">
        <button type="button" class="link" onClick={() => listQuery.set(PLAIN)}>
          Show all open markets
        </button>
      </Notice>
    );
  }
  return null;
};

const Rows = ({ list, chosen, query }: RowsProps) => {
  const { markets, hasMore, more } = list;
  const nothing = nothingOf(list, query);
  if (nothing || !markets) return nothing;
  return (
    <ul class="market-rows">
      {markets.map((market) => (
        <Row key={market.id} market={market} isChosen={market.id === chosen} />
      ))}
      {hasMore && <More onReached={more} count={markets.length} />}
    </ul>
  );
};

/** The end of the loaded list: scrolling near it loads more. */
export const More = ({ onReached, count }: { onReached(): void; readonly count: number }) => {
  const element = useRef<HTMLLIElement>(null);
  useEffect(() => {
    const target = element.current;
    if (!target) return;
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && onReached(),
      { rootMargin: '600px' },
    );
    observer.observe(target);
    return () => observer.disconnect();
  }, [count]);
  return (
    <li ref={element} class="market-more">
      <button type="button" class="button button-quiet" onClick={onReached}>
        Show more
      </button>
    </li>
  );
};

const Row = ({ market, isChosen }: { readonly market: Market; readonly isChosen: boolean }) => {
  // Null for all rows but one: the others stay as they are when the chance moves.
  const live = usePart(shownChance, (shown) => (shown?.id === market.id ? shown.pips : null));
  const element = useRef<HTMLLIElement>(null);
  const told = market.outcomes[0]?.price ?? null;
  const chance = live ?? (told === null ? null : aboutPips(told));
  useEffect(() => {
    if (isChosen) element.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isChosen]);
  return (
    <li ref={element} class={isChosen ? 'market-item market-chosen' : 'market-item'}>
      <a
        class="market-row"
        href={linkTo(market.slug)}
        aria-current={isChosen ? 'page' : undefined}
        data-testid="market"
        data-market-id={market.id}
        onClick={inPage(linkTo(market.slug))}
      >
        <span class="market-row-question" dir="auto">
          {market.question}
        </span>
        <span class="market-row-chance">{standingOf(market, chance)}</span>
        <span class="market-row-facts">
          {statusWord(market) ?? market.category} · {roundly(microOf(market.volume))} vol.{endsWord(market)}
        </span>
        {!isOver(market) && <Change change={dayChange(chance, market)} />}
      </a>
      <Star market={market} />
    </li>
  );
};

export const Star = ({ market }: { readonly market: Market }) => (
  <button
    type="button"
    class="star"
    aria-pressed={usePart(watchlist, (ids) => ids.includes(market.id))}
    aria-label={`Watch ${market.question}`}
    onClick={() => toggleWatched(market.id)}
  >
    <StarIcon />
  </button>
);

/** The result, or the chance of the first outcome. */
export function standingOf(market: Market, chance: number | null): string {
  if (isOver(market)) return endWord(market);
  return chance === null ? '–' : percent(chance, pipsOf(market.tickSize));
}

/** Change over 24 hours, in percentage points. */
export const Change = ({ change }: { readonly change: number }) => {
  const points = pointsOf(change);
  if (points === 0) return null;
  return (
    <span class={points > 0 ? 'market-row-change up' : 'market-row-change down'}>
      {points > 0 ? '▲' : '▼'} {numberWords(Math.abs(points))}
      <span class="hidden"> points today</span>
    </span>
  );
};

const DAY_MS = 86_400_000;

/** Shown only when the time is near. */
export function endsWord({ closesAt, status }: Market): string {
  const leftMs = Date.parse(closesAt ?? '') - nowMs();
  return status === 'OPEN' && leftMs > 0 && leftMs < DAY_MS ? ` · ends in ${lasting(leftMs)}` : '';
}

const endWord = (market: Market): string =>
  market.resolution?.outcomeIndex == null ? 'Void' : `${nameOf(market, market.resolution.outcomeIndex)} ✓`;

/** The reason why a market does not trade, in one word; null while it trades. */
export function statusWord(market: Market): string | null {
  switch (market.status) {
    case 'OPEN':
      return null;
    case 'RESOLVED':
      return `Resolved: ${nameOf(market, market.resolution?.outcomeIndex ?? 0)}`;
    case 'VOIDED':
      return 'Voided';
    case 'PAUSED':
      return 'Paused';
    default:
      return 'Closed';
  }
}
