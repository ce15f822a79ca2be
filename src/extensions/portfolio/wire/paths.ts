/** A wallet's own books. */
export const PORTFOLIO_PATHS = {
  myPositions: '/me/positions',
  myPortfolio: '/me/portfolio',
  myTrades: '/me/trades',
  myActivity: '/me/activity',
} as const;
