import type { MarketSort, MarketsQuery } from 'ctf-exchange-client';
import { type Cell, cell } from './cell';
import { keepInAddress } from './route';

/** The group of markets that the list shows; `WATCHED` are those of the watchlist, in any state. */
export type Shelf = 'OPEN' | 'RESOLVED' | 'ALL' | 'WATCHED';

export interface ListQuery {
  readonly words: string;
  readonly category: string | null;
  readonly shelf: Shelf;
  readonly sort: MarketSort;
}

export const SHELVES: readonly (readonly [Shelf, string])[] = [
  ['OPEN', 'Open'],
  ['RESOLVED', 'Resolved'],
  ['ALL', 'All'],
  ['WATCHED', 'Watchlist'],
];
export const SORTS: readonly (readonly [MarketSort, string])[] = [
  ['volume24h', 'Trending'],
  ['volume', 'Volume'],
  ['createdAt', 'New'],
  ['closesAt', 'Ending'],
  ['liquidity', 'Liquidity'],
];
export const PLAIN: ListQuery = { words: '', category: null, shelf: 'OPEN', sort: 'volume24h' };

const among = <T extends string>(
  choices: readonly (readonly [T, string])[],
  text: string | null,
  usual: T,
): T => choices.find(([value]) => value === text)?.[0] ?? usual;

function inAddress(): ListQuery {
  const query = new URLSearchParams(location.search);
  const found: ListQuery = {
    words: query.get('q') ?? '',
    category: query.get('category'),
    shelf: among(SHELVES, query.get('show'), PLAIN.shelf),
    sort: among(SORTS, query.get('sort'), PLAIN.sort),
  };
  return JSON.stringify(found) === JSON.stringify(PLAIN) ? PLAIN : found;
}

export const listQuery: Cell<ListQuery> = cell(inAddress());

/** Puts the filters into the address, so that a list can be shared. */
listQuery.subscribe(() => {
  const { words, category, shelf, sort } = listQuery.get();
  const query = new URLSearchParams();
  if (words !== '') query.set('q', words);
  if (category !== null) query.set('category', category);
  if (shelf !== PLAIN.shelf) query.set('show', shelf);
  if (sort !== PLAIN.sort) query.set('sort', sort);
  keepInAddress(query);
});

/** The same filters as a query to the exchange. */
export const asked = ({ words, category, shelf, sort }: ListQuery): MarketsQuery => ({
  ...(shelf === 'ALL' || shelf === 'WATCHED' ? {} : { status: shelf }),
  ...(words === '' ? {} : { q: words }),
  ...(category === null ? {} : { category }),
  ...(sort === PLAIN.sort ? {} : { sort }),
});
