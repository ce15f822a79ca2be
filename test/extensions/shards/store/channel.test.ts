import { ChannelBroken } from '../../../../src/extensions/shards/store/channels';
import { shardsIn } from '../../../../src/extensions/shards/store/purse-in-shard';
import { createTransfers } from '../../../../src/extensions/shards/store/transfers';
import type { RunningRedis } from '../../../../src/local/redis';
import { decodeEvent } from '../../../../src/store/outbox/outbox';
import { CASH, CHANNEL_ENTRY } from '../../../../src/store/records/layout';
import { addressBytes } from '../../../../src/store/records/order';
import type { Keys } from '../../../../src/store/redis/keys';
import { startTestRedis } from '../../../support/redis';
import { GRANT, openShardWorld, type ShardWorld, walletWithHome } from './world';

/** Each verb of the channels by itself, between shard 0, the home of Alice, and shard 1. */
let server: RunningRedis;
let w: ShardWorld;
let home: Keys;
let other: Keys;
beforeAll(async () => {
  server = await startTestRedis();
});
beforeEach(async () => {
  w = await openShardWorld({ urls: [server.url], count: 4 });
  [home, other] = w.shards as [Keys, Keys];
});
afterEach(() => w.stop());
afterAll(() => server.stop());

const NOTHING = { freeMicro: null, reservedMicro: 0, nonce: 0, sentMicro: 0, gotMicro: 0 };
const alice = addressBytes(walletWithHome(0, 4));
const bob = addressBytes(walletWithHome(0, 4, 1));
const send = (needMicro: number, token = '', wallet = alice) =>
  w.channels.send({ from: 0, to: 1, wallet, needMicro, token, home: { grantMicro: GRANT } });
const free = async (shard: number, wallet = alice) => (await w.channels.look(shard, wallet)).freeMicro;
const entries = async () =>
  (await w.redis.xrangeBuffer(home.channel(1), '-', '+')).map(([id, [, packed]]) => ({
    id: id.toString(),
    packed: packed as Buffer,
    ...CHANNEL_ENTRY.read(packed as Buffer),
  }));
/** take_collateral with these entries of the channel, by their places. */
async function take(...places: number[]) {
  const all = await entries();
  const [code, , mark, taken] = await w.run(
    'take_collateral',
    [other.taken, other.cash, other.sums, other.outbox],
    [other.prefix, 0, ...places.flatMap((i) => [all[i]?.id ?? '', all[i]?.packed ?? ''])],
  );
  return { code: String(code), mark: String(mark), taken };
}

describe('send_collateral', () => {
  test('grants a new wallet, sends, and notes the other shard at home', async () => {
    expect(await send(60_000_000)).toMatchObject({ code: 'OK', sentMicro: 60_000_000 });
    expect(await free(0)).toBe(GRANT - 60_000_000);
    expect(await w.redis.hgetall(home.sums)).toEqual({ granted: String(GRANT), 'sent:1': '60000000' });
    const [entry] = await entries();
    expect(entry).toMatchObject({
      wallet: alice,
      amountMicro: 60_000_000,
      nonce: 0,
      beforeMs: 0,
      beforeIndex: 0,
    });
    expect(shardsIn((await w.redis.hgetBuffer(home.purses, alice)) as Buffer)).toEqual([1]);
    expect(await w.differences()).toEqual([]);
    expect(await w.inTransit()).toBe(60_000_000n);
  });

  test('sends what is needed as many times as half of what is free allows', async () => {
    expect(await send(30_000_000)).toMatchObject({ code: 'OK', sentMicro: 30_000_000 });
    expect(await send(30_000_000)).toMatchObject({ code: 'OK', sentMicro: 30_000_000 });
    expect(await send(7_000_000)).toMatchObject({ code: 'OK', sentMicro: 14_000_000 });
    expect(await send(26_000_000)).toMatchObject({ code: 'OK', sentMicro: 26_000_000 });
    expect(await free(0)).toBe(0);
  });

  test('goes on when the sums of a channel are as large as they get', async () => {
    const most = 2n ** 62n + 2n ** 20n;
    await w.redis.hset(home.sums, 'sent:1', String(most - 40_000_000n));
    await w.redis.hset(other.sums, 'got:0', String(most - 40_000_000n));
    expect(await send(30_000_000)).toMatchObject({ code: 'OK', sentMicro: 30_000_000 });
    expect(await send(30_000_000)).toMatchObject({ code: 'OK', sentMicro: 30_000_000 });
    // 2^62 less, and 20 million above the most: both ends come to the same sum.
    expect(await w.redis.hget(home.sums, 'sent:1')).toBe(String(2n ** 20n + 20_000_000n));
    expect(await w.inTransit()).toBe(60_000_000n);
    expect(await take(0)).toMatchObject({ code: 'OK', taken: 1 });
    expect(await w.redis.hget(other.sums, 'got:0')).toBe(String(most - 10_000_000n));
    expect(await w.inTransit()).toBe(30_000_000n);
    expect(await take(0, 1)).toMatchObject({ code: 'OK', taken: 1 });
    expect(await w.redis.hget(other.sums, 'got:0')).toBe(String(2n ** 20n + 20_000_000n));
    expect(await w.inTransit()).toBe(0n);
    expect([await free(0), await free(1)]).toEqual([GRANT - 60_000_000, 60_000_000]);
  });

  test('writes entries that each name the one before', async () => {
    expect(await send(1)).toMatchObject({ code: 'OK', sentMicro: 50_000_000 });
    expect(await send(1)).toMatchObject({ code: 'OK', sentMicro: 25_000_000 });
    const [first, second] = await entries();
    expect(`${second?.beforeMs}-${second?.beforeIndex}`).toBe(first?.id);
  });

  test('returns the entry, which the other shard takes without a look at the channel', async () => {
    const [first, second] = [await send(1), await send(1)];
    if (first.code !== 'OK' || second.code !== 'OK' || !first.entry || !second.entry)
      throw new Error('not sent');
    expect(await w.channels.take(0, 1, second.entry)).toBe(false);
    expect(await free(1)).toBeNull();
    expect(await w.channels.take(0, 1, first.entry)).toBe(true);
    expect(await w.channels.take(0, 1, first.entry)).toBe(true);
    expect(await free(1)).toBe(50_000_000);
    expect(await w.channels.take(0, 1, second.entry)).toBe(true);
    expect(await free(1)).toBe(75_000_000);
    expect(await w.differences()).toEqual([]);
    expect(await w.inTransit()).toBe(0n);
  });

  test('refuses what the account does not have, and then changes nothing', async () => {
    const before = await w.redis.dbsize();
    expect(await send(GRANT + 1)).toEqual({ code: 'SHORT', atHome: { shards: [], purse: NOTHING } });
    expect(await w.redis.dbsize()).toBe(before);
    const guest = { from: 2, to: 1, wallet: alice, needMicro: 1, token: '', home: { nonce: 0 } };
    expect(await w.channels.send(guest)).toMatchObject({ code: 'SHORT' });
  });

  test('of a home that has too little tells what is there, takes no hold and notes nothing', async () => {
    await send(60_000_000);
    const sentMicro = 60_000_000;
    const purse = { freeMicro: GRANT - sentMicro, reservedMicro: 0, nonce: 0, sentMicro, gotMicro: 0 };
    const short = { from: 0, to: 2, wallet: alice, needMicro: GRANT, token: 'one', home: { grantMicro: 0 } };
    expect(await w.channels.send(short)).toEqual({ code: 'SHORT', atHome: { shards: [1], purse } });
    expect(await w.redis.exists(home.purseHold(alice))).toBe(0);
    expect(shardsIn((await w.redis.hgetBuffer(home.purses, alice)) as Buffer)).toEqual([1]);
  });

  test('is refused while the exchange is halted, and take is not', async () => {
    await send(1);
    await w.redis.mset(home.mode, '2', other.mode, '2');
    await expect(send(1)).rejects.toMatchObject({ code: 'HALTED' });
    expect(await w.channels.drain(0, 1)).toBe(true);
    await w.redis.mset(home.mode, '1', other.mode, '1');
    expect(await send(1)).toMatchObject({ code: 'OK' });
    expect(await w.differences()).toEqual([]);
  });

  test('at home respects the hold of another gatherer', async () => {
    expect(await w.channels.hold(0, alice, 'one', 1)).toMatchObject({
      shards: [1],
      purse: { freeMicro: null },
    });
    expect(await w.channels.hold(0, alice, 'two', 2)).toBeNull();
    expect(await send(1)).toEqual({ code: 'BUSY' });
    expect(await send(1, 'one')).toMatchObject({ code: 'OK' });
    await w.channels.release(0, alice, 'two');
    expect(await send(1)).toEqual({ code: 'BUSY' });
    await w.channels.release(0, alice, 'one');
    expect(await send(1)).toMatchObject({ code: 'OK' });
    expect(await w.channels.hold(0, alice, 'two', 2)).toMatchObject({
      shards: [1, 2],
      purse: { freeMicro: GRANT / 4, reservedMicro: 0, nonce: 0, sentMicro: (GRANT * 3) / 4, gotMicro: 0 },
    });
    expect(await w.redis.pttl(home.purseHold(alice))).toBeGreaterThan(0);
  });
});

describe('take_collateral', () => {
  beforeEach(async () => {
    for (const wallet of [alice, bob, alice]) await send(10_000_000, '', wallet);
  });

  test('of an account at its limit says that the others are to retry, and goes on when it spends some', async () => {
    const full = CASH.pack({ freeMicro: Number.MAX_SAFE_INTEGER, reservedMicro: 0, nonce: 0, faucetMs: 0 });
    await w.redis.hset(other.cash, alice, full);
    await expect(w.channels.drain(0, 1)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining(
        'an account at its limit holds up the collateral from shard 0 to shard 1',
      ),
    });
    expect(await free(1, bob)).toBeNull();
    await w.redis.hset(
      other.cash,
      alice,
      CASH.pack({ freeMicro: 1, reservedMicro: 0, nonce: 0, faucetMs: 0 }),
    );
    expect(await w.channels.drain(0, 1)).toBe(true);
    expect(await free(1, bob)).toBe(50_000_000);
  });

  test('takes each entry once, also those of other wallets', async () => {
    expect(await take(0, 1, 2)).toMatchObject({ code: 'OK', taken: 3 });
    expect(await take(0, 1, 2)).toMatchObject({ code: 'OK', taken: 0 });
    const sent = (await entries()).reduce((sum, { amountMicro }) => sum + amountMicro, 0);
    expect([await free(1), await free(1, bob)]).toEqual([sent - 50_000_000, 50_000_000]);
    const news = await w.redis.xrevrangeBuffer(other.outbox, '+', '-', 'COUNT', 1);
    expect(decodeEvent(news[0]?.[1][1] as Buffer)).toMatchObject({ kind: 'BALANCE', wallets: { length: 2 } });
    expect([await w.differences(), await w.inTransit()]).toEqual([[], 0n]);
  });

  test('takes none behind a gap, and all that come before it', async () => {
    expect(await take(1, 2)).toEqual({ code: 'BEHIND', mark: '0-0', taken: 0 });
    expect(await take(0, 2)).toMatchObject({ code: 'BEHIND', taken: 1 });
    expect(await take(0, 1, 2)).toMatchObject({ code: 'OK', taken: 2 });
    expect(await w.differences()).toEqual([]);
  });

  test('says so when the sender has lost an entry that was taken', async () => {
    await take(0, 1, 2);
    const last = (await entries()).at(-1)?.id ?? '';
    await w.redis.xdel(home.channel(1), last);
    await expect(w.channels.drain(0, 1)).rejects.toThrow(ChannelBroken);
    expect((await w.transfers.finish()).broken).toEqual([[0, 1]]);
    await send(1);
    await expect(w.channels.drain(0, 1)).rejects.toThrow('shard 0 lost entries of its channel to shard 1');
    expect((await w.differences()).join()).toContain('0 to 1');
  });

  test('an entry that a clock behind has written under an older id is reported, and not lost in silence', async () => {
    await take(0, 1, 2);
    const [mark, sent] = [(await entries()).at(-1)?.id ?? '', await w.redis.hget(home.sums, 'sent:1')];
    await w.redis.del(home.channel(1));
    await w.redis.xadd(home.channel(1), mark, 'e', 'another entry of the same id');
    await w.redis.hset(home.sums, 'sent:1', Number(sent) + 5);
    expect((await w.transfers.finish()).broken).toEqual([[0, 1]]);
  });

  test('the nonce of a wallet never falls', async () => {
    await w.channels.lift(1, alice, 7);
    await take(0, 1, 2);
    expect((await w.channels.look(1, alice)).nonce).toBe(7);
    expect((await w.channels.look(1, bob)).nonce).toBe(0);
  });
});

describe('lift_nonce', () => {
  test('opens the account, and lists the wallet only when it may have older orders', async () => {
    await w.channels.lift(2, alice, 3);
    await w.channels.lift(2, alice, 2);
    expect(await w.channels.look(2, alice)).toMatchObject({ freeMicro: 0, nonce: 3 });
    expect(await w.redis.exists(w.shards[2]?.raisedNonces ?? '')).toBe(0);
    await w.channels.lift(2, alice, 4);
    expect(await w.redis.hgetBuffer(w.shards[2]?.raisedNonces ?? '', alice)).toEqual(Buffer.from('4'));
  });
});

describe('finishing transfers', () => {
  test('takes what is old enough, and leaves the rest to the command that sent it', async () => {
    await send(1);
    const patient = createTransfers({ ...w, olderThanMs: 60_000 });
    expect(await patient.finish()).toEqual({ finished: 0, waiting: 1, broken: [], failures: [] });
    expect(await w.transfers.finish()).toEqual({ finished: 1, waiting: 0, broken: [], failures: [] });
    expect([await w.inTransit(), await free(1)]).toEqual([0n, 50_000_000]);
  });

  test('always keeps the entry of the mark, because the next one names it', async () => {
    await send(1);
    await w.transfers.finish();
    await w.redis.xtrim(home.channel(1), 'MINID', (await entries())[0]?.id ?? '');
    await w.transfers.finish();
    expect(await entries()).toHaveLength(1);
    await send(1);
    expect(await w.transfers.finish()).toMatchObject({ finished: 1 });
  });
});
