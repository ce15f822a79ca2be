import { io, type Socket } from 'socket.io-client';
import { createAccountEvents } from './account-events';
import type { Link } from './followed-book';
import { handler as checkHandler } from './input';
import { createRenewal } from './renewal';
import type { SessionEnd, SubscribeAck } from './types-live';

export interface LiveSocketOptions {
  /** The URL of the exchange; "" in a page that the exchange serves. */
  readonly baseUrl: string;
  /** Returns a wallet's access token at every connection; null for none. `client.accessToken` fits. */
  readonly getToken?: (() => Promise<string | null> | string | null) | undefined;
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
  let pauseMs = RECONNECT_MS;
  const pacer = createPacer();
  /** The requests on this connection. */
  const asked = new Set<string>();

  const socket: Socket = io(options.baseUrl || undefined, {
    transports: ['websocket'],
    forceNew: true,
    timeout: CONNECT_MS_MAX,
    reconnectionDelay: RECONNECT_MS,
    reconnectionDelayMax: RECONNECT_MS_MAX,
    auth: (answer) => void tokenNow().then((token) => answer(authOf(token))),
  });

  /** A refused token is not sent again, because books need no token. */
  async function tokenNow(): Promise<string | null> {
    sent = null;
    if (!getToken) return null;
    let late: ReturnType<typeof setTimeout> | undefined;
    const none = new Promise<null>((resolve) => {
      late = setTimeout(resolve, TOKEN_MS_MAX, null);
    });
    const asked = Promise.resolve().then(getToken);
    const token = await Promise.race([asked, none]).catch(() => null);
    clearTimeout(late);
    sent = token === refused ? null : token;
    return sent;
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
    events.onConnect();
    for (const handler of [...connectHandlers]) handler({ authenticated: sent !== null });
  });
  socket.on('disconnect', (why) => {
    pacer.clear();
    renewal.stop();
    events.onDisconnect(why);
    if (why === 'io server disconnect') comeBack();
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
      socket.on(event, handler);
      return () => void socket.off(event, handler);
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
