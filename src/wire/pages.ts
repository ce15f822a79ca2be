/** The number of rows of a page: by default, and the largest `limit`. */
export interface PageSize {
  readonly usual: number;
  readonly most: number;
}

/** The limits of every list; OpenAPI shows them. */
export const PAGE_SIZES = {
  markets: { usual: 20, most: 100 },
  trades: { usual: 50, most: 500 },
  fills: { usual: 50, most: 500 },
  candles: { usual: 200, most: 1_000 },
  orders: { usual: 50, most: 200 },
  comments: { usual: 50, most: 200 },
  journal: { usual: 50, most: 200 },
  settlements: { usual: 50, most: 200 },
  actions: { usual: 50, most: 200 },
} as const satisfies Record<string, PageSize>;

/** The values by which the list of markets can be sorted. */
export const MARKET_SORTS = ['volume24h', 'volume', 'liquidity', 'createdAt', 'closesAt'] as const;
export type MarketSort = (typeof MARKET_SORTS)[number];
