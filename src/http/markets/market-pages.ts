import type { MarketView } from '../../exchange/facts';
import type { MarketStatus } from '../../exchange/market';
import { decodeWalk, encodeWalk } from '../../wire/cursor';
import type { MarketSort } from '../../wire/pages';

export interface MarketFilter {
  readonly status: MarketStatus | undefined;
  readonly category: string | undefined;
  readonly tag: string | undefined;
  readonly words: string | undefined;
}

export interface MarketPage {
  readonly epoch: string;
  readonly sort: MarketSort;
  readonly limit: number;
  readonly cursor: string | null;
}

/** The value by which each order sorts markets, highest first. Soonest to close comes first, markets without an end last. */
const RANKS: Readonly<Record<MarketSort, (market: MarketView) => number>> = {
  volume24h: ({ day }) => day.volumeMicro,
  volume: ({ state }) => state.volumeMicro,
  liquidity: ({ state }) => state.liquidityMicro,
  createdAt: ({ terms }) => terms.createdAtMs,
  closesAt: ({ texts }) => -(texts.closesAtMs ?? Number.MAX_SAFE_INTEGER),
};

/** Only operators see drafts. */
export const isListed = ({ state }: MarketView): boolean => state.status !== 'DRAFT';

/** The listed markets by each of their names, and by the event that they belong to. */
interface MarketIndex {
  readonly byName: ReadonlyMap<string, MarketView>;
  readonly byEvent: ReadonlyMap<string, readonly MarketView[]>;
}

const indexes = new WeakMap<readonly MarketView[], MarketIndex>();

/** Made once for each state of the list. */
export function indexOf(markets: readonly MarketView[]): MarketIndex {
  const known = indexes.get(markets);
  if (known) return known;
  const byName = new Map<string, MarketView>();
  const byEvent = new Map<string, MarketView[]>();
  for (const market of markets.filter(isListed)) {
    const { slug, id, conditionId, event } = market.terms;
    for (const name of [slug, id, conditionId]) byName.set(name, market);
    if (event) byEvent.set(event.slug, [...(byEvent.get(event.slug) ?? []), market]);
  }
  const made = { byName, byEvent };
  indexes.set(markets, made);
  return made;
}

/**
 * Returns one page of the markets that pass the filter, in the present order, without those that the walk has shown. Throws
 * INVALID_CURSOR. A market's place in `markets` never changes.
 */
export function pageOf(
  markets: readonly MarketView[],
  filter: MarketFilter,
  { epoch, sort, limit, cursor }: MarketPage,
): { markets: MarketView[]; next: string | null } {
  const start = { epoch, sort, count: markets.length, shown: new Set<number>() };
  const walk = cursor === null ? start : decodeWalk(cursor, epoch, sort, markets.length);
  const wanted = filterOf(filter);
  const rank = RANKS[sort];
  const rows = markets
    .slice(0, walk.count)
    .map((market, place) => ({ market, place, rank: rank(market) }))
    .filter(({ market, place }) => !walk.shown.has(place) && isListed(market) && wanted(market))
    .sort((a, b) => b.rank - a.rank || newerFirst(a.market, b.market) || b.place - a.place);
  const page = rows.slice(0, limit);
  const shown = new Set([...walk.shown, ...page.map(({ place }) => place)]);
  return {
    markets: page.map(({ market }) => market),
    next: rows.length > limit ? encodeWalk({ ...walk, shown }) : null,
  };
}

/** The number of pages cached for one state of the list; clients request a few of them all the time. */
const PAGES_MAX = 100;

/**
 * Caches the JSON of pages for as long as the list is unchanged: while nothing trades anywhere, the first page is made
 * once. `target` is the request's, with its query.
 */
export function createPageTexts() {
  let texts = new Map<string, Buffer>();
  let of: readonly MarketView[] | null = null;
  return (markets: readonly MarketView[], target: string, present: () => unknown): Buffer => {
    if (of !== markets || texts.size >= PAGES_MAX) texts = new Map();
    of = markets;
    const made = texts.get(target) ?? Buffer.from(JSON.stringify(present()));
    texts.set(target, made);
    return made;
  };
}

const newerFirst = (a: MarketView, b: MarketView): number => b.terms.createdAtMs - a.terms.createdAtMs;

function filterOf({ status, category, tag, words }: MarketFilter): (market: MarketView) => boolean {
  const search = words === undefined ? [] : plain(words).split(/\s+/).filter(Boolean);
  return (market) =>
    (status === undefined || market.state.status === status) &&
    (category === undefined || market.texts.category === category) &&
    (tag === undefined || market.texts.tags.includes(tag)) &&
    (search.length === 0 || hasWords(searchTextOf(market), search));
}

/** Whether every word of the search occurs, in any order. */
const hasWords = (text: string, words: readonly string[]): boolean =>
  words.every((word) => text.includes(word));

const searchTexts = new WeakMap<MarketView['texts'], string>();

/** The text in which a search looks, made once for each market. */
function searchTextOf({ terms, texts }: MarketView): string {
  const known = searchTexts.get(texts);
  if (known !== undefined) return known;
  const { question, description, category, tags } = texts;
  const made = plain([question, description, terms.slug, category, ...tags, ...terms.outcomeNames].join(' '));
  searchTexts.set(texts, made);
  return made;
}

/** Removes case and accents. */
const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

export interface Category {
  readonly slug: string;
  readonly name: string;
  readonly count: number;
}

/** Sorts the fullest first. */
export function categoriesOf(markets: readonly MarketView[]): Category[] {
  const counts = new Map<string, number>();
  for (const { texts } of markets) counts.set(texts.category, (counts.get(texts.category) ?? 0) + 1);
  return [...counts]
    .map(([slug, count]) => ({ slug, name: titleOf(slug), count }))
    .sort((a, b) => b.count - a.count || (a.slug < b.slug ? -1 : 1));
}

const titleOf = (slug: string): string =>
  slug
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
