import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { shardsIn } from '../../../src/extensions/shards/store/purse-in-shard';
import { repairChannels } from '../../../src/extensions/shards/store/repair';
import { freePort } from '../../../src/local/ports';
import type { RunningRedis } from '../../../src/local/redis';
import { addressBytes } from '../../../src/store/records/order';
import { createKeys } from '../../../src/store/redis/keys';
import type { RunScript } from '../../../src/store/redis/scripts';
import { type DurableRedis, startDurableRedis } from '../../support/durable-redis';
import { openLink, startTestRedis } from '../../support/redis';
import { sizeOf } from '../../support/sample';
import { until } from '../../support/waiting';
import { GRANT, openShardWorld, type ShardWorld, walletWithHome } from './store/world';

/** Channels whose sender lost what it had sent, made whole again. */
const M = 1_000_000;
const SHARDS = 4;
/** The repair is interrupted at one in this number of places, before and after scripts in turn. */
const EVERY = sizeOf('INTERRUPTED_EVERY', 5, 1);
const [alice, bob, carla, dora] = [0, 1, 2, 3].map((skip) => walletWithHome(0, SHARDS, skip)) as [
  string,
  string,
  string,
  string,
];
const bytes = addressBytes;
const total = async (w: ShardWorld, address: string): Promise<number> => {
  const { freeMicro, reservedMicro } = await w.exchange.collateral(address);
  return freeMicro + reservedMicro;
};

describe('on one server, whose shard goes back to what it had', () => {
  let server: RunningRedis;
  let w: ShardWorld;
  beforeAll(async () => {
    server = await startTestRedis();
  });
  beforeEach(async () => {
    w = await openShardWorld({ urls: [server.url], count: SHARDS });
  });
  afterEach(() => w.stop());
  afterAll(() => server.stop());

  /** Everything of one shard as it is now; the result brings it back. */
  async function saved(shard: number): Promise<() => Promise<void>> {
    const { prefix } = createKeys(shard);
    const all = await w.redis.keysBuffer(`${prefix}*`);
    const dumps = await Promise.all(all.map(async (key) => [key, await w.redis.dumpBuffer(key)] as const));
    return async () => {
      for (const key of await w.redis.keysBuffer(`${prefix}*`)) await w.redis.del(key);
      for (const [key, dump] of dumps) await w.redis.restore(key, 0, dump as Buffer);
    };
  }
  const repair = (run: RunScript = w.run) => repairChannels({ redis: w.redis, run, shards: w.shards });
  const halted = async <T>(act: () => Promise<T>): Promise<T> => {
    await w.exchange.setMode('HALTED');
    return act().finally(() => w.exchange.setMode('NORMAL'));
  };

  /** Alice has 60 in shard 1, and shard 0 does not know. */
  async function lose(): Promise<void> {
    await w.reserve(0, alice, 10);
    const back = await saved(0);
    await w.reserve(1, alice, 60);
    expect(await w.differences()).toEqual([]);
    await back();
    expect((await w.transfers.finish()).broken).toEqual([[0, 1]]);
    expect((await w.differences()).join()).toContain('0 to 1');
  }

  test('the wallet pays what it has twice, its home knows its shards again, and trading goes on', async () => {
    await lose();
    const before = await total(w, alice);
    // Meanwhile other wallets send through the same channel, and wait.
    await expect(w.reserve(1, bob, 30)).rejects.toThrow();
    const report = await halted(() => repair());
    expect(report).toEqual({
      channels: [{ from: 0, to: 1, isWhole: true }],
      payments: [{ wallet: alice, amountMicro: 60 * M, payer: 'WALLET', shard: 0 }],
      missing: [],
    });
    expect([await w.differences(), await w.inTransit()]).toEqual([[], 0n]);
    expect([before, await total(w, alice), await total(w, bob)]).toEqual([100 * M, 100 * M, 100 * M]);
    expect(shardsIn((await w.redis.hgetBuffer(createKeys(0).purses, bytes(alice))) as Buffer)).toEqual([1]);
    await w.reserve(1, bob, 100);
    await w.reserve(2, alice, 30);
    await expect(w.reserve(3, alice, 1)).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
    expect(await w.differences()).toEqual([]);
    expect(await halted(() => repair())).toEqual({ channels: [], payments: [], missing: [] });
  });

  /** Alice spends all of shard 0, and one unit of shard 1; she has nothing in other shards. */
  async function spend(): Promise<void> {
    await w.exchange.place(w.order(0, alice, 0, 0, 5_000, 90 * 200));
    const { freeMicro } = await w.channels.look(1, bytes(alice));
    expect(freeMicro).toBe(0);
    const [open] = await w.redis.zrangeBuffer(w.shards[1]?.bids(w.ids[1] as string) as string, 0, '0');
    await w.exchange.cancel(w.ids[1] as string, alice, `0x${open?.toString('hex', 6)}`, 'USER');
    await w.exchange.place(w.order(1, alice, 0, 0, 5_000, 200));
  }
  /** Collateral in the fee account of a shard: Dora sells to Carla. */
  async function earnFees(shard: number): Promise<number> {
    const order = (...[maker, side, price]: [string, 0 | 1, number]) =>
      w.exchange.place(w.order(shard, maker, side, 0, price, 4_000, { feeRateBps: 1_000 }));
    await w.exchange.convert(w.ids[shard] as string, dora, (40 * M) as never, `split ${shard}`);
    await order(dora, 1, 6_000);
    await order(carla, 0, 6_000);
    const fees = await w.redis.hgetBuffer(w.shards[shard]?.cash as string, 'fee');
    return fees ? fees.readUIntBE(1, 6) : 0;
  }

  test.each([0, 2])('the wallet pays in each shard, and the fees of shard %i the rest', async (shard) => {
    await lose();
    await spend();
    const fees = await earnFees(shard);
    expect(fees).toBeGreaterThanOrEqual(M);
    const report = await halted(() => repair());
    expect(report.payments).toEqual([
      { wallet: alice, amountMicro: 59 * M, payer: 'WALLET', shard: 1 },
      { wallet: alice, amountMicro: M, payer: 'FEES', shard },
    ]);
    expect([await w.differences(), await w.inTransit()]).toEqual([[], 0n]);
    expect(await total(w, alice)).toBe(101 * M);
    // The audit knows the fees by the matches, less this.
    const sums = w.shards[shard]?.sums as string;
    expect(await w.redis.hget(sums, 'repaid')).toBe(String(M));
    await w.redis.hdel(sums, 'repaid');
    expect((await w.differences()).join()).toContain('FEES');
  });

  test('a channel stays broken while neither the wallet nor the fees can pay', async () => {
    await lose();
    await spend();
    const short = await halted(() => repair());
    expect(short).toMatchObject({
      channels: [{ isWhole: false }],
      missing: [{ wallet: alice, amountMicro: M }],
    });
    expect((await w.differences()).join()).toContain('0 to 1');
    await earnFees(0);
    expect(await halted(() => repair())).toMatchObject({
      channels: [{ isWhole: true }],
      payments: [{ amountMicro: M, payer: 'FEES', shard: 0 }],
    });
    expect(await w.differences()).toEqual([]);
  });

  test('two channels of one sender, many wallets, and entries that were written after the loss', async () => {
    const wallets = Array.from({ length: 12 }, (_, i) => walletWithHome(0, SHARDS, i + 10));
    for (const wallet of wallets) await w.reserve(0, wallet, 5);
    const back = await saved(0);
    for (const [i, wallet] of wallets.entries()) await w.reserve(1 + (i % 2), wallet, 20 + i);
    await back();
    for (const [i, wallet] of wallets.entries())
      await w.reserve(1 + ((i + 1) % 2), wallet, 15).catch(() => undefined);
    const report = await halted(() => repair());
    expect(report.channels).toEqual([
      { from: 0, to: 1, isWhole: true },
      { from: 0, to: 2, isWhole: true },
    ]);
    expect(report.missing).toEqual([]);
    expect([await w.differences(), await w.inTransit()]).toEqual([[], 0n]);
    for (const wallet of wallets) expect(await total(w, wallet)).toBe(GRANT);
  });

  test('an entry that a clock behind wrote under an older id reaches its wallet', async () => {
    await lose();
    const [home, other] = [createKeys(0), createKeys(1)];
    const mark = (await w.redis.hget(other.taken, '0')) as string;
    await expect(w.reserve(1, bob, 30)).rejects.toThrow();
    const [newest] = await w.redis.xrevrangeBuffer(home.channel(1), '+', '-', 'COUNT', 1);
    const entry = newest?.[1][1];
    await w.redis.del(home.channel(1));
    await w.redis.xadd(home.channel(1), `${Number(mark.split('-')[0]) - 1}-0`, 'e', entry as Buffer);
    await halted(() => repair());
    expect([await w.differences(), await w.inTransit()]).toEqual([[], 0n]);
    expect([await total(w, alice), await total(w, bob)]).toEqual([GRANT, GRANT]);
  });

  test('interrupted before or after any of its scripts, the same call ends it', async () => {
    await lose();
    await spend();
    await earnFees(2);
    await w.exchange.setMode('HALTED');
    const all = await w.redis.keysBuffer('*');
    const dumps = await Promise.all(all.map(async (key) => [key, await w.redis.dumpBuffer(key)] as const));
    let interrupted = 0;
    for (let n = 0; n < 100; n += EVERY) {
      await w.redis.flushall();
      for (const [key, dump] of dumps) await w.redis.restore(key, 0, dump as Buffer);
      let scripts = 0;
      const stopping: RunScript = async (name, keys, args) => {
        if (n % 2 === 0 && scripts === n / 2) throw new Error('interrupted');
        const reply = await w.run(name, keys, args);
        if (n % 2 === 1 && scripts === (n - 1) / 2) throw new Error('interrupted');
        scripts++;
        return reply;
      };
      const ended = await repair(stopping).then(
        () => true,
        () => false,
      );
      if (ended) break;
      interrupted++;
      const { missing } = await repair();
      expect([n, missing, await w.differences(), await w.inTransit()]).toEqual([n, [], [], 0n]);
      expect(await total(w, alice)).toBe(101 * M);
    }
    expect(interrupted * EVERY).toBeGreaterThan(10);
  });

  test('only while the exchange is HALTED', async () => {
    await lose();
    await expect(repair()).rejects.toThrow('needs the mode HALTED, and shard 0 is in mode NORMAL');
    await w.exchange.setMode('HALTED');
    const resumed: RunScript = async (name, keys, args) => {
      if (name === 'resend_collateral') await w.exchange.setMode('NORMAL');
      return w.run(name, keys, args);
    };
    await expect(repair(resumed)).rejects.toThrow('needs the mode HALTED');
    expect((await w.transfers.finish()).broken).toEqual([[0, 1]]);
  });
});

describe('on a cluster, whose node comes back with older data', () => {
  let nodes: DurableRedis[] = [];
  let w: ShardWorld;
  const copy = mkdtempSync(path.join(tmpdir(), 'exchange-older-'));
  beforeAll(async () => {
    const buses = [await freePort(), await freePort()];
    nodes = [];
    for (const bus of buses) {
      const settings = [
        ...([
          ['cluster-enabled', 'yes'],
          ['cluster-port', String(bus)],
        ] as const),
        ...([
          ['cluster-require-full-coverage', 'no'],
          ['cluster-node-timeout', '5000'],
        ] as const),
      ];
      nodes.push(await startDurableRedis({ appendonly: 'always', settings }));
    }
    const [one, two] = nodes as [DurableRedis, DurableRedis];
    await one.ask('CLUSTER ADDSLOTSRANGE 0 8191');
    await two.ask('CLUSTER ADDSLOTSRANGE 8192 16383');
    const link = await openLink(two.port);
    await link.ask('CLUSTER SET-CONFIG-EPOCH 2');
    await link.ask(`CLUSTER MEET 127.0.0.1 ${one.port} ${buses[0]}`);
    link.close();
    await whole();
    w = await openShardWorld({ urls: nodes.map(({ url }) => url), count: 2 });
  });
  afterAll(async () => {
    w?.stop();
    await Promise.all(nodes.map((node) => node.stop()));
    rmSync(copy, { recursive: true, force: true });
  });

  const whole = (): Promise<void> =>
    until('the cluster is whole', async () => {
      const told = await Promise.all(nodes.map((node) => node.ask('CLUSTER INFO')));
      return told.every(
        (info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:2'),
      );
    });

  test('the loss is noticed and repaired', async () => {
    // Shard 0 is on the second node.
    const donor = nodes[1] as DurableRedis;
    const wallet = walletWithHome(0, 2);
    await w.reserve(0, wallet, 10);
    cpSync(donor.folder, copy, { recursive: true });
    await w.reserve(1, wallet, 60);
    await donor.kill();
    for (const name of readdirSync(donor.folder)) rmSync(path.join(donor.folder, name), { recursive: true });
    cpSync(copy, donor.folder, { recursive: true });
    await donor.revive();
    await whole();
    await until('the loss is told', async () => (await w.transfers.finish()).broken.length === 1);
    const halt = () =>
      w.exchange.setMode('HALTED').then(
        () => true,
        () => false,
      );
    await until('the exchange is halted', halt);
    const report = await repairChannels(w);
    expect(report).toEqual({
      channels: [{ from: 0, to: 1, isWhole: true }],
      payments: [{ wallet, amountMicro: 60 * M, payer: 'WALLET', shard: 0 }],
      missing: [],
    });
    await w.exchange.setMode('NORMAL');
    expect([await w.differences(), await w.inTransit()]).toEqual([[], 0n]);
    await w.reserve(1, wallet, 30);
    await expect(w.reserve(0, wallet, 1)).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
  });
});
