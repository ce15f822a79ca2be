import { connectionError, ExchangeError, errorOf, isEnd, notSent, timeoutError } from './errors';

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;
type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query | object;
  readonly body?: unknown;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
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
    const { method, path, query, body, token, headers, signal } = request;
    checkNotAborted(signal);
    const limit = timeLimit(timeoutMs, signal);
    try {
      const sending = begin(() =>
        send(base + path + queryText(query), {
          method,
          headers: {
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(token ? { authorization: `Bearer ${token}` } : {}),
            ...headers,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: limit.signal,
        }),
      );
      const [response, text] = await sending
        .then(async (answer) => [answer, await answer.text()] as const)
        .catch((error: unknown) => {
          throw signal?.aborted
            ? abortError(error)
            : limit.isOver()
              ? timeoutError(error)
              : connectionError(error);
        });
      if (!response.ok) throw errorOf(response, text);
      return { status: response.status, body: bodyOf<T>(response, text), headers: response.headers };
    } finally {
      limit.end();
    }
  };
}

/** What fails before it returns a promise has sent nothing: this runtime lacks something, or the request is none. */
function begin<T>(act: () => Promise<T>): Promise<T> {
  try {
    return act();
  } catch (error) {
    throw notSent(`this runtime cannot send the request: ${String(error)}`, error);
  }
}

/** Aborts after `ms`, and when `outer` does. Some runtimes have neither AbortSignal.timeout nor AbortSignal.any. */
export function timeLimit(ms: number, outer?: AbortSignal) {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    abort();
  }, ms);
  outer?.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    isOver: () => isOver,
    end(): void {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

export const abortError = (cause: unknown): ExchangeError =>
  new ExchangeError({
    status: 0,
    code: 'ABORTED',
    detail: 'the signal was aborted before an answer came',
    cause,
  });

export function checkNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw notSent('the signal was aborted before the request was sent', signal.reason);
}

/** `work`, or an error as soon as the signal is aborted. The work itself goes on. */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  error: () => ExchangeError,
): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(error());
    signal.addEventListener('abort', abort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
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

/** Ends early when the signal is aborted. */
const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });

/**
 * Tries again, with growing pauses and respecting Retry-After, while `again` is true and the next attempt would begin
 * within `boundMs`; then rejects with the last error.
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  again: (error: ExchangeError) => boolean,
  boundMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const giveUpAt = performance.now() + boundMs;
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ExchangeError) || isEnd(error) || !again(error)) throw error;
      const waitMs = Math.max(error.retryAfterMs ?? 0, pauseMs);
      if (performance.now() + waitMs > giveUpAt) throw error;
      await pause(waitMs, signal);
    }
  }
}
