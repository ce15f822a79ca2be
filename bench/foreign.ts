import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { io, type Socket } from 'socket.io-client';
import { micro } from '../src/exchange/units';
import { type RunningRedis, startRedis } from '../src/local/redis';
import { createAccountLogs } from '../src/store/outbox/account-log';
import { shardKeys } from '../src/store/redis/keys';
import { createScripts } from '../src/store/redis/scripts';
import { createEngine } from '../src/store/verbs/engine';
import type { PlaceRequest } from '../src/store/verbs/place';
import { request, wallet } from './engine';
import { median, round } from './figures';
import { createFiller } from './fill';
import { redisCpuMicros } from './keep-up';
import { createSigner } from './signer';
import { cpuMicros, FASTEST, type Side, startWeb, stopSides } from './web-process';

/**
 * The cost of an order in web processes that have nothing to do with it. Orders go straight into the engine at a steady rate,
 * every second one trades, and the logs of all their wallets are open; one web process broadcasts. Meanwhile others on the
 * same Redis
 *   idle        have no socket
 *   elsewhere   have a public socket in another market, and a private one of a wallet that does not trade
 * A process by itself spends CPU time as well, more of it on a busy machine, and no two processes spend the same. So there are two
 * equal exchanges, each on a Redis of its own. In each round the orders go to one of them and then to the other, and what both
 * spent in the half without orders is subtracted.
 */
export interface ForeignRow {
  readonly suite: 'foreign';
  readonly op: 'idle' | 'elsewhere' | 'broadcaster' | 'redis';
  readonly orders: number;
  /** The CPU time of this process for each order, less what it spends without orders. */
  readonly cpuMicrosPerOrder: number;
  /** The CPU time that it spends in the time of an order without orders. */
  readonly quietMicrosPerOrder: number;
  /** The bytes that this process reads for each order, also less those without orders: no load changes them. Null for Redis. */
  readonly readBytesPerOrder: number | null;
}

const ORDERS = 10_000;
const RATE = 2_000;
const TICK_MS = 4;
const WALLETS = 50;
const PIPS = 5_000;
const SIGNED_BYTES = 118;
const GRANT = micro(1e14);
const LEASE_TAKEN_MS = 1_000;

const keys = shardKeys();
const OPS = ['idle', 'elsewhere', 'broadcaster', 'redis'] as const;
/** CPU time in microseconds, and bytes read. */
type Spent = Record<ForeignRow['op'], { readonly micros: number; readonly bytes: number }>;

interface Half {
  readonly busy: Spent;
  readonly quiet: Spent;
}

interface Exchange {
  readonly server: RunningRedis;
  readonly redis: Redis;
  readonly sides: readonly [broadcaster: Side, idle: Side, elsewhere: Side];
  readonly marketId: PlaceRequest['marketId'];
  readonly sockets: readonly Socket[];
}

export async function benchForeign(
  deadlineMs: number,
  emit: (row: ForeignRow) => void,
  rounds: number,
): Promise<void> {
  const exchanges: Exchange[] = [];
  try {
    for (let n = 0; n < 2; n++) exchanges.push(await startExchange());
    const leases: (string | null)[] = [];
    for (const exchange of exchanges) {
      await knowScripts(exchange);
      leases.push(await exchange.redis.get(keys.lease));
    }
    const taken: (readonly [Half, Half])[] = [];
    for (let n = -1; n < rounds && (n < 1 || Date.now() < deadlineMs); n++) {
      const halves = [await half(exchanges, 0), await half(exchanges, 1)] as const;
      // On a very busy machine another process takes over the broadcast, and each has the work of another then.
      const now = await Promise.all(exchanges.map(({ redis }) => redis.get(keys.lease)));
      if (now.join() !== leases.join()) break;
      if (n >= 0) taken.push(halves);
    }
    if (taken.length === 0) throw new Error('the broadcast went to another process: the machine is too busy');
    for (const op of OPS) {
      const each = (of: (one: Half) => number): number =>
        round(median(taken.map(([one, other]) => (of(one) + of(other)) / 2)) / ORDERS, 3);
      emit({
        suite: 'foreign',
        op,
        orders: 2 * taken.length * ORDERS,
        cpuMicrosPerOrder: each((one) => one.busy[op].micros - one.quiet[op].micros),
        quietMicrosPerOrder: each((one) => one.quiet[op].micros),
        readBytesPerOrder: op === 'redis' ? null : each((one) => one.busy[op].bytes - one.quiet[op].bytes),
      });
    }
  } finally {
    for (const { server, redis, sides, sockets } of exchanges) {
      for (const socket of sockets) socket.disconnect();
      stopSides(sides);
      redis.disconnect();
      await server.stop();
    }
  }
}

/** Orders for one of the exchanges, and what both spent meanwhile. */
async function half(exchanges: readonly Exchange[], which: number): Promise<Half> {
  const both = [exchanges[which], exchanges[1 - which]] as readonly [Exchange, Exchange];
  const before = await Promise.all(both.map(spentBy));
  await trade(both[0]);
  const after = await Promise.all(both.map(spentBy));
  const [busy, quiet] = after.map((spent, i) => less(spent, before[i] as Spent)) as [Spent, Spent];
  return { busy, quiet };
}

async function startExchange(): Promise<Exchange> {
  const server = await startRedis();
  const broadcaster = await startWeb(FASTEST, server.url);
  // The first process takes the lease.
  await wait(LEASE_TAKEN_MS);
  const idle = await startWeb(FASTEST, server.url);
  const elsewhere = await startWeb(FASTEST, server.url);
  const { market } = await createSigner(broadcaster, 1);
  const other = await createSigner(elsewhere, 1);
  const sockets = [
    await connected(elsewhere, {}, other.market.conditionId),
    await connected(elsewhere, { token: (await other.signIn())[0] ?? '' }),
  ];
  const redis = new Redis(server.url);
  const logs = createAccountLogs({ redis, run: createScripts(redis), keys });
  for (let n = 0; n < WALLETS; n++) await logs.open(traderOf(n));
  return {
    server,
    redis,
    sockets,
    sides: [broadcaster, idle, elsewhere],
    marketId: market.id as PlaceRequest['marketId'],
  };
}

const traderOf = (n: number): string => wallet(5e6 + (n % WALLETS));

async function connected(
  { port }: Side,
  auth: { readonly token?: string },
  conditionId?: string,
): Promise<Socket> {
  const socket = io(`http://127.0.0.1:${port}`, { transports: ['websocket'], auth, forceNew: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  if (conditionId !== undefined) {
    const answer = (await socket.timeout(10_000).emitWithAck('subscribe', { conditionId })) as {
      ok: boolean;
    };
    if (!answer.ok) throw new Error('not subscribed');
  }
  return socket;
}

async function spentBy({ sides: [broadcaster, idle, elsewhere], redis }: Exchange): Promise<Spent> {
  const of = async (side: Side) => ({ micros: await cpuMicros(side), bytes: await bytesRead(side) });
  return {
    broadcaster: await of(broadcaster),
    idle: await of(idle),
    elsewhere: await of(elsewhere),
    redis: { micros: await redisCpuMicros(redis), bytes: 0 },
  };
}

/** From sockets and files, as Linux counts them. */
async function bytesRead({ child }: Side): Promise<number> {
  const counts = await readFile(`/proc/${child.pid}/io`, 'utf8').catch(() => '');
  return Number(/^rchar: (\d+)$/m.exec(counts)?.[1]);
}

function less(after: Spent, before: Spent): Spent {
  const of = (op: ForeignRow['op']) => ({
    micros: after[op].micros - before[op].micros,
    bytes: after[op].bytes - before[op].bytes,
  });
  return { broadcaster: of('broadcaster'), idle: of('idle'), elsewhere: of('elsewhere'), redis: of('redis') };
}

/** The filler only names the script. */
async function knowScripts({ redis, marketId }: Exchange): Promise<void> {
  const engine = createEngine({ run: createScripts(redis), grantMicro: GRANT, makersMax: 500 });
  for (const side of ['bid', 'ask'] as const) {
    await engine.place({ ...request(traderOf(0), side, PIPS, 100, SIGNED_BYTES), marketId });
  }
}

/** Every second order meets the one before it. */
async function trade({ redis, marketId }: Exchange): Promise<void> {
  const filler = await createFiller(redis);
  const order = (n: number): PlaceRequest => ({
    ...request(traderOf(n), n % 2 ? 'ask' : 'bid', PIPS, 100, SIGNED_BYTES),
    marketId,
  });
  const before = await redis.hlen(keys.orders);
  const start = performance.now();
  try {
    for (let count = 0; count < ORDERS; ) {
      const due = Math.min(ORDERS, Math.ceil(((performance.now() - start) * RATE) / 1_000)) - count;
      await filler.place(Array.from({ length: due }, () => order(count++)));
      await wait(TICK_MS);
    }
    // The filler reads no replies.
    const booked = (await redis.hlen(keys.orders)) - before;
    if (booked !== ORDERS) throw new Error(`${booked} of ${ORDERS} orders were booked`);
  } finally {
    filler.stop();
  }
}
