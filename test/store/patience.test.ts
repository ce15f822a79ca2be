import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { startTestRedis } from '../support/redis';
import { READY_MS } from '../support/waiting';

/** Longer than a command and a silent connection may take. */
const PAUSE_MS = 3_000;

let server: Awaited<ReturnType<typeof startTestRedis>>;

beforeAll(async () => {
  server = await startTestRedis();
});
afterAll(() => server.stop());

/** Blocks this process completely, as SIGSTOP does. */
const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('a pause of this process fails no command that Redis answered meanwhile, and cuts no connection', async () => {
  const redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  let closed = 0;
  redis.on('close', () => closed++);
  try {
    const answers = [redis.ping(), redis.set('key', 'value'), redis.get('key')];
    // The commands leave with the next turn of the event loop.
    await new Promise(setImmediate);
    pause(PAUSE_MS);
    expect(await Promise.all(answers)).toEqual(['PONG', 'OK', 'value']);
    await new Promise(setImmediate);
    expect(closed).toBe(0);
  } finally {
    disconnect(redis);
  }
});

test('a command that Redis does not answer fails, and its connection is cut', async () => {
  const redis = connect({ urls: [server.url] });
  const other = connect({ urls: [server.url] });
  await Promise.all([ready(redis, READY_MS), ready(other, READY_MS)]);
  const closed = new Promise((resolve) => redis.once('close', resolve));
  try {
    await other.call('CLIENT', 'PAUSE', '60000', 'ALL');
    await expect(redis.get('key')).rejects.toThrow('Command timed out');
    await closed;
  } finally {
    disconnect(redis);
    disconnect(other);
  }
});
