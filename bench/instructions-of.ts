import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import type { Channels, SendReply } from '../src/extensions/shards/store/channels';
import { addressBytes } from '../src/store/records/order';
import type { RedisClient } from '../src/store/redis/scripts';
import type { PlaceRequest } from '../src/store/verbs/place';
import { median } from './figures';
import { plantTraces } from './planted-traces';

/**
 * Counts the instructions of one tree's commands in a Redis under callgrind, which counts while EVALSHA runs and not
 * otherwise. Its parent forks it with the tree, the server's url and pid, and the folder of callgrind's dumps, and the number of rounds.
 */
const [tree = '', url = '', pid = '', folder = '', rounds = ''] = process.argv.slice(2);

const CALLS = 300;
const RESTING = 500;
const ROUNDS = Number(rounds);
const IN_FLIGHT = 100;
/** Wallets that send. */
const PULLS = 100;
const COMMAND_MS_MAX = 60_000;
const TRACES = 3_000;
const TRACED = { id: 'tracedmk', conditionId: `0x${'2'.repeat(64)}`, slug: 'traced' };

const CHANNELS = 'src/extensions/shards/store/channels.ts';

/** A module of the tree. Some have moved between the compared commits, so the first existing place is used. */
const load = (...places: string[]) =>
  require(places.map((place) => path.join(tree, place)).find((file) => existsSync(file)) ?? tree);

const { MARKET, batched, passive, request, wallet } = load('bench/engine.ts') as typeof import('./engine');
const { createScripts } = load('src/store/redis/scripts.ts', 'src/store/scripts.ts');
const { createEngine } = load('src/store/verbs/engine.ts', 'src/store/engine.ts');
const { createKeys } = load('src/store/redis/keys.ts') as typeof import('../src/store/redis/keys');

/** The instructions of all EVALSHA since the last dump. A dump starts the count again. */
function instructions(): number {
  execFileSync('callgrind_control', ['--dump', pid], { stdio: 'ignore' });
  const number = (file: string) => Number(/^out\.(\d+)$/.exec(file)?.[1] ?? 0);
  const newest = Math.max(...readdirSync(folder).map(number));
  const dump = readFileSync(path.join(folder, `out.${newest}`), 'utf8');
  return Number(/^(?:totals|summary): (\d+)/m.exec(dump)?.[1]);
}

async function inFlight(total: number, task: (i: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < total; at += IN_FLIGHT)
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, total - at) }, (_, i) => task(at + i)));
}

const listOf = <T>(length: number, item: (i: number) => T): T[] => Array.from({ length }, (_, i) => item(i));

type Count = (op: string, round: number, calls: number, work: () => Promise<void>) => Promise<void>;

/** The commands that bring collateral to another shard. Wallets send it to and fro between the shards 1 and 2. */
async function countPulls(redis: Redis, run: unknown, count: Count): Promise<void> {
  const { createChannels } = load(CHANNELS);
  const shards = [0, 1, 2].map((k) => createKeys(k));
  const channels: Channels = createChannels({ redis, run, shards });
  const engine = createEngine({ run, grantMicro: 1e14, makersMax: 1000, keys: shards[1] });
  const owners = listOf(PULLS, (i) => addressBytes(wallet(5e6 + i)));
  await inFlight(PULLS, (i) => engine.credit(wallet(5e6 + i), 1e9));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [from, to] of [
      [1, 2],
      [2, 1],
    ] as const) {
      const home = from === 1 ? { grantMicro: 0 } : { nonce: 0 };
      const send = (wallet: Buffer, needMicro: number) =>
        channels.send({ from, to, wallet, needMicro, token: 'one', home });
      const sent: SendReply[] = [];
      const isCounted = from === 1 ? round : 0;
      await count('send', isCounted, PULLS, () =>
        inFlight(PULLS, async (i) => {
          sent[i] = await send(owners[i] as Buffer, 1e6);
        }),
      );
      await count('take', isCounted, PULLS, () =>
        inFlight(PULLS, async (i) => {
          const reply = sent[i];
          if (reply?.code !== 'OK' || !reply.entry) throw new Error('nothing was sent');
          await channels.take(from, to, reply.entry);
        }),
      );
      await count('send with too little', isCounted, PULLS, () =>
        inFlight(PULLS, (i) => send(owners[i] as Buffer, 1e13)),
      );
    }
    await count('hold', round, PULLS, () =>
      inFlight(PULLS, (i) => channels.hold(1, owners[i] as Buffer, 'one', 2)),
    );
    await count('release', round, PULLS, () =>
      inFlight(PULLS, (i) => channels.release(1, owners[i] as Buffer, 'one')),
    );
  }
}

async function main(): Promise<void> {
  const redis = new Redis(url, { commandTimeout: COMMAND_MS_MAX });
  const run = createScripts(batched(redis as unknown as RedisClient));
  const engine = createEngine({ run, grantMicro: 1e14, makersMax: 1000 });
  const place = (orders: readonly PlaceRequest[]) =>
    inFlight(orders.length, (i) => engine.place(orders[i] as PlaceRequest));
  const counts: Record<string, number[]> = {};
  /** The first round makes wallets known and caches warm, so it does not count. */
  const count = async (op: string, round: number, calls: number, work: () => Promise<void>) => {
    if (round === 0) return work();
    instructions();
    await work();
    counts[op] = [...(counts[op] ?? []), instructions() / calls];
  };
  for (const market of [MARKET, TRACED]) await engine.createMarket(market, '{}', 'OPEN');
  await place(listOf(RESTING, (i) => passive(i)));
  await place(listOf(RESTING, (i) => ({ ...passive(i), marketId: TRACED.id })));
  await plantTraces(redis, TRACED.id, TRACES);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { id, first, insert, cancel } of [
      { id: MARKET.id, first: 1e6, insert: 'insert', cancel: 'cancel' },
      { id: TRACED.id, first: 1.1e6, insert: 'insert with traces', cancel: 'cancel beside traces' },
    ]) {
      const resting = listOf(CALLS, (i) => ({
        ...request(wallet(first + (i % 100)), i % 2 ? 'bid' : 'ask', i % 2 ? 3_500 : 6_500, 100),
        marketId: id,
      }));
      await count(insert, round, CALLS, () => place(resting));
      await count(cancel, round, CALLS, () =>
        inFlight(CALLS, (i) => {
          const { maker, orderHash } = resting[i] as PlaceRequest;
          return engine.cancel(id, maker, orderHash, 'USER');
        }),
      );
    }
    for (const makers of [1, 10, 100]) {
      const takers = Math.max(10, CALLS / makers);
      await place(listOf(takers * makers, (i) => request(wallet(2e6 + (i % 1000)), 'ask', 5_000, 100)));
      const crossing = listOf(takers, (i) => request(wallet(3e6 + (i % 20)), 'bid', 5_000, 100 * makers));
      await count(makers === 1 ? 'match1' : `sweep${makers}`, round, takers, () => place(crossing));
    }
    const owner = (n: number) => wallet(4e6 + n);
    const many = listOf(1_000, (i) =>
      request(
        owner(Math.floor(i / 100)),
        i % 2 ? 'bid' : 'ask',
        (i % 2 ? 3_100 : 6_100) + (i % 20) * 20,
        100,
      ),
    );
    await place(many);
    await count('cancel100', round, 10, () =>
      inFlight(10, (n) => {
        const hashes = many.slice(n * 100, (n + 1) * 100).map(({ orderHash }) => orderHash);
        return engine.cancelMany(MARKET.id, owner(n), hashes, 'USER');
      }),
    );
  }
  // A tree before shards has none.
  if (existsSync(path.join(tree, CHANNELS))) await countPulls(redis, run, count);
  const medians = Object.entries(counts).map(([op, values]) => [op, Math.round(median(values))]);
  process.send?.(Object.fromEntries(medians), () => redis.disconnect());
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
});
