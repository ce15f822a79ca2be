import { createStandings } from '../../../src/store/health/standing';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { shardKeys } from '../../../src/store/redis/keys';
import { createScripts, type RedisClient } from '../../../src/store/redis/scripts';
import { standingsOverShards } from '../../../src/store/shards/standings';
import { startTestRedis } from '../../support/redis';
import { READY_MS } from '../../support/waiting';

/** One epoch for all shards: a loss in any of them is another name, which every process tells, once. */
let server: Awaited<ReturnType<typeof startTestRedis>>;
let redis: RedisClient;
beforeEach(async () => {
  server = await startTestRedis();
  redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
});
afterEach(async () => {
  disconnect(redis);
  await server.stop();
});

function process(shards = 4) {
  const run = createScripts(redis);
  const parts = Array.from({ length: shards }, (_, k) =>
    createStandings({ redis, run, keys: shardKeys(k), promised: null }),
  );
  const standings = standingsOverShards(parts);
  const heard: string[] = [];
  standings.onEpoch((epoch, before) => heard.push(`${before} ${epoch}`));
  return { standings, parts, heard };
}

test('every process gives the shards the same epoch', async () => {
  const [one, other] = [process(), process()];
  expect(one.standings.current()).toBeNull();
  const first = await one.standings.refresh();
  expect(first).toMatchObject({
    isFirst: true,
    isCertain: true,
    epoch: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  expect(await other.standings.refresh()).toEqual(first);
  expect(one.heard).toEqual([]);
});

test.each([0, 1, 2, 3])('a loss in shard %i alone is another epoch of the exchange', async (shard) => {
  const { standings, parts, heard } = process();
  const { epoch: before } = await standings.refresh();
  const doubts = standings.doubts();
  await redis.hset(shardKeys(shard).epoch, 'name', 'another copy of the data');
  // The shard's own check notices it first, between two checks of all.
  await parts[shard]?.refresh();
  const { epoch, isFirst } = await standings.refresh();
  expect(epoch).not.toBe(before);
  expect(isFirst).toBe(false);
  expect(heard).toEqual([`${before} ${epoch}`]);
  expect(standings.doubts()).toBe(doubts + 1);
});
