import { connectionError, errorOf } from './errors';
import type { Live } from './live';
import { abortError, checkNotAborted, type Request, type Send, unlessAborted, type Way } from './transport';

/** The answer of the HTTP route. */
interface Ack {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

const UNAUTHORIZED = 401;
const REFUSED = 400;
/** A message whose acknowledgement does not come is a lost answer, and its connection is replaced. */
const ANSWER_MS_MAX = 5_000;

type Does = readonly [path: RegExp, event: string, names: readonly string[], more?: object];

/** The requests that a message of a private socket does, too; the parts of the path are members of its payload. */
const MESSAGES: readonly Does[] = [
  [/^\/markets\/([^/]+)\/orders$/, 'order:submit', ['marketId']],
  [/^\/markets\/([^/]+)\/orders\/batch$/, 'orders:submit', ['marketId']],
  [/^\/markets\/([^/]+)\/orders\/([^/]+)\/replace$/, 'order:replace', ['marketId', 'orderHash']],
  [/^\/markets\/([^/]+)\/orders\/cancel-all$/, 'orders:cancel', ['marketId']],
  [/^\/orders\/([^/]+)\/cancel$/, 'order:cancel', ['orderHash']],
  [/^\/orders\/cancel$/, 'orders:cancel', []],
  [/^\/me\/orders\/cancel-all$/, 'orders:cancel', [], { all: true }],
];

/** The message of a request; null for a request that has none. */
function messageOf({ method, path, query, body }: Request): readonly [event: string, payload: object] | null {
  for (const [pattern, event, names, more] of method === 'POST' ? MESSAGES : []) {
    const parts = pattern.exec(path)?.slice(1).map(decodeURIComponent);
    if (parts)
      return [
        event,
        {
          ...Object.fromEntries(names.map((name, i) => [name, parts[i]])),
          ...more,
          ...query,
          ...(body ?? {}),
        },
      ];
  }
  return null;
}

/**
 * Argument of `client.useSocket`: orders and cancels of the signed-in wallet go over the socket of `live`, while it is up and belongs to
 * the same wallet; by HTTP otherwise. The answers and errors are the same.
 */
export function orderSocket(live: Live): Way {
  return async <T>(request: Request, http: Send) => {
    const { socket, token } = live.connection();
    const message = messageOf(request);
    const isOurs = token !== null && !!request.token && ownerOf(token) === ownerOf(request.token);
    if (!message || !isOurs || !socket.connected) return http<T>(request);
    checkNotAborted(request.signal);
    const acknowledged: Promise<Ack> = socket
      .timeout(ANSWER_MS_MAX)
      .emitWithAck(...message)
      .catch((error: unknown) => {
        if (socket.connected) socket.io.engine?.close();
        throw connectionError(error, 'no acknowledgement came; the request may have been done');
      });
    const ack = await unlessAborted(acknowledged, request.signal, () => abortError(request.signal?.reason));
    const { status, body } = ack;
    // Nothing was done; the token of the socket may be older than that of the request.
    if (status === UNAUTHORIZED) return http<T>(request);
    const headers = new Headers(ack.headers);
    if (status >= REFUSED) throw errorOf({ status, headers, statusText: '' }, JSON.stringify(body));
    return { status, body: body as T, headers };
  };
}

/** The wallet of an access token; of any other token the token itself. */
function ownerOf(token: string): string {
  try {
    const [, claims = ''] = token.split('.');
    return JSON.parse(atob(claims.replace(/-/g, '+').replace(/_/g, '/'))).sub;
  } catch {
    return token;
  }
}
