import { createOutbox } from '../../src/store/outbox/outbox';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { READERS } from '../support/readers';
import { startTestRedis } from '../support/redis';
import { READY_MS } from '../support/waiting';

const keys = createKeys();
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Redis drops whole nodes of a stream, a hundred entries each. */
const NODE = 100;

async function withOutbox(story: (redis: ReturnType<typeof connect>) => Promise<void>): Promise<void> {
  const server = await startTestRedis();
  const redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  try {
    await story(redis);
  } finally {
    disconnect(redis);
    await server.stop();
  }
}

/** Trims until it deletes nothing more; resolves with the number of entries left. */
function outboxOf(redis: ReturnType<typeof connect>, keepMax?: number) {
  const outbox = createOutbox({
    run: createScripts(redis),
    keys,
    readers: READERS,
    ...(keepMax !== undefined && { keepMax }),
  });
  return async (): Promise<number> => {
    while ((await outbox.trim()) > 0);
    return redis.xlen(keys.outbox);
  };
}

async function add(redis: ReturnType<typeof connect>, atMs: number, count: number): Promise<string> {
  let last = '';
  for (let i = 0; i < count; i++) last = String(await redis.xadd(keys.outbox, `${atMs}-${i}`, 'e', 'x'));
  return last;
}

test('entries that every reader has processed are deleted after a minute', async () => {
  await withOutbox(async (redis) => {
    const now = Date.now();
    await add(redis, now - 2 * MINUTE_MS, 5 * NODE);
    const last = await add(redis, now - MINUTE_MS / 2, 5 * NODE);
    await redis.hset(keys.readers, 'broadcast', last, 'settlement', last, 'journal', last);
    expect(await outboxOf(redis)()).toBe(5 * NODE);
  });
});

test('a clock that was a day ahead for a moment does not stop trimming for that day', async () => {
  await withOutbox(async (redis) => {
    const tomorrow = Date.now() + DAY_MS;
    await add(redis, tomorrow, 10 * NODE);
    const readers = ['broadcast', 'settlement', 'journal'];
    const noted = (id: string) => redis.hset(keys.readers, ...readers.flatMap((name) => [name, id]));
    await noted(`${tomorrow}-${10 * NODE - 1}`);
    const trim = outboxOf(redis, 3 * NODE);
    expect(await trim()).toBe(3 * NODE);
    // Entries that one reader has not processed stay, however many they are.
    for (let i = 0; i < 6 * NODE; i++) await redis.xadd(keys.outbox, '*', 'e', 'x');
    await redis.hset(keys.readers, 'broadcast', `${tomorrow + 1}-0`, 'settlement', `${tomorrow + 1}-0`);
    expect(await trim()).toBeGreaterThanOrEqual(6 * NODE);
  });
});
