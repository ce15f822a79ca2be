import { growShards } from '../../../../src/extensions/shards/store/grow';
import {
  FIRST_LAYOUT,
  noteShards,
  otherShards,
  readShards,
} from '../../../../src/extensions/shards/store/layout';
import type { RunningRedis } from '../../../../src/local/redis';
import { LAYOUT, noteLayout, unreadable } from '../../../../src/store/health/layout';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createKeys } from '../../../../src/store/redis/keys';
import {
  createScripts,
  type RedisClient,
  type RunScript,
  scriptSources,
} from '../../../../src/store/redis/scripts';
import { startTestRedis } from '../../../support/redis';
import { READY_MS } from '../../../support/waiting';

/** The number of shards of an exchange, and the layout in each. */
let server: RunningRedis;
let redis: RedisClient;
let run: RunScript;
const keysOf = (count: number) => Array.from({ length: count }, (_, k) => createKeys(k));
const note = (count: number) => noteShards({ redis, run }, keysOf(count));
beforeAll(async () => {
  server = await startTestRedis();
  redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  run = createScripts(redis, scriptSources());
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  disconnect(redis);
  await server.stop();
});

test('a new exchange keeps the number that it was started with, and its layout in every shard', async () => {
  expect((await note(4)).count).toBe(4);
  expect(await note(4)).toEqual({
    count: 4,
    growing: null,
    layouts: Array(4).fill({ layout: LAYOUT, oldest: FIRST_LAYOUT }).fill({ layout: LAYOUT, oldest: 1 }, 1),
  });
  for (const other of [1, 2, 8]) expect((await note(other)).count).toBe(4);
  expect(await readShards(redis, createKeys(0))).toEqual({ count: 4, growing: null });
  expect(await redis.keys('*shards')).toEqual([createKeys(0).shardCount]);
  expect((await redis.keys('*layout')).sort()).toEqual(
    keysOf(4)
      .map(({ layout }) => layout)
      .sort(),
  );
});

test('an exchange of one shard has no such key, and can not be started with more', async () => {
  expect(await note(1)).toEqual({ count: 1, growing: null, layouts: [{ layout: LAYOUT, oldest: 1 }] });
  expect(await note(4)).toEqual({ count: 1, growing: null, layouts: [] });
  expect(await redis.keys('*')).toEqual([createKeys(0).layout]);
});

test('data from before layouts were noted has one shard', async () => {
  await redis.hset(createKeys(0).markets, 'market01', '{}');
  expect((await note(2)).count).toBe(1);
});

test('of two processes that start at once with different numbers one is refused', async () => {
  for (let round = 0; round < 20; round++) {
    await redis.flushall();
    const found = await Promise.all(
      [1, 4, 1, 4, 4, 1].map(async (count) => [count, (await note(count)).count]),
    );
    const accepted = found.filter(([asked, has]) => asked === has).map(([asked]) => asked);
    expect(new Set(accepted).size).toBe(1);
    expect(accepted).toHaveLength(3);
  }
});

test('a program that knows one shard may not read several', async () => {
  await note(2);
  expect(await noteLayout(run, createKeys(0))).toEqual({ layout: LAYOUT, oldest: FIRST_LAYOUT });
  expect(unreadable({ layout: LAYOUT, oldest: LAYOUT + 1 })).toContain('start the newer version');
});

test('the refusal says what to do', () => {
  const of = (count: number, growing: number | null = null) => ({ count, growing });
  expect(otherShards(4, of(4))).toBeNull();
  expect(otherShards(1, of(4))).toBe('must be 4, the number of shards of this exchange: set SHARDS=4');
  expect(otherShards(4, of(1))).toBe(
    'must be 1, the number of shards of this exchange: set SHARDS=1, or give it 4: exchange shards grow --to 4',
  );
  for (const given of [1, 2, 4])
    expect(otherShards(given, of(1, 4))).toBe(
      'is of no use yet: this exchange is getting 4 shards; end that with: exchange shards grow --to 4',
    );
});

test('a growth ends the connections of programs that stood still, and may be done by a user who cannot', async () => {
  await note(1);
  await redis.set(createKeys(0).mode, '2');
  const still = connect({ urls: [server.url] });
  await ready(still, READY_MS);
  const closed = new Promise((resolve) => still.once('close', resolve));
  const terms = { run, patienceMs: 0, lookMs: 0 };
  expect(await growShards({ ...terms, redis, shards: keysOf(2) })).toMatchObject({ from: 1, to: 2 });
  await closed;
  disconnect(still);
  await redis.call('ACL', 'SETUSER', 'weak', 'on', '>weak', '~*', '&*', '+@all', '-client|kill');
  const weak = connect({ urls: [server.url.replace('redis://', 'redis://weak:weak@')] });
  await ready(weak, READY_MS);
  const shards = keysOf(4);
  expect(await growShards({ ...terms, run: createScripts(weak), redis: weak, shards })).toMatchObject({
    to: 4,
  });
  disconnect(weak);
  expect(await redis.ping()).toBe('PONG');
});
