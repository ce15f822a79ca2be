import { LENGTHS_MS } from '../../../wire/answers/candles';
import { type Cost, pointsOfRows, reads, SEARCH } from '../../../wire/costs';
import { ROWS_PER_POINT } from '../../../wire/limits';
import { PAGE_SIZES } from '../../../wire/pages';
import { barsOf, type Query, textOf } from '../../../wire/queries';
import { UDF_PATHS } from './paths';
import { resolutionOf } from './udf';

const BARS_MAX = PAGE_SIZES.candles.most;

/** Addresses of the page, which count as reads. */
export const PAGE_COSTS = { '/m/{slug}': 1, '/e/{slug}': 1, '/m/{slug}/card.png': 10 } as const;

export const UDF_COSTS: Readonly<Record<string, Cost>> = {
  [`GET ${UDF_PATHS.search}`]: reads(() => SEARCH, String(SEARCH)),
  [`GET ${UDF_PATHS.history}`]: reads(historyPoints, `1 for each ${ROWS_PER_POINT} bars asked for`),
};

function historyPoints(query: Query): number {
  return pointsOfRows(() => {
    const { fromMs, toMs, countback } = barsOf(query);
    const interval = resolutionOf(textOf(query, 'resolution'));
    return Math.min(BARS_MAX, countback ?? (interval ? (toMs - fromMs) / LENGTHS_MS[interval] : 1));
  });
}
