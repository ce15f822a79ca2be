import type { MarketStatus } from '../exchange/market';
import type { MarketView } from '../store/views';
import { decodePosition, encodePosition, type MarketPosition } from '../wire/cursor';

export const MARKET_SORTS = ['volume24h', 'volume', 'liquidity', 'createdAt', 'closesAt'] as const;
type MarketSort = (typeof MARKET_SORTS)[number];

export interface MarketFilter {
  readonly status: MarketStatus | undefined;
  readonly category: string | undefined;
  readonly tag: string | undefined;
  readonly words: string | undefined;
}

export interface MarketPage {
  readonly sort: MarketSort;
  readonly limit: number;
  readonly cursor: string | null;
}

/** What a market counts in each order; the highest comes first. Soonest to close first, never last. */
const RANKS: Readonly<Record<MarketSort, (market: MarketView) => number>> = {
  volume24h: ({ day }) => day.volumeMicro,
  volume: ({ state }) => state.volumeMicro,
  liquidity: ({ state }) => state.liquidityMicro,
  createdAt: ({ terms }) => terms.createdAtMs,
  closesAt: ({ texts }) => -(texts.closesAtMs ?? Number.MAX_SAFE_INTEGER),
};

/** Drafts are the operator's. */
export const isListed = ({ state }: MarketView): boolean => state.status !== 'DRAFT';

/** One page of the markets that pass the filter; throws INVALID_CURSOR. */
export function pageOf(
  markets: readonly MarketView[],
  filter: MarketFilter,
  { sort, limit, cursor }: MarketPage,
): { markets: MarketView[]; next: string | null } {
  const after = cursor === null ? null : decodePosition(cursor, sort);
  const positionOf = (market: MarketView): MarketPosition => ({
    sort,
    rank: RANKS[sort](market),
    createdAtMs: market.terms.createdAtMs,
    id: market.terms.id,
  });
  const rows = markets
    .filter((market) => isListed(market) && passes(market, filter))
    .map((market) => ({ market, position: positionOf(market) }))
    .filter(({ position }) => after === null || compare(after, position) < 0)
    .sort((a, b) => compare(a.position, b.position));
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    markets: shown.map(({ market }) => market),
    next: last && rows.length > limit ? encodePosition(last.position) : null,
  };
}

/** Below zero when `a` stands before `b`: the higher rank, then the newer, then by id. */
function compare(a: MarketPosition, b: MarketPosition): number {
  return b.rank - a.rank || b.createdAtMs - a.createdAtMs || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function passes(
  { terms, texts, state }: MarketView,
  { status, category, tag, words }: MarketFilter,
): boolean {
  return (
    (status === undefined || state.status === status) &&
    (category === undefined || texts.category === category) &&
    (tag === undefined || texts.tags.includes(tag)) &&
    (words === undefined || hasWords(`${texts.question} ${texts.description} ${terms.slug}`, words))
  );
}

/** Every word of the search occurs, in any order and case. */
function hasWords(text: string, words: string): boolean {
  const lower = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

export interface Category {
  readonly slug: string;
  readonly name: string;
  readonly count: number;
}

/** The fullest first. */
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
