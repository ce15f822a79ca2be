import { Redis } from 'ioredis';
import { LAYOUT } from '../../../src/store/health/layout';
import { createKeys } from '../../../src/store/redis/keys';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let redis: Redis;

beforeAll(async () => {
  exchange = await startWebReplicas();
  redis = new Redis(exchange.redis.url);
});
afterAll(async () => {
  redis.disconnect();
  await exchange.stop();
});

test('a process shows its version, over HTTP and in its metrics', async () => {
  const { status, body } = await exchange.client.get('/version');
  const { version } = require('../../../package.json') as { version: string };
  expect([status, body]).toEqual([
    200,
    { version, commit: body.commit, layout: LAYOUT, durability: 'none', startedAt: expect.any(String) },
  ]);
  expect(body.commit === null || /^[0-9a-f]{40}$/.test(body.commit)).toBe(true);
  expect(Math.abs(Date.now() - Date.parse(body.startedAt))).toBeLessThan(300_000);
  const metrics = await (await fetch(`${exchange.client.url}/metrics`)).text();
  const info = metrics.split('\n').find((line) => line.startsWith('exchange_info{'));
  expect(info).toContain(`version="${version}",commit="${body.commit ?? ''}",layout="${LAYOUT}"`);
});

test('readyz shows the layout of the data, and fails as soon as the data needs a newer program', async () => {
  expect((await exchange.client.get('/readyz')).body.layout).toBe(LAYOUT);
  await redis.hset(createKeys().layout, { layout: LAYOUT + 1 });
  expect((await exchange.client.get('/readyz')).body.layout).toBe(LAYOUT + 1);
  await redis.hset(createKeys().layout, { oldest: LAYOUT + 1 });
  const { status, body } = await exchange.client.get('/readyz');
  expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
  expect(body.detail).toContain(`layout ${LAYOUT + 1}`);
});
