import { lagOverShards } from '../../../../src/extensions/shards/store/outbox-lag';
import { createOutboxLag } from '../../../../src/store/outbox/lag';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys } from '../../../../src/store/redis/keys';
import type { RedisClient } from '../../../../src/store/redis/scripts';
import { READERS } from '../../../support/readers';
import { startTestRedis } from '../../../support/redis';
import { READY_MS } from '../../../support/waiting';

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

test('the outboxes are as far behind as the one that is furthest behind, for each reader', async () => {
  const shards = [createKeys(0), createKeys(1), createKeys(2)];
  const now = () => 20_000;
  const gauge = lagOverShards(shards.map((keys) => createOutboxLag({ redis, keys, readers: READERS, now })));
  expect(await gauge.look()).toMatchObject({ length: 0, added: 0 });
  for (const [k, keys] of shards.entries()) {
    for (let i = 1; i <= 5; i++) await redis.xadd(keys.outbox, `${i * 1_000}-0`, 'e', 'x');
    await redis.hset(keys.readers, {
      broadcast: `${k + 3}000-0`,
      settlement: '5000-0',
      journal: `${5 - k}000-0`,
    });
  }
  await redis.xtrim(shards[2]?.outbox ?? '', 'MINID', '2000-0');
  const { length, added, readers } = await gauge.look();
  expect([length, added]).toEqual([14, 15]);
  expect(readers).toEqual([
    { reader: 'broadcast', unprocessed: 2, seconds: 17 },
    { reader: 'settlement', unprocessed: 0, seconds: 0 },
    { reader: 'journal', unprocessed: 2, seconds: 17 },
  ]);
});
