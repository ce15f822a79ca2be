import { type Cost, FILTERED, filtered, HELD_FILTERED, hasOneOf, LOOKED, reads } from '../../../wire/costs';
import { ROWS_PER_POINT } from '../../../wire/limits';
import { PAGE_SIZES } from '../../../wire/pages';
import { PORTFOLIO_PATHS } from './paths';

const PORTFOLIO = 10;
const always = (): boolean => true;

export const PORTFOLIO_COSTS: Readonly<Record<string, Cost>> = {
  // A wallet's trades are among its other lines, and all of its positions are in one piece.
  [`GET ${PORTFOLIO_PATHS.myTrades}`]: filtered(
    PAGE_SIZES.journal,
    always,
    `${LOOKED}; ${FILTERED} until it is answered`,
  ),
  [`GET ${PORTFOLIO_PATHS.myActivity}`]: filtered(PAGE_SIZES.journal, hasOneOf('marketId'), HELD_FILTERED),
  [`GET ${PORTFOLIO_PATHS.myPositions}`]: filtered(
    PAGE_SIZES.journal,
    always,
    `1 for each ${ROWS_PER_POINT} positions of the wallet; ${FILTERED} until it is answered`,
  ),
  [`GET ${PORTFOLIO_PATHS.myPortfolio}`]: reads(() => PORTFOLIO, String(PORTFOLIO)),
};
