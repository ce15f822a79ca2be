import { chainScale } from '../../../../src/exchange/order';
import { auditOverShards } from '../../../../src/extensions/shards/store/audit';
import type { RunningRedis } from '../../../../src/local/redis';
import { netField } from '../../../../src/store/records/account';
import { addressBytes } from '../../../../src/store/records/order';
import type { Keys } from '../../../../src/store/redis/keys';
import { createAudit } from '../../../support/audit';
import { startTestRedis } from '../../../support/redis';
import { GRANT, openShardWorld, type ShardWorld, walletWithHome } from './world';

/** The audit of several shards names what is wrong between them, and each entry of a channel counts. */
/** More than the audit reads in one step. */
const SENT = 603;
let server: RunningRedis;
let w: ShardWorld;
let [home, other]: Keys[] = [];
beforeAll(async () => {
  server = await startTestRedis();
  w = await openShardWorld({ urls: [server.url], count: 4 });
  [home, other] = w.shards;
  await w.reserve(1, alice, 1);
  const terms = { from: 0, to: 1, needMicro: 1, token: '', home: { grantMicro: GRANT } };
  for (let i = 1, sent = 0; sent < SENT; i++) {
    const address = `0x${i.toString(16).padStart(40, '0')}`;
    // The hold of a purse may be released a moment after its command.
    if (w.homeOf(address) !== 0 || address === alice) continue;
    const { code } = await w.channels.send({ ...terms, wallet: addressBytes(address) });
    expect(code).toBe('OK');
    sent++;
  }
});
afterAll(async () => {
  w?.stop();
  await server?.stop();
});

const alice = walletWithHome(0, 4);
/** The markets of this world have no documents. */
const IGNORED: ReadonlySet<string> = new Set(['DOCUMENT', 'NAME', 'AGENDA', 'POSITION']);

async function found(): Promise<string[]> {
  const { redis, run, shards } = w;
  const parts = shards.map((keys) => createAudit({ redis, run, keys, scale: chainScale(18) }));
  const { differences, checked } = await auditOverShards({ redis, shards, parts })();
  expect(checked.markets).toBe(4);
  return differences
    .filter(({ kind }) => !IGNORED.has(kind))
    .map(({ kind, name, wallet }) => `${kind} ${name ?? wallet}`);
}

/** Puts the key back afterwards. */
async function spoilt(key: string, spoil: (redis: ShardWorld['redis']) => Promise<unknown>) {
  const before = (await w.redis.dumpBuffer(key)) as Buffer;
  await spoil(w.redis);
  const told = await found();
  await w.redis.restore(key, 0, before, 'REPLACE');
  return told;
}

test('collateral on its way is no difference, before and after it is taken', async () => {
  expect(await w.redis.xlen(home?.channel(1) ?? '')).toBeGreaterThan(SENT);
  expect(await found()).toEqual([]);
  expect(await w.inTransit()).toBeGreaterThan(0n);
});

test('one entry that is missing in a channel is named', async () => {
  const key = home?.channel(1) ?? '';
  const told = await spoilt(key, async (redis) => {
    const entries = await redis.xrange(key, '-', '+');
    await redis.xdel(key, entries[SENT - 2]?.[0] ?? '');
  });
  expect(told).toEqual(['LOST_ENTRIES 0 to 1', 'IN_TRANSIT 0 to 1']);
  expect(await found()).toEqual([]);
});

test('a channel that ends before what was taken of it is named', async () => {
  await w.transfers.finish();
  expect(await w.inTransit()).toBe(0n);
  expect(await found()).toEqual([]);
  const key = home?.channel(1) ?? '';
  const told = await spoilt(key, async (redis) => {
    const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
    await redis.xdel(key, last?.[0] ?? '');
  });
  expect(told).toEqual(['LOST_ENTRIES 0 to 1']);
});

test('a wallet whose home does not name its shard is named, and wallets that differ from their channels', async () => {
  const key = home?.purses ?? '';
  expect(await spoilt(key, (redis) => redis.hdel(key, addressBytes(alice)))).toEqual([`PURSE ${alice}`]);
  const [accounts, field] = [other?.cash ?? '', netField(addressBytes(alice))];
  const ofAlice = (await w.redis.hgetBuffer(accounts, field)) as Buffer;
  ofAlice[ofAlice.length - 1] = ((ofAlice.at(-1) as number) + 1) % 256;
  expect(await spoilt(accounts, (redis) => redis.hset(accounts, field, ofAlice))).toEqual(['TRANSFERS 1']);
  const taken = other?.sums ?? '';
  const told = await spoilt(taken, (redis) => redis.hincrby(taken, 'got:0', 1));
  expect(told).toContain('IN_TRANSIT 0 to 1');
});
