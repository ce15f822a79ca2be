import type { Request, RequestHandler, Response } from 'express';
import { checkScope, type KeyScope } from '../auth/api-keys';
import type { Caller, Sessions } from '../auth/sessions';
import { Refusal } from '../exchange/errors';
import { type Asked, askedOf } from '../wire/asked';
import { BYTES_PER_SUBMISSION } from '../wire/limits';
import type { Query } from '../wire/queries';
import type { Shape } from '../wire/shape';
import { type Reply, send, sendProblem } from './answer';
import { type BearerRule, callerOf } from './bearer';
import { BODY_MAX_BYTES, jsonOf, readBody } from './body';
import { clientAddress } from './client-address';
import type { HttpObserver } from './deps';
import { ClientGone, refusalOf } from './failures';
import type { Limiter } from './limiter';
import type { OperatorGate } from './operator-gate';
import type { Shedding } from './shedding';

/** The input of a handler: everything that the endpoint declares, read and checked. */
export interface Call<Body> {
  readonly request: Request;
  readonly response: Response;
  readonly query: Query;
  readonly body: Body;
  /** The time at which the whole request had arrived, a moment of `performance.now()`. */
  readonly arrivedAt: number;
  /** Null only if no bearer is required and none was sent. */
  readonly caller: Caller | null;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The declaration of one operation: its callers, its input, its action. */
export interface Endpoint<Body> {
  readonly method: Method;
  readonly path: string;
  readonly bearer: BearerRule;
  /**
   * The scope that an API key needs. Without a scope, a read needs `read`, and any other operation that requires a bearer
   * accepts no key.
   */
  readonly scope?: KeyScope;
  readonly body: Shape<Body> | null;
  /** The body is optional; without one it is an empty object. */
  readonly bodyOptional?: true;
  readonly maxBytes?: number;
  /** The time limit of a slow operation; default ANSWER_MAX_MS. */
  readonly answerMaxMs?: number;
  /** Charged by IP before any of the body is read; the handler charges buckets by wallet. */
  readonly bucket?: 'reads' | 'submissions';
  /** The cost of a request in points, computed from its query; by default the cost of the rows of its page. */
  readonly cost?: (query: Query) => number;
  /** The number of requests that its body counts as, each at that cost, computed before the shape of the body is checked. */
  readonly parts?: (body: unknown) => number;
  /** A method, not a property, so that an endpoint of any body is an AnyEndpoint. */
  handle(call: Call<Body>): Promise<Reply>;
}

/** An endpoint of any body. */
export type AnyEndpoint = Endpoint<unknown>;

export interface DispatchDeps {
  readonly sessions: Sessions;
  readonly limiter: Limiter;
  readonly gate: OperatorGate;
  readonly shedding: Shedding;
  readonly observer: HttpObserver;
  /** The earliest moment, of `performance.now()`, at which the request that is read now may have arrived. */
  readonly arrivedAt: () => number;
}

/** Every request is answered within 3 s of its arrival, whatever Redis does; a single command may take 2 s. */
const ANSWER_MAX_MS = 2_800;

/** A public read. */
export const read = (
  path: string,
  handle: (call: Call<undefined>) => Promise<Reply>,
  bearer: BearerRule = 'none',
): Endpoint<undefined> => ({ method: 'GET', path, bearer, body: null, bucket: 'reads', handle });

/** Returns the wallet of a call that requires a bearer. */
export function walletOf({ caller }: { readonly caller: Caller | null }): string {
  if (!caller) throw new Refusal('UNAUTHORIZED');
  return caller.address;
}

/** Returns the text of a path parameter, decoded by the router. */
export function parameter({ request }: { readonly request: Request }, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}

/**
 * Makes a handler of an endpoint: the first checks of docs/interface.md in its order (size, bearer, media type, UTF-8, JSON,
 * shape), then the endpoint's own. Refusals are thrown, and the application answers them in one place.
 */
export function dispatch(endpoint: AnyEndpoint, deps: DispatchDeps): RequestHandler {
  const route = `${endpoint.method} ${endpoint.path}`;
  const asked = askedOf(route);
  return async (request, response) => {
    const bytes = endpoint.body ? await readBody(request, endpoint.maxBytes ?? BODY_MAX_BYTES) : null;
    const arrivedAt = deps.arrivedAt();
    const readAt = performance.now();
    const answered = (status: number): void =>
      deps.observer.answered(route, status, (performance.now() - readAt) / 1_000);
    const watch = setTimeout(late, endpoint.answerMaxMs ?? ANSWER_MAX_MS, response);
    try {
      const admitted = queryOf(asked, request.url);
      const cost = admitted instanceof Refusal ? 1 : (endpoint.cost ?? asked.cost)(admitted);
      const taken = admit(request, response, endpoint, cost, deps);
      if (taken) await taken;
      const caller = await authenticate(request, response, endpoint, deps);
      if (admitted instanceof Refusal) throw admitted;
      const query = admitted;
      const take = (parts: number) =>
        deps.limiter.spend('submissions', clientAddress(request), response, parts * cost);
      // Reading and refusing a body takes time by its bytes, so the bytes count when they cost more than the orders.
      const weight =
        endpoint.bucket === 'submissions' ? Math.floor((bytes?.length ?? 0) / BYTES_PER_SUBMISSION) : 0;
      if (weight > 0) take(weight);
      const body =
        endpoint.body && bytes
          ? bodyOf(request, endpoint, bytes, (parts) => parts > weight && take(parts - weight))
          : undefined;
      const reply = await endpoint.handle({ request, response, arrivedAt, query, body, caller });
      if (!response.headersSent) send(response, reply);
      answered(response.statusCode);
    } catch (error) {
      if (!(error instanceof ClientGone)) answered(refusalOf(error).status);
      throw error;
    } finally {
      clearTimeout(watch);
    }
  };
}

/** A refused query costs a point, as other requests do. */
function queryOf(asked: Asked, url: string): Query | Refusal {
  try {
    return asked.query(url);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** Charges the address for a request before any work is done for it; returns null when the charge is immediate. */
function admit(
  request: Request,
  response: Response,
  { bucket }: AnyEndpoint,
  cost: number,
  { limiter, shedding }: DispatchDeps,
): Promise<void> | null {
  if (bucket === 'reads') return limiter.take(bucket, clientAddress(request), response, cost);
  if (bucket === 'submissions') {
    limiter.spend(bucket, clientAddress(request), response, cost);
    shedding.check();
  }
  return null;
}

async function authenticate(
  request: Request,
  response: Response,
  { bearer: rule, method, scope }: AnyEndpoint,
  { sessions, gate }: DispatchDeps,
): Promise<Caller | null> {
  if (rule === 'none') return null;
  if (rule !== 'admin') {
    const caller = await callerOf(request, rule, sessions);
    // Where a bearer is optional and data changes, the signature in the body authorizes the request.
    if (caller && (rule === 'required' || method === 'GET'))
      checkScope(caller, scope ?? (method === 'GET' ? 'read' : null));
    return caller;
  }
  await gate(request, response);
  return null;
}

function bodyOf(
  request: Request,
  { body, bodyOptional, parts }: AnyEndpoint,
  bytes: Buffer,
  take: (parts: number) => unknown,
): unknown {
  const value = jsonOf(request, bytes, bodyOptional === true);
  const more = parts === undefined ? 0 : parts(value) - 1;
  if (more > 0) take(more);
  return body?.parse(value === undefined ? {} : value);
}

/** After a pause of this process its sockets are read once more first, as in store/redis/patience. */
const late = (response: Response): unknown => setImmediate(giveUp, response);

function giveUp(response: Response): void {
  if (response.headersSent) return;
  sendProblem(
    response,
    new Refusal(
      'UNAVAILABLE',
      'the exchange did not answer in time; the request may still have been applied. Retry it or look it up',
    ),
  );
}
