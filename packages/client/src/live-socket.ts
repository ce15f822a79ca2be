import { io, type Socket } from 'socket.io-client';
import { createAccountEvents } from './account-events';
import type { Link } from './followed-book';
import { handler as checkHandler } from './input';
import { createRenewal, type GetToken } from './renewal';
import type { SessionEnd, SubscribeAck } from './types-live';
import { callUser } from './user-code';

export interface LiveSocketOptions {
  /** The URL of the exchange; "" in a page that the exchange serves. */
  readonly baseUrl: string;
  /**
   * Returns a wallet's access token at every connection; null for none. `client.accessToken` fits. While it rejects, or returns
   * the token `refused`, the socket is public and it is called again.
   */
  readonly getToken?: GetToken | undefined;
  /** The wallet's orders are cancelled 10 s after its last such socket was closed. */
  readonly cancelOnDisconnect?: boolean | undefined;
  /** False: for `orderSocket` alone, without the events of the wallet. */
  readonly accountEvents?: boolean | undefined;
}

interface LiveSocketEvents {
  onConnect(): void;
  onDisconnect(why: string): void;
}

type ConnectHandler = (connection: { readonly authenticated: boolean }) => void;
type Handler<T> = (body: T) => void;

const CONNECT_MS_MAX = 5_000;
const RECONNECT_MS = 250;
const RECONNECT_MS_MAX = 2_000;
const ANSWER_MS_MAX = 5_000;
const TOKEN_MS_MAX = 10_000;
/** The pause before `getToken` is called again while the socket is public because it has no token. */
const TOKEN_AGAIN_MS = 2_000;
/** The exchange accepts 50 messages a second from a socket. */
const SUBSCRIBE_BURST = 40;
const SUBSCRIBE_EVERY_MS = 25;

/** The connection itself: it reconnects by itself with a valid token, and respects the exchange's limits. */
export interface LiveSocket extends Link {
  connection(): { readonly socket: Socket; readonly token: string | null };
  isConnected(): boolean;
  unsubscribe(conditionId: string): void;
  /** Follows or leaves the list of markets. */
  followMarkets(isWanted: boolean): void;
  /** Both return a function that ends it. */
  on<T>(event: string, handler: Handler<T>): () => void;
  onConnect(handler: ConnectHandler): () => void;
  reconnect(): void;
  close(): void;
}

export function createLiveSocket(options: LiveSocketOptions, events: LiveSocketEvents): LiveSocket {
  const { getToken, cancelOnDisconnect = false, accountEvents = true } = options;
  const connectHandlers = new Set<ConnectHandler>();
  let sent: string | null = null;
  let refused: string | null = null;
  let isClosed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let tokenTimer: ReturnType<typeof setTimeout> | undefined;
  let isTokenDue = false;
  let pauseMs = RECONNECT_MS;
  const pacer = createPacer();
  /** The requests on this connection. */
  const asked = new Set<string>();

  // Socket.IO takes the path of its URL for a namespace.
  const [, origin, path = ''] = /^(https?:\/\/[^/]+)(.*?)\/*$/.exec(options.baseUrl) ?? [];
  const socket: Socket = io(origin, {
    path: `${path}/socket.io`,
    transports: ['websocket'],
    forceNew: true,
    timeout: CONNECT_MS_MAX,
    reconnectionDelay: RECONNECT_MS,
    reconnectionDelayMax: RECONNECT_MS_MAX,
    auth: (answer) => void tokenNow().then((token) => answer(authOf(token))),
  });

  /** A token that is not `refused`; null for none, undefined while there should be one. */
  async function askToken(): Promise<string | null | undefined> {
    if (!getToken) return null;
    let late: ReturnType<typeof setTimeout> | undefined;
    const none = new Promise<undefined>((resolve) => {
      late = setTimeout(resolve, TOKEN_MS_MAX, undefined);
    });
    const asked = Promise.resolve(refused).then(getToken);
    const token = await Promise.race([asked, none]).catch(() => undefined);
    clearTimeout(late);
    return token !== null && token === refused ? undefined : token;
  }

  /** Books need no token, so they do not wait for one. */
  async function tokenNow(): Promise<string | null> {
    sent = null;
    const token = await askToken();
    isTokenDue = token === undefined;
    sent = token ?? null;
    return sent;
  }

  /** A public socket that should be the wallet's connects again as soon as there is a token. */
  function upgradeLater(): void {
    clearTimeout(tokenTimer);
    tokenTimer = setTimeout(async () => {
      const token = await askToken();
      if (isClosed || !socket.connected || sent !== null) return;
      if (token === undefined) upgradeLater();
      else if (token !== null) socket.disconnect().connect();
    }, TOKEN_AGAIN_MS);
  }

  const authOf = (token: string | null): Record<string, unknown> =>
    token === null
      ? {}
      : { token, cancelOnDisconnect, ...(accountEvents ? account.resume() : { accountEvents }) };

  const account = createAccountEvents(socket);
  const renewal = createRenewal(socket, {
    getToken,
    current: () => sent,
    renewed: (token) => {
      sent = token;
    },
  });

  /** Reconnects where Socket.IO gives up: the exchange closed the socket, or refused it. */
  function comeBack(): void {
    if (isClosed) return;
    clearTimeout(timer);
    timer = setTimeout(() => socket.connect(), pauseMs);
    pauseMs = Math.min(2 * pauseMs, RECONNECT_MS_MAX);
  }

  socket.on('connect', () => {
    pauseMs = RECONNECT_MS;
    pacer.reset();
    asked.clear();
    if (isTokenDue) upgradeLater();
    events.onConnect();
    const authenticated = sent !== null;
    for (const handler of [...connectHandlers]) callUser(() => handler({ authenticated }));
  });
  socket.on('disconnect', (why) => {
    pacer.clear();
    renewal.stop();
    clearTimeout(tokenTimer);
    if (why === 'io server disconnect') comeBack();
    events.onDisconnect(why);
  });
  socket.on('connect_error', (error: Error & { data?: Partial<SessionEnd> }) => {
    if (error.data?.code === 'TOKEN_INVALID' || error.data?.code === 'TOKEN_EXPIRED') refused = sent;
    if (!socket.active) comeBack();
  });
  socket.on('session:expiring', renewal.now);
  socket.on('session:ended', () => {
    refused = sent;
  });

  const link: Link = {
    subscribe: (conditionId, since, answer) =>
      pacer.run(() => {
        // The exchange does not send the same snapshot again to a socket that follows a market.
        if (since === null && asked.has(conditionId)) socket.emit('unsubscribe', { conditionId });
        asked.add(conditionId);
        const message = { conditionId, ...since };
        socket
          .timeout(ANSWER_MS_MAX)
          .emit('subscribe', message, (error: Error | null, ack: SubscribeAck) => answer(error ? null : ack));
      }),
    drop: () => void socket.io.engine?.close(),
  };

  return {
    ...link,
    unsubscribe: (conditionId) => {
      if (socket.connected) socket.emit('unsubscribe', { conditionId });
    },
    followMarkets: (isWanted) => {
      if (socket.connected) socket.emit(isWanted ? 'subscribe' : 'unsubscribe', { markets: true });
    },
    connection: () => ({ socket, token: sent }),
    isConnected: () => socket.connected,
    on<T>(event: string, handler: Handler<T>): () => void {
      checkHandler(handler, 'the handler');
      const own = account.handlersOf(event);
      if (own) {
        own.add(handler as (body: unknown) => void);
        return () => void own.delete(handler as (body: unknown) => void);
      }
      const guarded = (body: T): void => callUser(() => handler(body));
      socket.on(event, guarded);
      return () => void socket.off(event, guarded);
    },
    onConnect(handler: ConnectHandler): () => void {
      checkHandler(handler, 'the handler');
      connectHandlers.add(handler);
      return () => void connectHandlers.delete(handler);
    },
    reconnect(): void {
      if (isClosed) return;
      clearTimeout(timer);
      account.forget();
      socket.disconnect();
      socket.connect();
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(tokenTimer);
      renewal.stop();
      pacer.clear();
      socket.disconnect();
    },
  };
}

/** Sends a burst at once and further messages one by one; waiting messages are dropped with their connection. */
function createPacer() {
  let left = SUBSCRIBE_BURST;
  let waiting: (() => void)[] = [];
  let timer: ReturnType<typeof setInterval> | undefined;

  function tick(): void {
    const next = waiting.shift();
    if (next) next();
    else if (++left >= SUBSCRIBE_BURST) stop();
  }
  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }
  return {
    run(act: () => void): void {
      timer ??= setInterval(tick, SUBSCRIBE_EVERY_MS);
      if (left > 0) {
        left--;
        act();
      } else waiting.push(act);
    },
    reset(): void {
      left = SUBSCRIBE_BURST;
    },
    clear(): void {
      waiting = [];
      stop();
    },
  };
}
