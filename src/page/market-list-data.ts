import type { Category, Market, Page } from 'ctf-exchange-client';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useCell } from './cell';
import { client } from './exchange';
import { failureWords } from './found';
import { asked, type ListQuery, listQuery } from './list-query';
import { watchlist } from './watchlist';

/** Questions of all markets seen so far, because orders and positions contain only the id. */
const seen = new Map<string, Market>();
const SEEN_MAX = 500;

export function remember(markets: readonly Market[]): void {
  if (seen.size > SEEN_MAX) seen.clear();
  for (const market of markets) seen.set(market.id, market);
}

export const remembered = (id: string): Market | undefined => seen.get(id);

export interface MarketList {
  /** Null until the first answer. */
  readonly markets: readonly Market[] | null;
  readonly hasMore: boolean;
  /** Why the list could not be read the last time. */
  readonly failure: string | null;
  more(): void;
}

const PAGE = 40;
const PAGE_MAX = 100;
/** The largest delay of chances in the list; those of the chosen market are live. */
const REFRESH_MS = 5_000;
const TYPING_MS = 180;

type Answer = Pick<MarketList, 'markets' | 'hasMore' | 'failure'>;
const NOTHING: Answer = { markets: null, hasMore: false, failure: null };

/** Requested before anything is drawn; the first list uses it. */
let early: Promise<Page<Market>> | null =
  listQuery.get().shelf === 'WATCHED' ? null : client.markets({ ...asked(listQuery.get()), limit: PAGE });
early?.catch(() => undefined);

/** The first `wanted` rows, in as many requests as needed. */
async function rowsOf(query: ListQuery, wanted: number, watched: readonly string[]): Promise<Page<Market>> {
  if (query.shelf === 'WATCHED') {
    const found = await Promise.all(watched.map((id) => client.market(id).catch(() => null)));
    const fits = (market: Market | null): market is Market =>
      market?.question.toLowerCase().includes(query.words.toLowerCase()) ?? false;
    return { data: found.filter(fits).reverse(), nextCursor: null };
  }
  const data: Market[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(PAGE_MAX, wanted - data.length);
    const page: Page<Market> = await client.markets({ ...asked(query), limit, cursor: cursor ?? undefined });
    data.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null && data.length < wanted);
  return { data, nextCursor: cursor };
}

/** The list for the search, refreshed while the page is visible; it grows by a page at a time. */
export function useMarketList(query: ListQuery): MarketList {
  const [wanted, setWanted] = useState(PAGE);
  const [answer, setAnswer] = useState<Answer>(NOTHING);
  const watched = useCell(watchlist);
  const key = JSON.stringify([query, query.shelf === 'WATCHED' ? watched : null]);
  const [lastKey, setLastKey] = useState(key);
  if (lastKey !== key) {
    setLastKey(key);
    setWanted(PAGE);
  }
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    let isCurrent = true;
    /** Whether the same list was shown before. */
    let placed = wanted > PAGE;
    const ask = (): void => {
      const asking = early ?? rowsOf(query, wanted, watched);
      early = null;
      asking.then(
        ({ data, nextCursor }) => {
          if (!isCurrent) return;
          remember(data);
          const before = placed;
          placed = true;
          setAnswer((now) => ({
            markets: keepPlaces(before ? now.markets : null, data),
            hasMore: nextCursor !== null,
            failure: null,
          }));
        },
        (error) => isCurrent && setAnswer((now) => ({ ...now, failure: failureWords(error) })),
      );
    };
    const wait = isFirst.current || wanted > PAGE ? 0 : TYPING_MS;
    const first = wait === 0 ? undefined : setTimeout(ask, wait);
    if (wait === 0) ask();
    isFirst.current = false;
    const timer = setInterval(() => document.visibilityState === 'visible' && ask(), REFRESH_MS);
    return () => {
      isCurrent = false;
      clearTimeout(first);
      clearInterval(timer);
    };
  }, [key, wanted]);
  return useMemo(
    () => ({ ...answer, more: () => setWanted((answer.markets?.length ?? 0) + PAGE) }),
    [answer],
  );
}

/** A visible list does not move under the pointer: rows keep their places, and new rows come last. */
function keepPlaces(before: readonly Market[] | null, now: readonly Market[]): readonly Market[] {
  if (!before) return now;
  const fresh = new Map(now.map((market) => [market.id, market]));
  const kept = before.map(({ id }) => fresh.get(id)).filter((market) => market !== undefined);
  const ids = new Set(kept.map(({ id }) => id));
  return [...kept, ...now.filter(({ id }) => !ids.has(id))];
}

export function useCategories(): readonly Category[] {
  const [categories, setCategories] = useState<readonly Category[]>([]);
  useEffect(() => {
    client.categories().then(setCategories, () => undefined);
  }, []);
  return categories;
}
