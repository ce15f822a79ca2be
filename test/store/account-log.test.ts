import { createAccountLogs, type EventsByWallet } from '../../src/store/outbox/account-log';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts, type RedisClient } from '../../src/store/redis/scripts';
import { startTestRedis } from '../support/redis';
import { READY_MS } from '../support/waiting';

/** The logs of wallets when entries of the outbox are trimmed before or after they are logged. */
const keys = createKeys();
const TOKEN = 'the broadcaster';
const ADDRESS = `0x${'ab'.repeat(20)}`;
const BALANCE: EventsByWallet = new Map([[ADDRESS, [{ kind: 'balance' }]]]);

let server: Awaited<ReturnType<typeof startTestRedis>>;
let redis: RedisClient;
beforeEach(async () => {
  server = await startTestRedis();
  redis = connect({ urls: [server.url] });
  await ready(redis, READY_MS);
  await redis.set(keys.lease, TOKEN);
});
afterEach(async () => {
  disconnect(redis);
  await server.stop();
});

const accounts = () => createAccountLogs({ redis, run: createScripts(redis), keys });

/** Adds entries with the ids `from`-0 to `to`-0; resolves with the last id. */
async function add(from: number, to: number): Promise<string> {
  for (let i = from; i <= to; i++) await redis.xadd(keys.outbox, `${i}-0`, 'e', 'x');
  return `${to}-0`;
}
const trimBelow = (id: number) => redis.xtrim(keys.outbox, 'MINID', `${id}-0`);

test.each([
  ['some', 5],
  ['all', 11],
])(
  'a log begins again after its last number when %s entries were trimmed before they were logged',
  async (_name, below) => {
    const logs = accounts();
    const logged = await add(1, 2);
    const opened = await logs.open(ADDRESS);
    const at = await add(3, 10);
    await trimBelow(below);
    expect(await logs.append(TOKEN, logged, at, BALANCE)).toMatchObject({ code: 'OK' });
    const { first, last } = await logs.open(ADDRESS);
    expect(first).toBeGreaterThan(opened.last);
    expect(last).toBeGreaterThanOrEqual(first);
  },
);

test('a log that has every entry misses none, although they were trimmed afterwards', async () => {
  const logs = accounts();
  const logged = await add(1, 2);
  const opened = await logs.open(ADDRESS);
  const at = await add(3, 10);
  await logs.append(TOKEN, logged, at, BALANCE);
  await trimBelow(11);
  expect(await redis.xlen(keys.outbox)).toBe(0);
  await logs.append(TOKEN, at, await add(12, 12), BALANCE);
  expect((await logs.open(ADDRESS)).first).toBe(opened.first);
  // Trimming up to the entry that was logged last loses nothing either.
  await trimBelow(12);
  await logs.append(TOKEN, '12-0', await add(13, 14), BALANCE);
  expect((await logs.open(ADDRESS)).first).toBe(opened.first);
});

test('a log that was behind the outbox misses entries only if its last one was trimmed', async () => {
  const logs = accounts();
  const logged = await add(1, 10);
  const opened = await logs.open(ADDRESS);
  await add(11, 20);
  await logs.append(TOKEN, logged, '15-0', BALANCE);
  await trimBelow(15);
  await logs.append(TOKEN, '15-0', '18-0', BALANCE);
  expect((await logs.open(ADDRESS)).first).toBe(opened.first);
  await trimBelow(20);
  await logs.append(TOKEN, '18-0', '20-0', BALANCE);
  expect((await logs.open(ADDRESS)).first).toBeGreaterThan(opened.last);
});
