import { once } from 'node:events';
import type { Redis } from 'ioredis';
import { micro } from '../../../../src/exchange/units';
import type { Channels } from '../../../../src/extensions/shards/store/channels';
import type { RunningRedis } from '../../../../src/local/redis';
import { ready } from '../../../../src/store/redis/connection';
import { startTestRedis } from '../../../support/redis';
import { READY_MS } from '../../../support/waiting';
import { openShardWorld, type ShardWorld, walletWithHome } from './world';

/** Collateral follows its wallet from shard to shard. Four shards on one Redis; every wallet starts with 100 at its home. */
let server: RunningRedis;
let w: ShardWorld;
/** Each send and each hold. */
const calls: string[] = [];
const told = (channels: Channels): Channels => ({
  ...channels,
  send(options) {
    calls.push(`send ${options.from}`);
    return channels.send(options);
  },
  hold(...options) {
    calls.push('hold');
    return channels.hold(...options);
  },
});
beforeAll(async () => {
  server = await startTestRedis();
});
beforeEach(async () => {
  calls.length = 0;
  w = await openShardWorld({ urls: [server.url], count: 4, around: told });
});
afterEach(async () => {
  expect(await w.differences()).toEqual([]);
  w.stop();
});
afterAll(() => server.stop());

const alice = walletWithHome(0, 4);

test('an order at the home of its wallet moves nothing', async () => {
  await w.reserve(0, alice, 60);
  expect(await w.redis.exists(w.shards[0]?.channel(1) ?? '', w.shards[0]?.purses ?? '')).toBe(0);
  expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 40_000_000, reservedMicro: 60_000_000 });
});

test('an order elsewhere gets what it needs from the home, as many times as half of what is free there allows', async () => {
  await w.reserve(1, alice, 1);
  expect(await w.channels.look(1, Buffer.from(alice.slice(2), 'hex'))).toMatchObject({
    freeMicro: 49_000_000,
    reservedMicro: 1_000_000,
  });
  await w.reserve(2, alice, 70);
  expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 29_000_000, reservedMicro: 71_000_000 });
  expect(await w.inTransit()).toBe(0n);
});

test('an order gets what it needs from several shards', async () => {
  await w.reserve(1, alice, 1);
  await w.reserve(2, alice, 1);
  await w.reserve(3, alice, 98);
  expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 0, reservedMicro: 100_000_000 });
});

describe('once the home has noted the shards of a wallet', () => {
  const bytes = Buffer.from(alice.slice(2), 'hex');
  const free = async (k: number): Promise<number> => ((await w.channels.look(k, bytes)).freeMicro ?? 0) / 1e6;

  /** 1 reserved in each of the shards 1 and 2, and 24 free at home, 49 in shard 1, 25 less what is reserved in shard 2. */
  beforeEach(async () => {
    await w.reserve(1, alice, 1);
    await w.reserve(2, alice, 1);
    expect(await Promise.all([0, 1, 2].map(free))).toEqual([25, 49, 24]);
    calls.length = 0;
  });

  test('the largest of them pays for an order alone, and the purse is not held', async () => {
    await w.reserve(2, alice, 30);
    expect(calls).toEqual(['send 1']);
    // Shard 1 had the most, 49, and sent four times the 6 that lacked.
    expect(await Promise.all([0, 1, 2].map(free))).toEqual([25, 25, 18]);
  });

  test('while another order holds the purse, an order waits for it', async () => {
    await w.channels.hold(0, bytes, 'another', 3);
    await w.reserve(2, alice, 30);
    expect([calls.includes('hold'), calls.at(-1)]).toEqual([true, 'send 1']);
  });

  test('a connection that was cut is no longer trusted to have them noted', async () => {
    expect(w.channels.notedOf(0, bytes)).toEqual([1, 2]);
    const cut = once(w.redis, 'close');
    (w.redis as Redis).disconnect(true);
    await cut;
    await ready(w.redis, READY_MS);
    expect(w.channels.notedOf(0, bytes)).toBeNull();
    await w.reserve(2, alice, 30);
    expect(calls).toEqual(['send 0']);
  });

  test('several pay for an order that no one can pay for, and the purse is held meanwhile', async () => {
    await w.reserve(2, alice, 90);
    expect(calls).toEqual(['hold', 'send 1', 'send 0']);
    expect(await Promise.all([0, 1, 2].map(free))).toEqual([8, 0, 0]);
  });
});

test('a refusal names the collateral of all shards', async () => {
  await w.reserve(1, alice, 10);
  await w.reserve(2, alice, 20);
  for (const shard of [0, 1, 2, 3])
    await expect(w.reserve(shard, alice, 71)).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      extra: { required: '71', available: '70', asset: 'COLLATERAL' },
    });
  await w.reserve(3, alice, 70);
});

test('an order that is sent twice at once is booked once, and no copy lacks what the other reserved', async () => {
  let meanwhile: (() => Promise<unknown>) | null = null;
  const racing = await openShardWorld({
    urls: [server.url],
    count: 4,
    around: (channels) => ({
      ...channels,
      // Between the refusal at the order's shard and the look at all others.
      async send(options) {
        const act = meanwhile;
        meanwhile = null;
        await act?.();
        return channels.send(options);
      },
    }),
  });
  try {
    for (const shard of [0, 1, 2, 3]) {
      const wallet = walletWithHome((shard + 1) % 4, 4, 1);
      const order = racing.order(shard, wallet, 0, 0, 5_000, 100 * 200);
      let first: { readonly replayed: boolean } | null = null;
      meanwhile = async () => {
        first = await racing.exchange.place(order);
      };
      const second = await racing.exchange.place(order);
      expect([first, second]).toMatchObject([{ replayed: false }, { replayed: true }]);
      expect(await racing.exchange.collateral(wallet)).toEqual({ freeMicro: 0, reservedMicro: 100_000_000 });
    }
    expect(await racing.differences()).toEqual([]);
  } finally {
    racing.stop();
  }
});

test('sets are split with collateral of other shards, and a repetition splits none', async () => {
  await w.exchange.convert(w.ids[3] ?? '', alice, micro(99_000_000), 'once');
  await w.exchange.convert(w.ids[3] ?? '', alice, micro(99_000_000), 'once');
  expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 1_000_000, reservedMicro: 0 });
});

test('a replacement counts the reserve of the order that it replaces', async () => {
  const old = w.order(2, alice, 0, 0, 5_000, 60 * 200);
  await w.exchange.place(old);
  const refused = w.exchange.replace(w.order(2, alice, 0, 0, 5_000, 101 * 200), old.orderHash);
  await expect(refused).rejects.toMatchObject({ extra: { required: '101', available: '100' } });
  const { record } = await w.exchange.replace(w.order(2, alice, 0, 0, 5_000, 100 * 200), old.orderHash);
  expect(record.status).toBe('OPEN');
  expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 0, reservedMicro: 100_000_000 });
});

describe('the nonce', () => {
  const nonceIs = (current: string) => ({ code: 'INVALID_NONCE_VALUE', extra: { current } });
  const at = (shard: number, nonce: number) => w.order(shard, alice, 0, 0, 5_000, 200, { nonce });

  test('is that of the home in a shard that the wallet never used', async () => {
    expect((await w.exchange.raiseNonce(alice, 'one')).nonce).toBe(1);
    await expect(w.exchange.place(at(2, 0))).rejects.toMatchObject(nonceIs('1'));
    const sale = w.order(2, alice, 1, 0, 5_000, 200, { nonce: 1 });
    await expect(w.exchange.place(sale)).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
    expect((await w.exchange.place(at(3, 1))).record.status).toBe('OPEN');
  });

  test('is raised in every shard of the wallet, and its older orders end there', async () => {
    for (const shard of [0, 1, 3]) await w.exchange.place(at(shard, 0));
    expect((await w.exchange.raiseNonce(alice, 'one')).nonce).toBe(1);
    for (const shard of [0, 1, 2, 3])
      await expect(w.exchange.place(at(shard, 0))).rejects.toMatchObject(nonceIs('1'));
    await w.exchange.invalidateAll(alice, 1);
    expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 100_000_000, reservedMicro: 0 });
    expect((await w.exchange.raiseNonce(alice, 'one')).nonce).toBe(1);
  });

  test('that a third shard sends with collateral is that of the home', async () => {
    await w.reserve(1, alice, 60);
    await w.reserve(2, alice, 1);
    await w.exchange.raiseNonce(alice, 'one');
    await w.exchange.place(w.order(3, alice, 0, 0, 5_000, 39 * 200, { nonce: 1 }));
    await expect(w.exchange.place(at(3, 0))).rejects.toMatchObject(nonceIs('1'));
  });
});

test('two orders of 60 out of 50 and 50: one is booked, and the other refused', async () => {
  for (let turn = 0; turn < 10; turn++) {
    const wallet = walletWithHome(0, 4, 1 + turn);
    // 50 in each of two shards, none at home.
    const holds = [w.order(1, wallet, 0, 0, 5_000, 50 * 200), w.order(2, wallet, 0, 0, 5_000, 50 * 200)];
    for (const hold of holds) await w.exchange.place(hold);
    for (const hold of holds) await w.exchange.cancel(hold.marketId, wallet, hold.orderHash, 'USER');
    const ends = await Promise.allSettled([w.reserve(1, wallet, 60), w.reserve(2, wallet, 60)]);
    const refused = ends.filter((end) => end.status === 'rejected').map(({ reason }) => reason.code);
    expect(refused).toEqual(['INSUFFICIENT_BALANCE']);
  }
});
