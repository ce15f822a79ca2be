import { randomUUID } from 'node:crypto';
import type { Caller, Sessions } from '../../auth/sessions';
import { Refusal } from '../../exchange/errors';
import type { Logger } from '../../log';
import { type OrderEntryHeaders, orderAck, orderRefusedAck } from '../../wire/answers/order-entry';
import { costOf } from '../../wire/costs';
import { parseJson } from '../../wire/json';
import { BODY_MAX_BYTES } from '../../wire/limits';
import type { Query } from '../../wire/queries';
import {
  ORDER_EVENTS,
  ORDER_ROUTES,
  type OrderEntry,
  type OrderEvent,
  orderEntryOf,
} from '../../wire/requests/order-entry';
import type { AnyEndpoint, CallRequest, CallResponse, Reply } from '../endpoint';
import { REQUEST_ID } from '../server/answer';
import { tooLarge } from '../server/body';
import { logFailure, refusalOf } from '../server/failures';
import { type Arrived, type ServingDeps, serveEndpoint } from '../server/serve-endpoint';

/** An order message of a socket. */
export interface SocketRequest {
  readonly event: OrderEvent;
  /** The JSON of its payload. */
  readonly payload: Buffer;
  /** The address that limits by IP count, as `clientAddress` returns it. */
  readonly address: string;
  /** The token of the socket and the caller that it was when the socket took it; null for a public socket. */
  readonly bearer: {
    readonly token: string;
    readonly caller: Caller;
    /** Infinity for an API key without an expiration. */
    readonly expiresAtMs: number;
  } | null;
}

/** Performs an order message as the HTTP route does; gives the JSON of its acknowledgement once. */
export type PerformOrder = (
  request: SocketRequest,
  answer: (status: number, acknowledgement: string) => void,
) => void;

interface SocketOrdersDeps extends ServingDeps {
  readonly sessions: Sessions;
  readonly log: Logger;
  readonly arrivedAt: () => number;
  /** The clock of Redis. */
  readonly nowMs: () => number;
}

interface Served {
  readonly endpoint: AnyEndpoint;
  readonly serve: (arrived: Arrived<Acknowledgement>) => Promise<void>;
}

/** The order messages of sockets, served by the endpoints of HTTP. */
export function createSocketOrders(endpoints: readonly AnyEndpoint[], deps: SocketOrdersDeps): PerformOrder {
  const served = new Map<OrderEvent, readonly Served[]>(
    ORDER_EVENTS.map((event) => [
      event,
      ORDER_ROUTES[event].map((route) => {
        const endpoint = endpoints.find(({ method, path }) => `${method} ${path}` === route);
        if (!endpoint) throw new Error(`no endpoint serves ${route}`);
        return { endpoint, serve: serveEndpoint(endpoint, `socket ${event}`, WAY, deps) };
      }),
    ]),
  );

  return (request, answer) => {
    const { event } = request;
    const response = new Acknowledgement(randomUUID(), answer);
    const routes = served.get(event) ?? [];
    const entry = read(request, routes[0]?.endpoint.maxBytes);
    const chosen = routes[entry instanceof Refusal ? 0 : entry.route];
    if (!chosen) throw new Error(`no endpoint serves ${event}`);
    chosen.serve(arrivedOf(request, entry, response, chosen.endpoint, deps)).catch((error: unknown) => {
      const refusal = refusalOf(error);
      deps.observer.refused(refusal.code);
      logFailure(deps.log, error, refusal, { requestId: response.requestId, method: 'SOCKET', path: event });
      if (!response.headersSent) WAY.refuse(response, refusal);
    });
  };
}

/** The answer to an order message while it is made. */
class Acknowledgement implements CallResponse {
  statusCode = 200;
  headersSent = false;
  private readonly headers: OrderEntryHeaders;

  constructor(
    readonly requestId: string,
    private readonly answer: Parameters<PerformOrder>[1],
  ) {
    this.headers = { [REQUEST_ID]: requestId };
  }

  getHeader(name: string): string | undefined {
    return name === REQUEST_ID ? this.requestId : undefined;
  }

  /** Other headers have no place in an acknowledgement. */
  setHeader(name: string, value: string): void {
    if (name === 'Idempotent-Replayed') this.headers[name] = value;
  }

  send({ status, body, json, headers = {} }: Reply): void {
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value);
    this.end(status, orderAck(status, json?.toString() ?? JSON.stringify(body), this.headers));
  }

  end(status: number, text: string): void {
    this.statusCode = status;
    this.headersSent = true;
    this.answer(status, text);
  }
}

const WAY = {
  send: (response: Acknowledgement, reply: Reply) => response.send(reply),
  refuse: (response: Acknowledgement, refusal: Refusal) =>
    response.end(refusal.status, orderRefusedAck(refusal, response.requestId)),
};

const NO_HEADERS = {};
const NO_PEER = {};
const NO_QUERY: Query = new Map();

/** Refusals of no payload, of two, and of one that is not JSON. */
const NOT_ONE_OBJECT = 'an order message has exactly one payload, a JSON object';

/** The message as an HTTP request, or its refusal. */
function read({ event, payload }: SocketRequest, maxBytes = BODY_MAX_BYTES): OrderEntry | Refusal {
  if (payload.length > maxBytes) return tooLarge(maxBytes);
  try {
    return orderEntryOf(event, parseJson(payload, NOT_ONE_OBJECT));
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

function arrivedOf(
  { event, payload, address, bearer }: SocketRequest,
  entry: OrderEntry | Refusal,
  response: Acknowledgement,
  { method, path }: AnyEndpoint,
  { api, sessions, arrivedAt, nowMs }: SocketOrdersDeps,
): Arrived<Acknowledgement> {
  const isRefused = entry instanceof Refusal;
  const query = isRefused ? NO_QUERY : entry.query;
  const request: CallRequest = {
    method: 'SOCKET',
    url: event,
    path: event,
    params: isRefused ? {} : entry.params,
    headers: NO_HEADERS,
    socket: NO_PEER,
    addressKey: address,
  };
  return {
    request,
    response,
    arrivedAt: arrivedAt(),
    bytes: payload.length,
    query,
    cost: costOf(api, `${method} ${path}`).points(query),
    async identify(rule) {
      if (!bearer)
        throw new Refusal('UNAUTHORIZED', 'a public socket may send no orders; connect with auth.token');
      // The signature of an order authorizes it. The socket ends with its session (session-watch).
      if (rule === 'optional' && bearer.expiresAtMs > nowMs()) return bearer.caller;
      return sessions.authenticate(bearer.token);
    },
    value() {
      if (isRefused) throw entry;
      return entry.body;
    },
  };
}
