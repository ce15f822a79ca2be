import type { Problem } from './types';

/** Codes of the client itself, in addition to those of the interface. */
export type ClientCode = 'NETWORK' | 'TIMEOUT' | 'ABORTED' | 'OUTCOME_UNKNOWN' | 'NOT_SENT' | 'NOT_SIGNED_IN';

interface Facts {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId?: string | null;
  readonly retryable?: boolean;
  readonly problem?: Problem | null;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** Refusals which state that nothing was done, although their status is 5xx. */
const REFUSED: ReadonlySet<string> = new Set(['CANCEL_ONLY', 'HALTED', 'BACKLOG']);
export const REQUEST_TIMEOUT = 408;
export const SERVER_ERROR = 500;
/** Codes of the client for requests that never left it. */
const UNSENT: ReadonlySet<string> = new Set<ClientCode>(['NOT_SENT', 'NOT_SIGNED_IN']);
/** Errors of Node about a connection that was never made. */
const UNCONNECTED: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** The most characters shown of an answer that is no problem document. */
const TEXT_MAX = 200;

/** Any failure between a call and its answer. `status` is 0 without an answer. */
export class ExchangeError extends Error {
  readonly status: number;
  /** A code of the interface (docs/use/errors.md), a `ClientCode`, or `HTTP_<status>` from a proxy in between. */
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | null;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The whole document, with its other members (`required`, `nearest`, `best`, ...). */
  readonly problem: Problem | null;
  readonly retryAfterMs: number | null;

  constructor(facts: Facts) {
    // The constructor takes only `cause` of these.
    super(`${facts.code}: ${facts.detail}`, facts);
    this.name = 'ExchangeError';
    this.status = facts.status;
    this.code = facts.code;
    this.detail = facts.detail;
    this.requestId = facts.requestId ?? null;
    this.retryable = facts.retryable ?? false;
    this.problem = facts.problem ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }

  /** Whether the request may have been executed, although no answer says so. */
  get isOutcomeUnknown(): boolean {
    if (this.status === 0) return !UNSENT.has(this.code);
    return this.status === REQUEST_TIMEOUT || (this.status >= SERVER_ERROR && !REFUSED.has(this.code));
  }
}

/** The error of an answer that is no success. */
export function errorOf(
  response: Pick<Response, 'status' | 'headers' | 'statusText'>,
  text: string,
): ExchangeError {
  const problem = problemOf(text);
  const { status } = response;
  return new ExchangeError({
    status,
    code: problem?.code ?? `HTTP_${status}`,
    detail: problem?.detail ?? (text.slice(0, TEXT_MAX) || response.statusText || `status ${status}`),
    requestId: problem?.requestId ?? response.headers.get('x-request-id'),
    retryable: problem?.retryable ?? (status >= SERVER_ERROR || status === REQUEST_TIMEOUT),
    problem,
    retryAfterMs: retryAfterOf(response.headers.get('retry-after')),
  });
}

/** The error without an answer: a connection that was never made, or one that was lost. */
export function connectionError(cause: unknown, lost = 'the exchange could not be reached'): ExchangeError {
  const { code, cause: inner } = (cause ?? {}) as { code?: unknown; cause?: { code?: unknown } };
  if (UNCONNECTED.has(code) || UNCONNECTED.has(inner?.code))
    return notSent('no connection to the exchange', cause, true);
  return new ExchangeError({ status: 0, code: 'NETWORK', detail: lost, retryable: true, cause });
}

export const timeoutError = (cause?: unknown): ExchangeError =>
  new ExchangeError({
    status: 0,
    code: 'TIMEOUT',
    detail: 'the exchange did not answer in time',
    retryable: true,
    cause,
  });

/** The error of a request that never left this machine. */
export const notSent = (detail: string, cause: unknown, retryable = false): ExchangeError =>
  new ExchangeError({ status: 0, code: 'NOT_SENT', detail, retryable, cause });

/** Whether another attempt of the same call would end in the same way. */
export const isEnd = ({ code, retryable }: ExchangeError): boolean =>
  code === 'ABORTED' || (code === 'NOT_SENT' && !retryable);

function problemOf(text: string): Problem | null {
  try {
    const value = JSON.parse(text) as Partial<Problem> | null;
    return typeof value?.code === 'string' && typeof value.detail === 'string' ? (value as Problem) : null;
  } catch {
    return null;
  }
}

function retryAfterOf(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : null;
}
