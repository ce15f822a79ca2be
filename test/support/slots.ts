import { Redis } from 'ioredis';
import type { RedisClient } from '../../src/store/redis/scripts';
import type { TestCluster } from './redis';
import { sleep } from './waiting';

export interface Shuttle {
  /** The number of moves so far. */
  moves(): number;
  /** Resolves when the slot stays on one node. */
  stop(): Promise<void>;
}

/** The number of keys that `redis-cli --cluster reshard` moves at a time. */
const KEYS_STEP = 10;
const STEPS_MAX = 100_000;
const MIGRATE_MS = 5_000;

/**
 * Moves the slot of a key between its node and another, as `redis-cli --cluster reshard` does, until it is stopped. Between
 * two moves it waits as long as the move took, and at least `restMs`.
 */
export async function startShuttle(
  cluster: TestCluster,
  key: string,
  restMs: number,
  movesMax = Number.POSITIVE_INFINITY,
): Promise<Shuttle> {
  const nodes = cluster.nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  const ids = await Promise.all(nodes.map((node) => node.cluster('MYID') as Promise<string>));
  const slot = await (nodes[0] as Redis).cluster('KEYSLOT', key);
  let [at, moves, isOver] = [await ownerOf(nodes, slot), 0, false];

  async function move(from: number, to: number): Promise<void> {
    const [source, target] = [nodes[from] as Redis, nodes[to] as Redis];
    await target.cluster('SETSLOT', slot, 'IMPORTING', ids[from] as string);
    await source.cluster('SETSLOT', slot, 'MIGRATING', ids[to] as string);
    for (let step = 0; ; step++) {
      const keys = (await source.callBuffer('CLUSTER', 'GETKEYSINSLOT', slot, KEYS_STEP)) as Buffer[];
      if (keys.length === 0) break;
      if (step > STEPS_MAX) throw new Error('the slot does not become empty');
      const { port = 0 } = target.options;
      await source.call('MIGRATE', '127.0.0.1', port, '', 0, MIGRATE_MS, 'KEYS', ...keys);
    }
    // The new owner first, because otherwise no node would have the slot for a moment.
    const others = nodes.filter((node) => node !== source && node !== target);
    for (const node of [target, source, ...others]) {
      await node.cluster('SETSLOT', slot, 'NODE', ids[to] as string);
    }
  }

  const running = (async () => {
    const home = at;
    while (!isOver && moves < movesMax) {
      const to = at === home ? (home + 1) % nodes.length : home;
      const startedAt = Date.now();
      await move(at, to);
      [at, moves] = [to, moves + 1];
      await sleep(Math.max(restMs, Date.now() - startedAt));
    }
  })();
  // Told by stop(), which the test awaits.
  running.catch(() => undefined);
  return {
    moves: () => moves,
    async stop() {
      isOver = true;
      try {
        await running;
      } finally {
        for (const node of nodes) node.disconnect();
      }
    },
  };
}

/** A client whose scripts declare only the keys of their headers, as before the door existed. */
export function withoutDoor(client: RedisClient): RedisClient {
  const callBuffer = (name: string, script: string, count: number, ...rest: (string | Buffer)[]) => {
    const has = String(rest[count - 1]).endsWith(':door');
    const [keys, args] = [rest.slice(0, has ? count - 1 : count), rest.slice(count)];
    return client.callBuffer(name, script, keys.length, ...keys, ...args);
  };
  return new Proxy(client, {
    // Scripts go past the client of a cluster (src/store/redis/direct.ts).
    getPrototypeOf: () => Object.prototype,
    get: (target, name) => (name === 'callBuffer' ? callBuffer : Reflect.get(target, name)),
  });
}

async function ownerOf(nodes: readonly Redis[], slot: number): Promise<number> {
  const ranges = (await (nodes[0] as Redis).cluster('SLOTS')) as unknown as [
    number,
    number,
    [string, number],
  ][];
  const range = ranges.find(([from, to]) => from <= slot && slot <= to);
  const at = nodes.findIndex(({ options }) => options.port === range?.[2][1]);
  if (at < 0) throw new Error(`nobody has slot ${slot}`);
  return at;
}
