import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy on loopback that can behave as badly as a network. */
export interface Proxy {
  readonly port: number;
  /** From now on the client receives nothing from the server: commands arrive and run, but replies are lost. */
  holdReplies(): void;
  /** The same from the moment the client sends one of these texts, whose command still arrives and runs. */
  holdRepliesFrom(needles: readonly Buffer[]): void;
  /** Nothing passes in either direction from the moment the client sends one of these texts, whose command does not arrive. */
  blackHoleFrom(needles: readonly Buffer[]): void;
  /** The same, and nothing is lost, as with `stall`: `heal` delivers that command, too. */
  stallFrom(needles: readonly Buffer[]): void;
  /** Whether the text of `stallFrom` has come. */
  isStalling(): boolean;
  /** Whether replies are held now. */
  isHolding(): boolean;
  /** Nothing passes in either direction; connections stay open, and new ones are accepted. */
  blackHole(): void;
  /**
   * Nothing passes in either direction, and nothing is lost: `heal` delivers what was sent, even if its sender has given up
   * meanwhile, as a network does after a partition.
   */
  stall(): void;
  /** Delays every chunk by so much, in both directions. */
  delay(ms: number): void;
  /** Ends every connection; new ones are accepted. */
  cut(): void;
  /** Everything passes from now on. Lost data stays lost, so the connections that lost data are closed. */
  heal(): void;
  /** Redirects new connections. */
  retarget(port: number): void;
  stop(): Promise<void>;
}

type Way = 'up' | 'down';

interface Late {
  readonly chunk: Buffer;
  readonly atMs: number;
}

export async function startProxy(targetPort: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const holding = { up: false, down: false };
  const late = new WeakMap<Socket, Late[]>();
  let needles: readonly Buffer[] = [];
  let atNeedle: () => void = () => undefined;
  let swallowed = false;
  /** Actions at the end of the stall, in their order. */
  let stalled: (() => void)[] | null = null;
  let delayMs = 0;
  let target = targetPort;
  const pass = (way: Way, to: Socket, chunk: Buffer): void => {
    if (way === 'up' && needles.some((needle) => chunk.includes(needle))) atNeedle();
    if (stalled) {
      stalled.push(() => void (to.destroyed || to.write(chunk)));
      return;
    }
    if (holding[way]) {
      swallowed = true;
      return;
    }
    const waiting = late.get(to) ?? [];
    late.set(to, waiting);
    if (delayMs === 0 && waiting.length === 0) to.write(chunk);
    else {
      waiting.push({ chunk, atMs: performance.now() + delayMs });
      if (waiting.length === 1) setTimeout(passLate, delayMs, to, waiting);
    }
  };
  /** In the order of arrival, also when the delay is reduced meanwhile. */
  const passLate = (to: Socket, waiting: Late[]): void => {
    const [first] = waiting;
    if (!first) return;
    const leftMs = first.atMs - performance.now();
    if (leftMs <= 0) {
      waiting.shift();
      if (!to.destroyed) to.write(first.chunk);
    }
    if (waiting.length > 0) setTimeout(passLate, Math.max(0, leftMs), to, waiting);
  };
  const stall = (): void => {
    stalled ??= [];
  };
  const blackHole = (): void => {
    holding.up = true;
    holding.down = true;
  };
  const from = (act: () => void) => (list: readonly Buffer[]) => {
    needles = list;
    atNeedle = act;
  };
  const server: Server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', (chunk) => pass('up', upstream, chunk));
    upstream.on('data', (chunk) => pass('down', client, chunk));
    client.on('close', () => {
      if (stalled) stalled.push(() => upstream.end());
      else upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    holdReplies: () => {
      holding.down = true;
    },
    holdRepliesFrom: from(() => {
      holding.down = true;
      // The reply may still be under way when the replies pass again.
      swallowed = true;
    }),
    blackHoleFrom: from(blackHole),
    stallFrom: from(stall),
    isHolding: () => holding.down,
    isStalling: () => stalled !== null,
    blackHole,
    stall,
    delay: (ms) => {
      delayMs = ms;
    },
    cut,
    heal: () => {
      holding.up = false;
      holding.down = false;
      delayMs = 0;
      needles = [];
      if (swallowed) cut();
      swallowed = false;
      const undelivered = stalled ?? [];
      stalled = null;
      for (const deliver of undelivered) deliver();
    },
    retarget: (port) => {
      target = port;
    },
    stop: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
