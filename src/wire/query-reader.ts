import type { Operation } from './documents/openapi/operation';
import { parseQuery, type Query } from './queries';

/**
 * Parses the query of a request target, as its operation describes it; throws INVALID_REQUEST for members that the
 * operation does not have.
 */
export function queryReader(operation: Operation | undefined): (url: string) => Query {
  const parameters = operation?.parameters ?? [];
  const members = new Set(parameters.filter((one) => one.in !== 'header').map(({ name }) => name));
  return (url) => parseQuery(url, members);
}
