import type { IncomingHttpHeaders } from 'node:http';
import type { KeyScope } from '../auth/api-keys';
import type { Caller } from '../auth/sessions';
import { Refusal } from '../exchange/errors';
import type { Query } from '../wire/queries';
import type { Shape } from '../wire/shape';
import type { BearerRule } from './guard/bearer';
import type { AddressedRequest } from './guard/client-address';

/** A request, whether it came by HTTP or over a socket. An Express request is one. */
export interface CallRequest extends AddressedRequest {
  readonly method: string;
  /** The target of the request, with its query. */
  readonly url: string;
  readonly path: string;
  /** The parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string | string[]>>;
  readonly headers: IncomingHttpHeaders;
}

/** The headers of an answer while it is made. */
export interface AnswerHead {
  /** The answer has been sent. */
  readonly headersSent: boolean;
  getHeader(name: string): number | string | readonly string[] | undefined;
  setHeader(name: string, value: string): unknown;
}

/** The answer to a request while it is made. An Express response is one. */
export interface CallResponse extends AnswerHead {
  statusCode: number;
}

/** The input of a handler: everything that the endpoint declares, read and checked. */
export interface Call<Body> {
  readonly request: CallRequest;
  readonly response: CallResponse;
  readonly query: Query;
  readonly body: Body;
  /** The time at which the head of the request had arrived, a moment of `performance.now()`. */
  readonly arrivedAt: number;
  /** Null only if no bearer is required and none was sent. */
  readonly caller: Caller | null;
}

/** The result of a handler: a value to send as JSON, finished JSON bytes, or nothing. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly json?: Buffer;
  /** Text in another format. */
  readonly text?: { readonly type: string; readonly text: string };
  readonly headers?: Readonly<Record<string, string>>;
  /** The rows that a read looked at, where these may be more or fewer than were paid for. */
  readonly looked?: number;
}

export const ok = (body: unknown, headers?: Record<string, string>): Reply =>
  headers ? { status: 200, body, headers } : { status: 200, body };

export const okJson = (json: Buffer): Reply => ({ status: 200, json });

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
  /**
   * The number of requests that its body counts as, each at the cost of the operation (src/wire/costs.ts), computed before the
   * shape of the body is checked.
   */
  readonly parts?: (body: unknown) => number;
  /** A method, not a property, so that an endpoint of any body is an AnyEndpoint. */
  handle(call: Call<Body>): Promise<Reply>;
}

/** An endpoint of any body. */
export type AnyEndpoint = Endpoint<unknown>;

/** A public read. */
export const read = (
  path: string,
  handle: (call: Call<undefined>) => Promise<Reply>,
  bearer: BearerRule = 'none',
): Endpoint<undefined> => ({ method: 'GET', path, bearer, body: null, handle });

/** Returns the wallet of a call that requires a bearer. */
export function walletOf({ caller }: { readonly caller: Caller | null }): string {
  if (!caller) throw new Refusal('UNAUTHORIZED');
  return caller.address;
}

/** Returns the text of a path parameter, decoded by the router. */
export function parameter({ request }: { readonly request: CallRequest }, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}
