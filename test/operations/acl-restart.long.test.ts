import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { startDurableRedis } from '../support/durable-redis';
import { ROOT } from '../support/processes';

test('a Redis with the ACL file of docs/deploy has every script’s writes after a crash', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-acl-'));
  const file = path.join(folder, 'users.acl');
  copyFileSync(path.join(ROOT, 'docs/deploy/redis-acl.conf'), file);
  const server = await startDurableRedis({ appendonly: 'always', settings: [['aclfile', file]] });
  const url = `redis://exchange:change-this-password@127.0.0.1:${server.port}`;
  const writer = new Redis(url);
  // Two writes of one script are a transaction in the append-only file.
  await writer.eval(
    "redis.call('set', KEYS[1], 1) redis.call('set', KEYS[2], 2)",
    ...[2, '{x0}:a', '{x0}:b'],
  );
  writer.disconnect();
  await server.kill();
  await server.revive();
  const reader = new Redis(url);
  expect(await reader.mget('{x0}:a', '{x0}:b')).toEqual(['1', '2']);
  reader.disconnect();
  await server.stop();
  rmSync(folder, { recursive: true });
});
