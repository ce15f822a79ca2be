import type { Category, Market, Page } from 'ctf-exchange-client';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { client } from './exchange';

/** Questions of markets seen so far: orders and positions name markets by id alone. */
const seen = new Map<string, Market>();
const SEEN_MAX = 500;

export function remember(markets: readonly Market[]): void {
  if (seen.size > SEEN_MAX) seen.clear();
  for (const market of markets) seen.set(market.id, market);
}

export const remembered = (id: string): Market | undefined => seen.get(id);

export interface ListQuery {
  readonly words: string;
  readonly category: string | null;
}

export interface MarketList {
  /** Null until the first answer. */
  readonly markets: readonly Market[] | null;
  readonly hasMore: boolean;
  readonly isFailed: boolean;
  more(): void;
}

const PAGE = 30;
const PAGE_MAX = 100;
/** Chances in the list follow within this time; the market shown is live. */
const REFRESH_MS = 5_000;
const TYPING_MS = 180;

/** Asked for before anything is drawn; the first list is this one. */
let early: Promise<Page<Market>> | null = client.markets({ limit: PAGE });
early.catch(() => undefined);

/** The list that fits the search, kept fresh while the page is looked at. */
export function useMarketList({ words, category }: ListQuery): MarketList {
  const [limit, setLimit] = useState(PAGE);
  const [answer, setAnswer] = useState<Pick<MarketList, 'markets' | 'hasMore' | 'isFailed'>>({
    markets: null,
    hasMore: false,
    isFailed: false,
  });
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    let isCurrent = true;
    /** Whether this very list was shown before. */
    let placed = false;
    const query = {
      limit,
      ...(words === '' ? {} : { q: words }),
      ...(category === null ? {} : { category }),
    };
    const ask = (): void => {
      const asked = early ?? client.markets(query);
      early = null;
      asked.then(
        ({ data, nextCursor }) => {
          if (!isCurrent) return;
          remember(data);
          const hasMore = nextCursor !== null && limit < PAGE_MAX;
          setAnswer((now) => ({
            markets: keepPlaces(placed ? now.markets : null, data),
            hasMore,
            isFailed: false,
          }));
          placed = true;
        },
        () => {
          if (isCurrent) setAnswer((now) => ({ ...now, isFailed: true }));
        },
      );
    };
    const first = isFirst.current ? undefined : setTimeout(ask, TYPING_MS);
    if (isFirst.current) ask();
    isFirst.current = false;
    const timer = setInterval(() => document.visibilityState === 'visible' && ask(), REFRESH_MS);
    return () => {
      isCurrent = false;
      clearTimeout(first);
      clearInterval(timer);
    };
  }, [words, category, limit]);
  return { ...answer, more: () => setLimit((now) => Math.min(now + PAGE, PAGE_MAX)) };
}

/** A list that is looked at does not move under the pointer: what was there stays where it was, what is new comes last. */
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
