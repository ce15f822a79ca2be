import { createDirectory, partOf } from '../../../../src/extensions/shards/store/directory';
import type { RunningRedis } from '../../../../src/local/redis';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys } from '../../../../src/store/redis/keys';
import type { RedisClient } from '../../../../src/store/redis/scripts';
import { startTestRedis } from '../../../support/redis';
import { READY_MS } from '../../../support/waiting';

/** Which shard has a market. */
const keys = createKeys(0);
let server: RunningRedis;
let redis: RedisClient;
beforeAll(async () => {
  server = await startTestRedis();
  redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
});
beforeEach(async () => {
  await redis.del(keys.marketShards);
});
afterAll(async () => {
  disconnect(redis);
  await server.stop();
});

test('a market is in the shard that is stored, and what was found once needs no Redis', async () => {
  await redis.hset(keys.marketShards, 'market01', '3');
  const directory = createDirectory({ redis, keys, count: 4 });
  expect(await directory.find('market01')).toBe(3);
  await redis.del(keys.marketShards);
  expect(await directory.shardOf('market01')).toBe(3);
  expect(await partOf(directory, ['a', 'b', 'c', 'd'], 'market01')).toBe('d');
});

test('an unknown market is in no shard, and is found once it is there', async () => {
  const directory = createDirectory({ redis, keys, count: 4 });
  expect(await directory.find('market02')).toBeNull();
  await expect(directory.shardOf('market02')).rejects.toMatchObject({ code: 'MARKET_NOT_FOUND' });
  await expect(partOf(directory, [0, 1, 2, 3], 'market02')).rejects.toMatchObject({
    code: 'MARKET_NOT_FOUND',
  });
  await redis.hset(keys.marketShards, 'market02', '0');
  expect(await directory.find('market02')).toBe(0);
});

test.each(['4', '-1', '1.5', 'x'])(
  'a stored shard %p is an error: it belongs to another count',
  async (stored) => {
    await redis.hset(keys.marketShards, 'market03', stored);
    const directory = createDirectory({ redis, keys, count: 4 });
    await expect(directory.find('market03')).rejects.toThrow(`market market03 is in shard ${stored}`);
  },
);
