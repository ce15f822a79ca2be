import { OPERATIONS } from './documents/openapi/operations';
import { parseQuery, type Query } from './queries';

/**
 * Parses the query of a request target, as the operation describes it (`GET /markets/{id}` and the like); throws INVALID_REQUEST
 * for members that the operation does not have.
 */
export function queryReader(operation: string): (url: string) => Query {
  const parameters = OPERATIONS[operation]?.parameters ?? [];
  const members = new Set(parameters.filter((one) => one.in !== 'header').map(({ name }) => name));
  return (url) => parseQuery(url, members);
}
