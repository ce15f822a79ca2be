import { Refusal } from '../exchange/errors';
import type { Api } from './api';
import { ROWS_PER_POINT, SUBMISSION_COSTS } from './limits';
import { PAGE_SIZES, type PageSize } from './pages';
import { PATHS } from './paths';
import { depthOf, idsOf, limitOf, type Query } from './queries';

/** The limit of an address that counts a request, and its points. docs/use/endpoints.md shows the table. */
export interface Cost {
  /** Null for a request that no address pays for; the endpoint charges other limits by itself. */
  readonly bucket: 'reads' | 'submissions' | 'cancels-by-ip' | null;
  /** The points before the request is served. */
  points(query: Query): number;
  /** The cost in words. */
  readonly words: string;
}

/** The points of a list with a filter. What it did not look at is given back afterwards. */
export const FILTERED = 10;
/** The points of a search in the texts of all markets. */
export const SEARCH = 3;
const TICKERS_PER_POINT = 5;
const HASHES_PER_POINT = 10;

/** Messages of a socket besides those about orders, which cost what their route costs; the socket pays (SOCKET_LIMITS). */
export const MESSAGE_COSTS = {
  subscribe: 'of the 50 messages a second: 1 for each market, and 1 for each 20 updates of a replay',
  unsubscribe: 'of the 50 messages a second: 1 for each market',
  renew: 'of the 50 messages a second: 1',
} as const;

export const free = (words: string): Cost => ({ bucket: null, points: () => 0, words });
export const reads = (points: Cost['points'], words: string): Cost => ({ bucket: 'reads', points, words });
const ONE_READ = reads(() => 1, '1');
const submission = (words: string): Cost => ({
  bucket: 'submissions',
  // Only for the cost; a later check refuses an invalid `dryRun`.
  points: (query) => SUBMISSION_COSTS[query.get('dryRun')?.includes('true') === true ? 'dryRun' : 'order'],
  words,
});
const cancel = (words: string): Cost => ({ bucket: 'cancels-by-ip', points: () => 1, words });

const rowsOf = (page: PageSize, query: Query): number => pointsOfRows(() => limitOf(query, page));

/** A list that may look at rows which it does not show. */
export const filtered = (page: PageSize, isFiltered: (query: Query) => boolean, words: string): Cost =>
  reads((query) => Math.max(rowsOf(page, query), isFiltered(query) ? FILTERED : 1), words);

export const hasOneOf =
  (...names: readonly string[]) =>
  (query: Query): boolean =>
    names.some((name) => query.has(name));
/** Open orders have a list of their own. */
const isFilteredOrders = (query: Query): boolean =>
  hasOneOf('side', 'marketId', 'clientOrderId')(query) || (query.get('status') ?? ['open'])[0] !== 'open';

const SIGN_IN = free('1 of `signIn`');
const OPERATORS = free('none; a wrong token 1 of `admin-tokens`');
export const LOOKED = `1 for each ${ROWS_PER_POINT} rows looked at`;
export const HELD_FILTERED = `${LOOKED}; with a filter ${FILTERED} until it is answered`;
const ORDER = `${SUBMISSION_COSTS.order}; a dry run ${SUBMISSION_COSTS.dryRun}; a refused FOK or a wrong signature ${SUBMISSION_COSTS.refusedFok}`;

/** The operations that do not cost a read, or not one. */
export const CORE_COSTS: Readonly<Record<string, Cost>> = {
  [`GET ${PATHS.nonce}`]: SIGN_IN,
  [`POST ${PATHS.verify}`]: SIGN_IN,
  [`GET ${PATHS.markets}`]: reads(
    (query) => Math.max(rowsOf(PAGE_SIZES.markets, query), query.has('q') ? SEARCH : 1),
    `1 for each ${ROWS_PER_POINT} rows asked for; with \`q\` at least ${SEARCH}`,
  ),
  [`GET ${PATHS.orderbooks}`]: reads(
    // A book costs at most a point, as in a request of its own.
    (query) =>
      pointsOfRows(() => idsOf(query).length * Math.min(depthOf(query) ?? ROWS_PER_POINT, ROWS_PER_POINT)),
    `1 for each id, or for each ${ROWS_PER_POINT} levels with a smaller \`depth\``,
  ),
  [`GET ${PATHS.tickers}`]: reads(
    (query) => pointsOf(() => idsOf(query).length / TICKERS_PER_POINT),
    `1 for each ${TICKERS_PER_POINT} ids`,
  ),
  [`GET ${PATHS.myOrders}`]: filtered(PAGE_SIZES.orders, isFilteredOrders, HELD_FILTERED),
  [`GET ${PATHS.myBalances}`]: reads(() => 1, `1 for each ${ROWS_PER_POINT} tokens`),
  [`POST ${PATHS.submit}`]: submission(ORDER),
  [`POST ${PATHS.replace}`]: submission(ORDER),
  [`POST ${PATHS.batch}`]: submission(`as many as its orders: each ${ORDER}`),
  [`POST ${PATHS.cancel}`]: cancel('1'),
  [`POST ${PATHS.cancelByHash}`]: cancel('1'),
  [`POST ${PATHS.cancelList}`]: cancel(`1 for each ${HASHES_PER_POINT} hashes`),
  [`POST ${PATHS.cancelAll}`]: cancel('1'),
  [`POST ${PATHS.myCancelAll}`]: cancel('1'),
  [`POST ${PATHS.myNonce}`]: cancel('1'),
  [`GET ${PATHS.livez}`]: free('none'),
  [`GET ${PATHS.readyz}`]: free('none'),
  [`GET ${PATHS.metrics}`]: free('none'),
};

/** The points of a list of hashes to cancel. */
export const pointsOfHashes = (count: number): number => Math.max(1, Math.ceil(count / HASHES_PER_POINT));

/** The cost of an operation of this interface: `GET /markets/{id}` and the like. */
export function costOf({ operations, costs }: Pick<Api, 'operations' | 'costs'>, operation: string): Cost {
  const own = costs[operation];
  if (own) return own;
  const { bearer, parameters = [] } = operations[operation] ?? {};
  if (bearer === 'admin' && !operation.startsWith('GET ')) return OPERATORS;
  const page = parameters.find((one) => one.page)?.page;
  return page
    ? reads((query) => rowsOf(page, query), `1 for each ${ROWS_PER_POINT} rows asked for`)
    : ONE_READ;
}

/** The points of rows, which are at least one. A query that a later check refuses costs one. */
export function pointsOfRows(rows: () => number): number {
  return pointsOf(() => rows() / ROWS_PER_POINT);
}

function pointsOf(points: () => number): number {
  try {
    // A range that ends before it begins has no rows, and costs as much as one.
    return Math.max(1, Math.ceil(points()));
  } catch (error) {
    if (error instanceof Refusal) return 1;
    throw error;
  }
}
