import type { PageSize } from '../../../wire/pages';

/** A wallet's own books, those that others may read, and the wallets of a market. */
export const PORTFOLIO_PATHS = {
  myPositions: '/me/positions',
  myPortfolio: '/me/portfolio',
  myTrades: '/me/trades',
  myActivity: '/me/activity',
  positions: '/profiles/{address}/positions',
  portfolio: '/profiles/{address}/portfolio',
  holders: '/markets/{id}/holders',
  marketActivity: '/markets/{id}/activity',
  leaderboard: '/leaderboard',
} as const;

/** Each trade of a page costs Redis its match, two orders and two profiles. */
export const ACTIVITY_PAGE: PageSize = { usual: 20, most: 50 };
/** The holders in one answer. */
export const HOLDERS_MAX = 50;
/** The wallets of the leaderboard; the worker ranks no more than the most. */
export const LEADERS_PAGE: PageSize = { usual: 20, most: 100 };
