import { checkScope } from '../../auth/api-keys';
import type { Caller } from '../../auth/sessions';
import { Refusal } from '../../exchange/errors';
import type { Api } from '../../wire/api';
import { type Cost, costOf, pointsOfRows } from '../../wire/costs';
import { BYTES_PER_SUBMISSION } from '../../wire/limits';
import type { Query } from '../../wire/queries';
import type { HttpObserver } from '../context';
import type { AnyEndpoint, CallRequest, CallResponse, Reply } from '../endpoint';
import type { BearerRule } from '../guard/bearer';
import { clientAddress } from '../guard/client-address';
import type { Limiter } from '../guard/limiter';
import type { Shedding } from '../guard/shedding';
import { ClientGone, refusalOf } from './failures';

/** A request that has arrived whole, by HTTP or over a socket. */
export interface Arrived<R extends CallResponse> {
  readonly request: CallRequest;
  readonly response: R;
  /** As in `Call`. */
  readonly arrivedAt: number;
  /** The size of its body. */
  readonly bytes: number;
  readonly query: Query | Refusal;
  /** The points of the query. */
  readonly cost: number;
  /** Throws for a caller that the rule does not admit; null for a public one, at once, and for the operator. */
  identify(rule: Exclude<BearerRule, 'none'>): Promise<Caller | null> | null;
  /** The value of its body; undefined for no body where none is needed. Throws for a body that is not JSON. */
  value(): unknown;
}

/** How the answers of a way in are sent. */
interface Way<R extends CallResponse> {
  send(response: R, reply: Reply): void;
  refuse(response: R, refusal: Refusal): void;
}

export interface ServingDeps {
  readonly api: Api;
  readonly limiter: Limiter;
  readonly shedding: Shedding;
  readonly observer: HttpObserver;
}

/** Every request is answered within 3 s of its arrival, whatever Redis does; a single command may take 2 s. */
const ANSWER_MAX_MS = 2_800;

/**
 * Serves the requests of an endpoint, by whichever way they come: the checks of docs/use/interface.md in its order, then the
 * endpoint's own; the time limit; the metrics under the name `route`. Refusals are thrown.
 */
export function serveEndpoint<R extends CallResponse>(
  endpoint: AnyEndpoint,
  route: string,
  way: Way<R>,
  deps: ServingDeps,
): (arrived: Arrived<R>) => Promise<void> {
  const { answerMaxMs = ANSWER_MAX_MS, method, path } = endpoint;
  const { bucket } = costOf(deps.api, `${method} ${path}`);
  const giveUp = (response: R): void => {
    if (!response.headersSent) way.refuse(response, tooLate());
  };
  /** After a pause of this process its sockets are read once more first, as in src/store/redis/timeouts.ts. */
  const late = (response: R): unknown => setImmediate(giveUp, response);
  return async (arrived) => {
    const { response } = arrived;
    const readAt = performance.now();
    const answered = (status: number): void =>
      deps.observer.answered(route, status, (performance.now() - readAt) / 1_000);
    const watch = setTimeout(late, answerMaxMs, response);
    try {
      const reply = await replyOf(endpoint, bucket, arrived, deps);
      if (!response.headersSent) way.send(response, reply);
      answered(response.statusCode);
    } catch (error) {
      if (!(error instanceof ClientGone)) answered(refusalOf(error).status);
      throw error;
    } finally {
      clearTimeout(watch);
    }
  };
}

type AddressBucket = Cost['bucket'];

async function replyOf<R extends CallResponse>(
  endpoint: AnyEndpoint,
  bucket: AddressBucket,
  arrived: Arrived<R>,
  deps: ServingDeps,
): Promise<Reply> {
  const { request, response, arrivedAt, query, cost } = arrived;
  const taken = admit(arrived, bucket, deps);
  if (taken) await taken;
  const identified = endpoint.bearer === 'none' ? null : arrived.identify(endpoint.bearer);
  const caller = identified && (await identified);
  if (caller) checkRights(caller, endpoint);
  if (query instanceof Refusal) throw query;
  const body = endpoint.body ? bodyOf(arrived, endpoint, bucket, deps) : undefined;
  const reply = await endpoint.handle({ request, response, arrivedAt, query, body, caller });
  const { looked } = reply;
  if (bucket === 'reads' && looked !== undefined)
    deps.limiter.settle(bucket, clientAddress(request), pointsOfRows(() => looked) - cost);
  return reply;
}

/** Charges the address for a request before any work is done for it; returns null when the charge is immediate. */
function admit<R extends CallResponse>(
  { request, response, cost }: Arrived<R>,
  bucket: AddressBucket,
  { limiter, shedding }: ServingDeps,
): Promise<void> | null {
  if (bucket === null) return null;
  if (bucket === 'reads') return limiter.take(bucket, clientAddress(request), response, cost);
  limiter.spend(bucket, clientAddress(request), response, cost);
  if (bucket === 'submissions') shedding.check();
  return null;
}

/** Where a bearer is optional and data changes, the signature in the body authorizes the request. */
function checkRights(caller: Caller, { bearer, method, scope }: AnyEndpoint): void {
  if (bearer === 'required' || method === 'GET')
    checkScope(caller, scope ?? (method === 'GET' ? 'read' : null));
}

function bodyOf<R extends CallResponse>(
  arrived: Arrived<R>,
  { body, parts }: AnyEndpoint,
  bucket: AddressBucket,
  { limiter }: ServingDeps,
): unknown {
  const { request, response, bytes, cost } = arrived;
  const take = (points: number): void => {
    if (bucket === 'submissions' || bucket === 'cancels-by-ip')
      limiter.spend(bucket, clientAddress(request), response, points * cost);
  };
  // Reading and refusing a body takes time by its bytes, so the bytes count when they cost more than the orders.
  const weight = bucket === 'submissions' ? Math.floor(bytes / BYTES_PER_SUBMISSION) : 0;
  if (weight > 0) take(weight);
  const value = arrived.value();
  const more = parts === undefined ? 0 : parts(value) - 1;
  if (more > weight) take(more - weight);
  return body?.parse(value === undefined ? {} : value);
}

const tooLate = (): Refusal =>
  new Refusal(
    'UNAVAILABLE',
    'the exchange did not answer in time; the request may still have been applied. Retry it or look it up',
  );
