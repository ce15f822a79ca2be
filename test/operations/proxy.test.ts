import type { RunningRedis } from '../../src/local/redis';
import { startTestRedis } from '../support/redis';
import { until } from '../support/waiting';
import { startReplica } from '../support/web-replicas';

let redis: RunningRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
afterAll(() => redis.stop());

async function warnings(env: Record<string, string>): Promise<number> {
  const logged: string[] = [];
  const replica = await startReplica({ REDIS_URL: redis.url, RATE_LIMIT: 'on', ...env }, logged);
  try {
    for (const headers of [{}, { 'X-Forwarded-For': '203.0.113.5' }, { 'X-Forwarded-For': '203.0.113.6' }])
      await fetch(`${replica.url}/config`, { headers });
    await until('the requests are logged', () => logged.length > 0);
    return logged.filter((line) => line.includes('TRUST_PROXY is off')).length;
  } finally {
    await replica.stop();
  }
}

test('a process that does not trust the proxy in front of it reports that, once', async () => {
  expect(await warnings({})).toBe(1);
  expect(await warnings({ TRUST_PROXY: '1' })).toBe(0);
});
