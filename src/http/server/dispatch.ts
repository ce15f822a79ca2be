import type { Request, Response } from 'express';
import type { Caller, Sessions } from '../../auth/sessions';
import { Refusal } from '../../exchange/errors';
import { costOf } from '../../wire/costs';
import { BODY_MAX_BYTES } from '../../wire/limits';
import type { Query } from '../../wire/queries';
import { queryReader } from '../../wire/query-reader';
import type { AnyEndpoint } from '../endpoint';
import { callerOf } from '../guard/bearer';
import type { OperatorGate } from '../guard/operator-gate';
import { send, sendProblem } from './answer';
import { jsonOf, readBody } from './body';
import type { Handler } from './routing';
import { type Arrived, type ServingDeps, serveEndpoint } from './serve-endpoint';

export interface DispatchDeps extends ServingDeps {
  readonly sessions: Sessions;
  readonly gate: OperatorGate;
  /** The earliest moment, of `performance.now()`, at which the request that is read now may have arrived. */
  readonly arrivedAt: () => number;
}

/**
 * Makes a handler of an endpoint: it reads the body, and the endpoint is served. Refusals are thrown, and the application
 * answers them in one place.
 */
export function dispatch(endpoint: AnyEndpoint, deps: DispatchDeps): Handler {
  const { bodyOptional = false, maxBytes = BODY_MAX_BYTES } = endpoint;
  const route = `${endpoint.method} ${endpoint.path}`;
  const parse = queryReader(deps.api.operations[route]);
  const { points } = costOf(deps.api, route);
  const serve = serveEndpoint<Response>(endpoint, route, { send, refuse: sendProblem }, deps);
  return async (request, response) => {
    // Taken before the body is read: a client counts from the moment when it sent the request.
    const arrivedAt = deps.arrivedAt();
    const bytes = endpoint.body ? await readBody(request, maxBytes) : null;
    const query = queryOf(parse, request.url);
    await serve({
      request,
      response,
      arrivedAt,
      bytes: bytes?.length ?? 0,
      query,
      cost: query instanceof Refusal ? 1 : points(query),
      identify: (rule) => identify(rule, request, response, deps),
      value: () => (bytes ? jsonOf(request, bytes, bodyOptional) : undefined),
    });
  };
}

/** A refused query costs a point, as other requests do. */
function queryOf(parse: (url: string) => Query, url: string): Query | Refusal {
  try {
    return parse(url);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function identify(
  rule: Parameters<Arrived<Response>['identify']>[0],
  request: Request,
  response: Response,
  { sessions, gate }: DispatchDeps,
): Promise<Caller | null> | null {
  if (rule !== 'admin') return callerOf(request, rule, sessions);
  return gate(request, response).then(() => null);
}
