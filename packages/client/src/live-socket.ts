import { io, type Socket } from 'socket.io-client';
import { createAccountPosition } from './account-position';
import type { Link } from './followed-book';
import type { AccountNumbers, AccountResumed, ExchangeState, SessionEnd, SubscribeAck } from './types-live';

export interface LiveSocketOptions {
  /** Of the exchange; "" in a page it serves itself. */
  readonly baseUrl: string;
  /** A wallet's access token, asked for at every connection; null for none. `client.accessToken` fits. */
  readonly getToken?: (() => Promise<string | null> | string | null) | undefined;
  /** The wallet's orders are cancelled 10 s after its last such socket is gone. */
  readonly cancelOnDisconnect?: boolean | undefined;
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
/** The exchange takes 50 messages a second from a socket. */
const SUBSCRIBE_BURST = 40;
const SUBSCRIBE_EVERY_MS = 25;
/** While `getToken` still gives the token that is about to end. */
const RENEW_EVERY_MS = 2_000;
const PRIVATE_EVENTS = ['order:update', 'trade:update', 'balance:update'];

/** The connection itself: it comes back by itself, with a token that is good, and keeps to the exchange's pace. */
export interface LiveSocket extends Link {
  isConnected(): boolean;
  unsubscribe(conditionId: string): void;
  /** Follows the list of markets, or no longer. */
  followMarkets(isWanted: boolean): void;
  /** Both answer a function that ends it. */
  on<T>(event: string, handler: Handler<T>): () => void;
  onConnect(handler: ConnectHandler): () => void;
  reconnect(): void;
  close(): void;
}

export function createLiveSocket(options: LiveSocketOptions, events: LiveSocketEvents): LiveSocket {
  const { getToken, cancelOnDisconnect = false } = options;
  const connectHandlers = new Set<ConnectHandler>();
  const privateHandlers = new Map(PRIVATE_EVENTS.map((event) => [event, new Set<Handler<unknown>>()]));
  let sent: string | null = null;
  let refused: string | null = null;
  let isClosed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pauseMs = RECONNECT_MS;
  let renewal: ReturnType<typeof setTimeout> | undefined;
  const pacer = createPacer();
  const position = createAccountPosition();
  /** Asked for on this connection. */
  const asked = new Set<string>();

  const socket: Socket = io(options.baseUrl || undefined, {
    transports: ['websocket'],
    forceNew: true,
    timeout: CONNECT_MS_MAX,
    reconnectionDelay: RECONNECT_MS,
    reconnectionDelayMax: RECONNECT_MS_MAX,
    auth: (answer) => void tokenNow().then((token) => answer(authOf(token))),
  });

  /** A token that was refused is not sent again: books are for everybody. */
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
      : { token, ...position.resume(), ...(cancelOnDisconnect ? { cancelOnDisconnect: true } : {}) };

  /** The socket goes on under the next token, without a break; if there is none in time, it comes back with one. */
  async function renew(): Promise<void> {
    clearTimeout(renewal);
    const ending = sent;
    const token = await Promise.resolve()
      .then(() => getToken?.() ?? null)
      .catch(() => null);
    if (isClosed || !socket.connected || ending === null || sent !== ending) return;
    const again = (): void => {
      renewal = setTimeout(() => void renew(), RENEW_EVERY_MS);
    };
    if (token === null || token === ending) return again();
    socket
      .timeout(ANSWER_MS_MAX)
      .emit('renew', { token }, (error: Error | null, ack?: { readonly ok: boolean }) => {
        if (!error && ack?.ok) sent = token;
        else if (!isClosed && socket.connected) again();
      });
  }

  /** Each private event once and in its place: if others are missing, another connection begins with them. */
  function receive(event: string, body: AccountNumbers): void {
    const taken = position.take(body);
    if (taken === 'missing') socket.io.engine?.close();
    if (taken !== 'new') return;
    for (const handler of [...(privateHandlers.get(event) ?? [])]) handler(body);
  }

  /** Where Socket.IO gives up: the exchange ended the socket, or refused it. */
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
    clearTimeout(renewal);
    events.onDisconnect(why);
    if (why === 'io server disconnect') comeBack();
  });
  socket.on('connect_error', (error: Error & { data?: Partial<SessionEnd> }) => {
    if (error.data?.code === 'TOKEN_INVALID' || error.data?.code === 'TOKEN_EXPIRED') refused = sent;
    if (!socket.active) comeBack();
  });
  for (const event of PRIVATE_EVENTS) {
    socket.on(event, (body: AccountNumbers) => receive(event, body));
  }
  socket.on('session:expiring', () => void renew());
  socket.on('exchange:update', ({ epoch }: ExchangeState) => position.epoch(epoch));
  socket.on('account:resumed', ({ accountSequence }: AccountResumed) => position.begin(accountSequence));
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
    isConnected: () => socket.connected,
    on<T>(event: string, handler: Handler<T>): () => void {
      const own = privateHandlers.get(event);
      if (own) {
        own.add(handler as Handler<unknown>);
        return () => void own.delete(handler as Handler<unknown>);
      }
      socket.on(event, handler);
      return () => void socket.off(event, handler);
    },
    onConnect(handler: ConnectHandler): () => void {
      connectHandlers.add(handler);
      return () => void connectHandlers.delete(handler);
    },
    reconnect(): void {
      if (isClosed) return;
      clearTimeout(timer);
      position.forget();
      socket.disconnect();
      socket.connect();
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      clearTimeout(renewal);
      pacer.clear();
      socket.disconnect();
    },
  };
}

/** Lets a burst through at once and the rest one by one; what waits is dropped with the connection it was for. */
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
