import type { Category, Market } from 'ctf-exchange-client';
import type { TargetedMouseEvent } from 'preact';
import type { MarketList as List, ListQuery } from '../market-list-data';
import { go, linkTo } from '../route';
import { aboutPips, microOf, PIPS_ONE, percent, roundly } from '../units';
import { SearchIcon } from './icons';
import { Notice, Skeleton } from './notice';

interface Props {
  readonly list: List;
  readonly query: ListQuery;
  readonly categories: readonly Category[];
  readonly chosen: string | null;
  onQuery(query: ListQuery): void;
}

const ROWS_AT_FIRST = 6;

export const MarketList = ({ list, query, categories, chosen, onQuery }: Props) => (
  <nav class="markets" aria-label="Markets">
    <div class="markets-find">
      <label class="search">
        <SearchIcon />
        <span class="hidden">Search markets</span>
        <input
          type="search"
          placeholder="Search markets"
          value={query.words}
          maxLength={100}
          onInput={({ currentTarget }) => onQuery({ ...query, words: currentTarget.value.trim() })}
        />
      </label>
      <Categories categories={categories} query={query} onQuery={onQuery} />
    </div>
    <Rows list={list} chosen={chosen} />
  </nav>
);

const Categories = ({ categories, query, onQuery }: Pick<Props, 'categories' | 'query' | 'onQuery'>) => {
  const chip = (slug: string | null, name: string) => (
    <button
      key={slug ?? ''}
      type="button"
      class="chip"
      aria-pressed={query.category === slug}
      onClick={() => onQuery({ ...query, category: slug })}
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

const Rows = ({ list: { markets, hasMore, isFailed, more }, chosen }: Pick<Props, 'list' | 'chosen'>) => {
  if (!markets) {
    return isFailed ? (
      <Notice title="The markets could not be loaded">The page keeps trying. Is this device online?</Notice>
    ) : (
      <Skeleton rows={ROWS_AT_FIRST} tall />
    );
  }
  if (markets.length === 0) {
    return <Notice title="No market found">Try other words, or another category.</Notice>;
  }
  return (
    <ul class="market-rows">
      {markets.map((market) => (
        <Row key={market.id} market={market} isChosen={market.id === chosen} />
      ))}
      {hasMore && (
        <li>
          <button type="button" class="button button-quiet" onClick={more}>
            Show more
          </button>
        </li>
      )}
    </ul>
  );
};

/** Into a new tab where the reader asks for one. */
const isPlain = ({ button, ctrlKey, metaKey, shiftKey }: TargetedMouseEvent<HTMLElement>): boolean =>
  button === 0 && !ctrlKey && !metaKey && !shiftKey;

const Row = ({ market, isChosen }: { readonly market: Market; readonly isChosen: boolean }) => {
  const chance = market.outcomes[0]?.price ?? null;
  return (
    <li>
      <a
        class="market-row"
        href={linkTo(market.slug)}
        aria-current={isChosen ? 'page' : undefined}
        data-testid="market"
        data-market-id={market.id}
        onClick={(event) => {
          if (!isPlain(event)) return;
          event.preventDefault();
          go(market.slug);
        }}
      >
        <span class="market-row-question">{market.question}</span>
        <span class="market-row-chance">{chance === null ? '–' : percent(aboutPips(chance))}</span>
        <span class="market-row-facts">
          <span>{statusWord(market) ?? market.category}</span>
          <span>{roundly(microOf(market.volume))} vol.</span>
        </span>
        <span
          class="market-row-bar"
          style={{ '--part': chance === null ? 0 : aboutPips(chance) / PIPS_ONE }}
          aria-hidden="true"
        />
      </a>
    </li>
  );
};

/** The reason why a market does not trade, in a word; null while it trades. */
export function statusWord({ status, resolution }: Market): string | null {
  switch (status) {
    case 'OPEN':
      return null;
    case 'RESOLVED':
      return `Resolved: ${resolution?.outcomeIndex === 1 ? 'No' : 'Yes'}`;
    case 'VOIDED':
      return 'Voided';
    case 'PAUSED':
      return 'Paused';
    default:
      return 'Closed';
  }
}
