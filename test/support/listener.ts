import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';
import { until } from './waiting';

/** The patience of a request on a busy machine. */
const ANSWER_MS = 60_000;

export interface Refused {
  readonly code: string;
  readonly detail: string;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into, not typed
type Body = any;

export type Listener = Awaited<ReturnType<typeof listen>>;

/** A connected socket, with every message it received. Rejects with the `data` of a `connect_error`. */
export async function listen(
  url: string,
  auth: Record<string, unknown> = {},
  options: Partial<ManagerOptions & SocketOptions> = {},
) {
  const socket: Socket = io(url, {
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
    auth,
    ...options,
  });
  const everything: [event: string, body: Body][] = [];
  /** Without the state of the exchange, which every socket receives on connecting. */
  const told: [event: string, body: Body][] = [];
  let ended: string | null = null;
  socket.onAny((event: string, body: Body) => {
    everything.push([event, body]);
    if (event !== 'exchange:update') told.push([event, body]);
  });
  socket.on('disconnect', (reason) => {
    ended = reason;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', (error) => {
      socket.close();
      reject('data' in error && error.data ? error.data : error);
    });
  });
  const all = (event: string): Body[] => everything.flatMap(([name, body]) => (name === event ? [body] : []));
  return {
    socket,
    told,
    all,
    ended: () => ended,
    /** Waits for the n-th message of an event, from 1. */
    async heard(event: string, n = 1): Promise<Body> {
      await until(`${n} x ${event}`, () => all(event).length >= n);
      return all(event)[n - 1];
    },
    ask: (event: string, ...sent: unknown[]): Promise<Body> =>
      socket.timeout(ANSWER_MS).emitWithAck(event, ...sent),
    close: () => void socket.disconnect(),
  };
}

/** The error of a refused connection. */
export async function refusal(connecting: Promise<Listener>): Promise<Refused> {
  try {
    (await connecting).close();
  } catch (error) {
    return error as Refused;
  }
  throw new Error('the connection was accepted');
}
