import {
  type Cost,
  FILTERED,
  filtered,
  HELD_FILTERED,
  hasOneOf,
  LOOKED,
  pointsOfRows,
  reads,
} from '../../../wire/costs';
import { ROWS_PER_POINT } from '../../../wire/limits';
import { PAGE_SIZES } from '../../../wire/pages';
import { limitOf } from '../../../wire/queries';
import { ACTIVITY_PAGE, PORTFOLIO_PATHS } from './paths';

const PORTFOLIO = 10;
/** A trade of an activity reads a match, two orders and two profiles. */
const TRADES_PER_POINT = 10;
const HOLDERS = 2;
const always = (): boolean => true;
/** All positions of a wallet are in one piece. */
const POSITIONS: Cost = filtered(
  PAGE_SIZES.journal,
  always,
  `1 for each ${ROWS_PER_POINT} positions of the wallet; ${FILTERED} until it is answered`,
);

export const PORTFOLIO_COSTS: Readonly<Record<string, Cost>> = {
  // A wallet's trades are among its other lines.
  [`GET ${PORTFOLIO_PATHS.myTrades}`]: filtered(
    PAGE_SIZES.journal,
    always,
    `${LOOKED}; ${FILTERED} until it is answered`,
  ),
  [`GET ${PORTFOLIO_PATHS.myActivity}`]: filtered(PAGE_SIZES.journal, hasOneOf('marketId'), HELD_FILTERED),
  [`GET ${PORTFOLIO_PATHS.myPositions}`]: POSITIONS,
  [`GET ${PORTFOLIO_PATHS.positions}`]: POSITIONS,
  // Each of the 50 holders has a profile.
  [`GET ${PORTFOLIO_PATHS.holders}`]: reads(() => HOLDERS, String(HOLDERS)),
  [`GET ${PORTFOLIO_PATHS.marketActivity}`]: reads(
    (query) => pointsOfRows(() => (limitOf(query, ACTIVITY_PAGE) / TRADES_PER_POINT) * ROWS_PER_POINT),
    `1 for each ${TRADES_PER_POINT} trades asked for`,
  ),
  [`GET ${PORTFOLIO_PATHS.myPortfolio}`]: reads(() => PORTFOLIO, String(PORTFOLIO)),
  [`GET ${PORTFOLIO_PATHS.portfolio}`]: reads(() => PORTFOLIO, String(PORTFOLIO)),
};
