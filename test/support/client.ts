import { sleep } from './waiting';

const UNAVAILABLE = 503;

/** The answer of a replica; `body` is its JSON, undefined without a body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into, not typed
  readonly body: any;
  readonly text: string;
}

export interface Sent {
  readonly body?: unknown;
  /** Raw bytes instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Client = Omit<ReturnType<typeof createClient>, 'once'>;

const TRIES_MAX = 200;
const PAUSE_MS = 250;

/** The first answer that is no 503: a busy machine may be late a few times. Only for requests that may run twice. */
export async function patiently(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await ask();
    if (answer.status !== UNAVAILABLE || tries === TRIES_MAX) return answer;
    await sleep(PAUSE_MS);
  }
}

/** Refusals of a process that is late, which say that the order was not booked. */
const NOT_BOOKED = /^(this process has too many orders in progress|the order reached the book too late)/;

/**
 * Plain fetch; JSON in and out. Many tests sign orders in the process of the exchange and make it late: an order that it
 * refuses for that alone is sent again.
 */
export function createClient(url: string) {
  async function call(method: string, path: string, sent?: Sent): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const answer = await once(method, path, sent);
      if (!NOT_BOOKED.test(answer.body?.detail ?? '') || tries === TRIES_MAX) return answer;
      await sleep(PAUSE_MS);
    }
  }

  async function once(
    method: string,
    path: string,
    { body, raw, token, headers = {} }: Sent = {},
  ): Promise<Answer> {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  }
  return {
    url,
    call,
    /** A request that is sent no second time. */
    once,
    get: (path: string, sent?: Sent) => call('GET', path, sent),
    post: (path: string, sent?: Sent) => call('POST', path, sent),
  };
}
