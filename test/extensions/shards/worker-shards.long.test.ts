import { setTimeout as sleep } from 'node:timers/promises';
import type { Market } from '../../../src/exchange/facts';
import { createQueueCounts } from '../../../src/jobs/queue-counts';
import { queuesOf, settlementQueueOf } from '../../../src/jobs/queues';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { holderOf, nameOf } from '../../../src/store/redis/holder';
import { createKeys } from '../../../src/store/redis/keys';
import type { RedisClient } from '../../../src/store/redis/scripts';
import { openSettling } from '../../jobs/settling';
import { type Started, startScript } from '../../support/processes';
import { startTestCluster, type TestCluster } from '../../support/redis';
import { READY_MS, until } from '../../support/waiting';

/** Four shards on three masters, and two worker processes. */
const SHARDS = 4;
const WORKERS = 2;
const MATCHES = 60;
const PATIENCE_MS = 60_000;

type World = Awaited<ReturnType<typeof openSettling>>;
let cluster: TestCluster;
let redis: RedisClient;
let worlds: World[];
let markets: Market[];
const workers: Started[] = [];

beforeAll(async () => {
  cluster = await startTestCluster(3);
  redis = connect({ urls: cluster.url.split(',') });
  await ready(redis, READY_MS);
  worlds = await Promise.all(
    Array.from({ length: SHARDS }, (_, shard) => openSettling(redis, createKeys(shard))),
  );
  markets = await Promise.all(worlds.map((world) => world.createMarket()));
  // Held back until both run: the first one alone would take them all.
  for (const { keys } of worlds) await redis.set(keys.relayLease, 'nobody', 'PX', PATIENCE_MS);
  for (let i = 0; i < WORKERS; i++) startWorker();
  await twoRunning();
  for (const { keys } of worlds) await redis.del(keys.relayLease);
});
afterAll(async () => {
  for (const { child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.map(({ exited }) => exited));
  disconnect(redis);
  await cluster.stop();
});

function startWorker(): void {
  const urls = JSON.stringify(cluster.url.split(','));
  workers.push(
    startScript(`require('./test/extensions/shards/shard-worker').runShardWorker(${urls}, ${SHARDS})`),
  );
}
const isRunning = ({ child, stdout }: Started): boolean =>
  child.signalCode === null && child.exitCode === null && stdout().includes('worker is running');
const twoRunning = () => until('two workers run', () => workers.filter(isRunning).length >= WORKERS);

const tokens = (): Promise<(string | null)[]> =>
  Promise.all(worlds.map(({ keys }) => redis.get(keys.relayLease)));
const allHeld = () =>
  until('every shard has a relay', async () => (await tokens()).every((token) => token !== null));

/** Matches in these shards, in turn. */
async function trade(shards: readonly number[], count = MATCHES): Promise<void> {
  for (let i = 0; i < count; i++)
    for (const shard of shards) await worlds[shard]?.match(markets[shard] as Market, 1 + (i % 3));
}
const settled = async (shard: number) => {
  const world = worlds[shard] as World;
  await world.drained(world.made.records, PATIENCE_MS);
  const census = await world.census([markets[shard] as Market]);
  const { fills, parts } = census;
  expect(census).toEqual({ fills, parts, missing: [], records: parts, listed: parts, told: parts });
  return parts;
};
const every = Array.from({ length: SHARDS }, (_, shard) => shard);

test('the leases of the shards spread over the workers, and one that is killed loses its own alone', async () => {
  await allHeld();
  const before = await tokens();
  expect(new Set(before).size).toBe(SHARDS);
  const trading = trade(every);
  const [victim] = workers.filter(isRunning);
  victim?.child.kill('SIGKILL');
  await victim?.exited;
  await trading;
  for (const shard of every) expect(await settled(shard)).toBeGreaterThanOrEqual(MATCHES);
  await allHeld();
  const after = await tokens();
  const moved = after.filter((token, shard) => token !== before[shard]).length;
  // Each relay has a token of its own, so the other worker still has the shards that it had.
  expect(moved).toBeGreaterThanOrEqual(1);
  expect(moved).toBeLessThan(SHARDS);
  startWorker();
  await twoRunning();
}, 180_000);

test('a shard whose Redis is silent holds up neither the settlements nor the chores of the others', async () => {
  await allHeld();
  const masters = worlds.map(({ keys }) => nameOf(holderOf(redis, keys)));
  // The queues of the chores are on another node.
  const silent = 2;
  const others = every.filter((shard) => masters[shard] !== masters[silent]);
  expect(others).toHaveLength(SHARDS - 1);
  await trade([silent], 5);
  const node = cluster.nodes.find(({ port }) => masters[silent]?.endsWith(`:${port}`));
  process.kill(node?.pid ?? 0, 'SIGSTOP');
  try {
    await trade(others, 20);
    const dueMs = Date.now() + 3_000;
    for (const shard of others)
      await worlds[shard]?.markets.edit(markets[shard]?.terms.id ?? '', { closesAtMs: dueMs });
    for (const shard of others) await settled(shard);
    // A scrape counts the jobs of the others; commands of a worker's connection have no time-out.
    const connection = connect({ urls: cluster.url.split(','), blocking: true });
    await ready(connection, READY_MS);
    const names = queuesOf(SHARDS, ['keep-journal']);
    const counts = createQueueCounts(connection, () => undefined, names);
    const missing = async () => {
      const counted = new Set((await counts.count()).map(({ queue }) => queue));
      return names.flatMap(({ name }) => (counted.has(name) ? [] : [name]));
    };
    // The first scrapes are made while the queues connect.
    await until('all others are counted', async () => (await missing()).length <= 1);
    expect(await missing()).toEqual([settlementQueueOf(silent).name]);
    disconnect(connection);
    // Closed by the clock: the chores of several seconds went on.
    for (const shard of others)
      await until('the market closes', async () => {
        const view = await worlds[shard]?.reads.view(markets[shard]?.terms.id ?? '');
        return view?.state.status === 'CLOSED';
      });
    expect(Date.now() - dueMs).toBeLessThan(PATIENCE_MS);
  } finally {
    process.kill(node?.pid ?? 0, 'SIGCONT');
  }
  await sleep(1_000);
  await until(
    'the shard answers again',
    () =>
      trade([silent], 1).then(
        () => true,
        () => false,
      ),
    { patienceMs: PATIENCE_MS },
  );
  await settled(silent);
}, 240_000);
