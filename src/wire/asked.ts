import { Refusal } from '../exchange/errors';
import { OPERATIONS } from './documents/openapi/operations';
import { ROWS_PER_POINT } from './limits';
import { limitOf, parseQuery, type Query } from './queries';

/** The query parameters of a request, as its operation describes them. */
export interface Asked {
  /** Parses the query of a request target; throws INVALID_REQUEST for members that the operation does not have. */
  query(url: string): Query;
  /** The cost of the requested rows, in points of the reads. */
  cost(query: Query): number;
}

/** Of `GET /markets/{id}` and the like. */
export function askedOf(operation: string): Asked {
  const parameters = OPERATIONS[operation]?.parameters ?? [];
  const members = new Set(parameters.filter((one) => one.in !== 'header').map(({ name }) => name));
  const page = parameters.find((one) => one.page)?.page;
  return {
    query: (url) => parseQuery(url, members),
    cost: (query) => (page ? costOfRows(() => limitOf(query, page)) : 1),
  };
}

/** The cost of the rows that a query asks for, in points of the reads. */
export function costOfRows(rowsOf: () => number): number {
  try {
    // A range that ends before it begins has no rows, and costs as much as one.
    return Math.max(1, Math.ceil(rowsOf() / ROWS_PER_POINT));
  } catch (error) {
    // A later check refuses it.
    if (error instanceof Refusal) return 1;
    throw error;
  }
}
