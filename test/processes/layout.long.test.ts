import { Redis } from 'ioredis';
import type { RunningRedis } from '../../src/local/redis';
import { LAYOUT } from '../../src/store/health/layout';
import { createKeys } from '../../src/store/redis/keys';
import { startScript } from '../support/processes';
import { startTestRedis } from '../support/redis';
import { until } from '../support/waiting';

/** The layout noted in the data, and the behaviour of programs that are too old for it. */
let server: RunningRedis;
let redis: Redis;
const { layout: LAYOUT_KEY } = createKeys();

beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});
beforeEach(() => redis.flushall());

const start = (program: 'web' | 'worker') =>
  startScript(`require('./src/${program}.ts')`, { REDIS_URL: server.url, PORT: '0', NODE_ENV: 'test' });

test.each(['web', 'worker'] as const)(
  'a %s that is too old for the data exits with 78, names both layouts, and changes nothing',
  async (program) => {
    await redis.hset(LAYOUT_KEY, { layout: LAYOUT + 7, oldest: LAYOUT + 5 });
    const before = await redis.keys('*');
    const { exited, stderr } = start(program);
    expect(await exited).toBe(78);
    expect(stderr()).toContain(`layout ${LAYOUT + 7}`);
    expect(stderr()).toContain(`layout ${LAYOUT + 5} or newer; this program has ${LAYOUT}`);
    expect(await redis.hgetall(LAYOUT_KEY)).toEqual({ layout: `${LAYOUT + 7}`, oldest: `${LAYOUT + 5}` });
    expect(await redis.keys('*')).toEqual(before);
  },
);

test('an older program that may read newer data leaves its layout unchanged', async () => {
  await redis.hset(LAYOUT_KEY, { layout: LAYOUT + 1, oldest: LAYOUT });
  const { child, exited } = start('worker');
  await until('the worker works', async () => (await redis.exists(createKeys().relayLease)) === 1);
  expect(await redis.hgetall(LAYOUT_KEY)).toEqual({ layout: `${LAYOUT + 1}`, oldest: `${LAYOUT}` });
  child.kill('SIGTERM');
  await exited;
});

test('data without a noted layout gets the layout of the program that starts on it', async () => {
  const { child, exited } = start('worker');
  await until('the layout is noted', async () => (await redis.exists(LAYOUT_KEY)) === 1);
  expect(await redis.hget(LAYOUT_KEY, 'layout')).toBe(String(LAYOUT));
  child.kill('SIGTERM');
  await exited;
});
