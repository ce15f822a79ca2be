import { TIMEFRAMES } from '../../../wire/answers/history';
import { OWN_TRADE } from '../../../wire/documents/openapi/examples/traders';
import { cursor, limit, type Operations, period, query } from '../../../wire/documents/openapi/operation';
import { choice, text } from '../../../wire/documents/openapi/schema';
import { PAGE_SIZES } from '../../../wire/pages';
import { ACTIVITY, HOLDERS, LEADERBOARD, MARKET_TRADE, PORTFOLIO, POSITION } from './examples';
import { ACTIVITY_PAGE, LEADERS_PAGE, PORTFOLIO_PATHS } from './paths';

const ofMarket = query('marketId', 'Only this market: id, slug or condition id.', text(), '81cqi70o');
const paged = [limit(PAGE_SIZES.journal), cursor];
const pageOf = (schema: string, description: string, example: unknown) => ({
  description,
  schema,
  example: { data: [example], nextCursor: null },
});

const POSITIONS = {
  tag: 'Account',
  limited: true,
  parameters: [
    query(
      'status',
      'Only positions that still hold tokens, or only those that do not.',
      choice(['open', 'closed']),
      'open',
    ),
    ofMarket,
    ...paged,
  ],
  success: pageOf('PositionPage', 'A page of positions.', POSITION),
} as const;

const VALUE = {
  tag: 'Account',
  limited: true,
  parameters: [query('timeframe', 'Default `1d`.', choice(TIMEFRAMES), '1w')],
  success: { description: 'The portfolio.', schema: 'Portfolio', example: PORTFOLIO },
} as const;

const BY_CONSENT =
  'Refused with FORBIDDEN unless the wallet lets everybody read it (`portfolioPublic` of its profile).';

/** A wallet's own books, those that others may read, and the wallets of a market. */
export const PORTFOLIO_OPERATIONS: Operations = {
  [`GET ${PORTFOLIO_PATHS.myPositions}`]: {
    ...POSITIONS,
    id: 'listMyPositions',
    summary: 'Positions, newest first',
    description:
      'One position for each outcome that the wallet has ever held, by average cost: a sale removes its share of the cost. A split or a merge divides its collateral at the price that the market shows in that moment, or in halves without one. Fees are part of the cost and of the proceeds.',
    bearer: 'required',
  },
  [`GET ${PORTFOLIO_PATHS.positions}`]: {
    ...POSITIONS,
    id: 'listPositions',
    summary: 'Positions of another wallet, newest first',
    description: `As \`GET /me/positions\`. ${BY_CONSENT}`,
    codes: ['FORBIDDEN'],
  },
  [`GET ${PORTFOLIO_PATHS.myPortfolio}`]: {
    ...VALUE,
    id: 'getMyPortfolio',
    summary: 'What the wallet is worth, and was',
    description:
      'The value of cash, open orders and positions, the profit or loss, and the value over time: at the end of each bucket of the timeframe, with the last price of each market at that moment. The history goes back over the latest 5,000 lines of `GET /me/activity` at most, and counts the first grant as always there: with paper funds a wallet that has done nothing yet is worth as much. A request counts as 10 reads.',
    bearer: 'required',
    codes: ['INVALID_TIMEFRAME'],
  },
  [`GET ${PORTFOLIO_PATHS.portfolio}`]: {
    ...VALUE,
    id: 'getPortfolio',
    summary: 'What another wallet is worth, and was',
    description: `As \`GET /me/portfolio\`. ${BY_CONSENT}`,
    codes: ['INVALID_TIMEFRAME', 'FORBIDDEN'],
  },
  [`GET ${PORTFOLIO_PATHS.myTrades}`]: {
    id: 'listMyTrades',
    tag: 'Account',
    summary: "The wallet's trades, newest first or oldest first",
    description:
      'Each line has the public trade, in the terms of its taker, the role of the wallet, and in `own` the side, outcome, price and fee of the wallet itself. A wallet that trades with itself has two lines.',
    bearer: 'required',
    limited: true,
    parameters: [ofMarket, ...paged, ...period],
    success: pageOf('OwnTradePage', 'A page of trades.', OWN_TRADE),
  },
  [`GET ${PORTFOLIO_PATHS.myActivity}`]: {
    id: 'listMyActivity',
    tag: 'Account',
    summary: 'Changes of the balances, newest first or oldest first',
    description:
      'The first grant, trades, splits, merges, payments of the faucet and payouts. The `changes` of all lines add up to the balances, but for a wallet that has done nothing yet: its balances show the first grant already, which has no line before the first order, split, faucet claim or raised nonce. The grant of a wallet that an older version saw first has none, either. With funds on a chain, what the wallet splits, merges and redeems itself is there once it is final; transfers of its own are not. Orders that did not trade are in `GET /me/orders`.',
    bearer: 'required',
    limited: true,
    parameters: [ofMarket, ...paged, ...period],
    success: pageOf('ActivityPage', 'A page of lines.', ACTIVITY),
  },
  [`GET ${PORTFOLIO_PATHS.holders}`]: {
    id: 'listHolders',
    tag: 'Markets',
    summary: 'The largest holders of an outcome',
    description:
      'The 50 wallets with the most tokens, largest first; those of open orders count. The answer contains everything that happened before the request. A wallet that hides itself (`hidden` of its profile) stays in the list without address and username. With funds on a chain, tokens that came or left by a transfer are not counted. After a payout nobody holds tokens.',
    limited: true,
    parameters: [query('outcomeIndex', '0 is Yes, 1 is No.', { ...choice(['0', '1']), default: '0' }, '0')],
    success: { description: 'The holders.', schema: 'Holders', example: HOLDERS },
  },
  [`GET ${PORTFOLIO_PATHS.marketActivity}`]: {
    id: 'listMarketActivity',
    tag: 'Markets',
    summary: 'Trades and the wallets that made them, newest first',
    description:
      'The trades of `GET /markets/{id}/trades`, each with its taker and its maker. A wallet that hides itself (`hidden` of its profile) has neither address nor username here and is no `failedWallet`; its orders can still be read by their hashes, which name their maker.',
    limited: true,
    parameters: [limit(ACTIVITY_PAGE), cursor],
    success: pageOf('MarketTradePage', 'A page of trades.', MARKET_TRADE),
  },
  [`GET ${PORTFOLIO_PATHS.leaderboard}`]: {
    id: 'getLeaderboard',
    tag: 'Account',
    summary: 'The wallets that gained most this week',
    description:
      'Only wallets that let everybody read their portfolio (`portfolioPublic` of the profile) and do not hide themselves (`hidden`) are ranked; one that takes this back disappears at once. The gain is counted as `pnl.today` of `GET /me/portfolio`, since Monday, 00:00 UTC. Of equal gains the one with the larger volume comes first. A worker ranks them again and again, 200 wallets every 10 seconds; `asOf` is when it began the ranking that is shown, and is null while the week has none. A wallet that neither traded nor gained is not in it, nor one with more than 20,000 lines of `GET /me/activity` since Monday.',
    limited: true,
    parameters: [limit(LEADERS_PAGE)],
    success: { description: 'The leaderboard.', schema: 'Leaderboard', example: LEADERBOARD },
  },
};
