import { connectionError, ExchangeError, errorOf } from './errors';

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;
type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query | object;
  readonly body?: unknown;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

/** Sends one request and returns its answer; rejects with an ExchangeError. */
export type Send = <T>(request: Request) => Promise<Answer<T>>;

/** A way for requests besides HTTP, to which it leaves those that it cannot send. */
export type Way = <T>(request: Request, http: Send) => Promise<Answer<T>>;

/** The exchange answers within 5 s in any state; the rest is for the network. */
export const REQUEST_MS_MAX = 10_000;
const NO_CONTENT = 204;

export function createTransport(baseUrl: string, fetch_?: Fetch, timeoutMs = REQUEST_MS_MAX): Send {
  const base = baseUrl.replace(/\/+$/, '');
  // A browser's fetch must not be called as a method of another object.
  const send: Fetch = fetch_ ?? ((url, init) => globalThis.fetch(url, init));
  return async <T>(request: Request): Promise<Answer<T>> => {
    const { method, path, query, body, token, headers } = request;
    let response: Response;
    let text: string;
    try {
      response = await send(base + path + queryText(query), {
        method,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      text = await response.text();
    } catch (error) {
      throw connectionError(error);
    }
    if (!response.ok) throw errorOf(response, text);
    return { status: response.status, body: bodyOf<T>(response, text), headers: response.headers };
  };
}

function bodyOf<T>(response: Response, text: string): T {
  if (response.status === NO_CONTENT) return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    // A page of a proxy in between, or a cut answer: it is unknown whether the exchange was reached.
    throw new ExchangeError({ status: 0, code: 'NETWORK', detail: 'the answer is no JSON', retryable: true });
  }
}

function queryText(query: Query | object = {}): string {
  const members = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Query)) {
    if (value !== undefined && value !== null) members.set(name, String(value));
  }
  const text = members.toString();
  return text === '' ? '' : `?${text}`;
}

/** The first pause between two attempts; each further pause is twice as long. */
const PAUSE_MS = 200;
const PAUSE_MS_MAX = 2_000;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Tries again, with growing pauses and respecting Retry-After, while `again` is true and the next attempt would begin
 * within `boundMs`; then rejects with the last error.
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  again: (error: ExchangeError) => boolean,
  boundMs: number,
): Promise<T> {
  const giveUpAt = performance.now() + boundMs;
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ExchangeError) || !again(error)) throw error;
      const waitMs = Math.max(error.retryAfterMs ?? 0, pauseMs);
      if (performance.now() + waitMs > giveUpAt) throw error;
      await pause(waitMs);
    }
  }
}
