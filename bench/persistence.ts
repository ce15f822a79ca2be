import { Redis } from 'ioredis';
import { micro } from '../src/exchange/units';
import { type RunningRedis, startRedis } from '../src/local/redis';
import { createScripts } from '../src/store/redis/scripts';
import { createEngine } from '../src/store/verbs/engine';
import { batched, MARKET, passive } from './engine';

/**
 * The cost of writing to disk: resting inserts with `appendonly everysec`, and without it in turn, each on a separate Redis.
 * The rate is that of one pipelined client, so where the client is the limit the ratio is too good.
 */
export interface PersistenceRow {
  readonly suite: 'persistence';
  readonly appendonly: 'no' | 'everysec';
  readonly opsPerSecond: number;
  /** The share of the throughput without it. */
  readonly ratio: number;
}

const MODES = ['no', 'everysec'] as const;
const ROUNDS = 6;
const ORDERS_PER_ROUND = 10_000;
const IN_FLIGHT = 500;

export async function benchPersistence(
  deadlineMs: number,
  emit: (row: PersistenceRow) => void,
): Promise<void> {
  const servers: RunningRedis[] = [];
  const clients: Redis[] = [];
  try {
    const rates = new Map<string, number[]>();
    for (const appendonly of MODES) {
      const server = await startRedis({ appendonly });
      servers.push(server);
      clients.push(new Redis(server.url));
    }
    const engines = clients.map((client) => {
      const run = createScripts(batched(client));
      return createEngine({ run, grantMicro: micro(1e14), makersMax: 1000 });
    });
    for (const engine of engines) await engine.createMarket(MARKET, '{}', 'OPEN');
    for (let round = -1; round < ROUNDS && Date.now() < deadlineMs; round++) {
      for (const [i, mode] of MODES.entries()) {
        const rate = await insert(engines[i] as (typeof engines)[number]);
        // The first round warms both up.
        if (round >= 0) rates.set(mode, [...(rates.get(mode) ?? []), rate]);
      }
    }
    const without = median(rates.get('no') ?? []);
    for (const appendonly of MODES) {
      const opsPerSecond = Math.round(median(rates.get(appendonly) ?? []));
      emit({
        suite: 'persistence',
        appendonly,
        opsPerSecond,
        ratio: Math.round((opsPerSecond / without) * 100) / 100,
      });
    }
  } finally {
    for (const client of clients) client.disconnect();
    for (const server of servers) await server.stop();
  }
}

async function insert(engine: ReturnType<typeof createEngine>): Promise<number> {
  const requests = Array.from({ length: ORDERS_PER_ROUND }, (_, i) => passive(i));
  const start = process.hrtime.bigint();
  for (let at = 0; at < requests.length; at += IN_FLIGHT) {
    await Promise.all(requests.slice(at, at + IN_FLIGHT).map((request) => engine.place(request)));
  }
  return requests.length / (Number(process.hrtime.bigint() - start) / 1e9);
}

const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
