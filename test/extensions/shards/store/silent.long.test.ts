import { createShardRaisedNonces } from '../../../../src/extensions/shards/store/shard-nonces';
import { refusalOf } from '../../../../src/http/server/failures';
import { createPresence, type Presence } from '../../../../src/store/people/presence';
import { startTestCluster, type TestCluster } from '../../../support/redis';
import { until } from '../../../support/waiting';
import { openShardWorld, type ShardWorld, walletWithHome } from './world';

/** One of three masters is silent, with shard 2. The others go on, and no order that it may have is said not to exist. */
const SILENT = 2;
const LIMIT_MS = 120_000;

let cluster: TestCluster;
let w: ShardWorld;
let other: ShardWorld;
beforeAll(async () => {
  cluster = await startTestCluster(3);
}, LIMIT_MS);
beforeEach(async () => {
  const urls = cluster.url.split(',');
  w = await openShardWorld({ urls, count: 4 });
  other = await openShardWorld({ urls, count: 4, isOpen: true });
});
afterEach(async () => {
  await resume();
  expect(await w.differences()).toEqual([]);
  w.stop();
  other.stop();
});
afterAll(() => cluster.stop());

const [alice, bob] = [walletWithHome(0, 4), walletWithHome(SILENT, 4)];
/** The first third of the slots, in which shard 2 is. */
const signal = (name: NodeJS.Signals): boolean => process.kill(cluster.nodes[0]?.pid ?? 0, name);
const silence = (): void => void signal('SIGSTOP');
async function resume(): Promise<void> {
  signal('SIGCONT');
  await until('the shard is back', async () => {
    const [mine, others] = await Promise.all([w, other].map(({ exchange }) => exchange.enforceMode()));
    return mine?.silent.length === 0 && others?.silent.length === 0;
  });
}

/** An order in each shard. */
async function everywhere(who: string, nonce = 0): Promise<string[]> {
  const orders = [0, 1, 2, 3].map((shard) => w.order(shard, who, 0, 0, 5_000, 200, { nonce }));
  for (const order of orders) await w.exchange.place(order);
  return orders.map(({ orderHash }) => orderHash);
}
const isSilent = async (answer: Promise<unknown>): Promise<void> => {
  const error = await answer.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(refusalOf(error).code).toBe('UNAVAILABLE');
};

test(
  'cancels name what was cancelled, and find what the other shards have',
  async () => {
    const hashes = await everywhere(alice);
    const bobs = await everywhere(bob);
    silence();
    const error = await w.exchange.cancelAll(alice, {}).catch((thrown: unknown) => thrown);
    const known = [0, 1, 3];
    expect(error).toMatchObject({ code: 'UNAVAILABLE' });
    const { cancelled, sequences } = (error as { extra: Record<string, object> }).extra;
    expect([...(cancelled as string[])].sort()).toEqual(known.map((shard) => hashes[shard]).sort());
    expect(Object.keys(sequences ?? {}).sort()).toEqual(known.map((shard) => w.ids[shard]));
    await isSilent(w.exchange.cancelAll(alice, {}));
    // The home of this wallet is silent, and with it the list of its shards.
    const atHome = await w.exchange.cancelAll(bob, {}).catch((thrown: unknown) => thrown);
    expect(atHome).toMatchObject({ code: 'UNAVAILABLE' });
    expect((atHome as { extra: { cancelled: string[] } }).extra.cancelled).toHaveLength(known.length);
    // By hash, in a process that has to look.
    const found = await other.exchange.cancel(null, alice, hashes[3] ?? '', 'USER');
    expect(found).toMatchObject({ cancelled: false, record: { status: 'CANCELLED' } });
    await isSilent(other.exchange.cancel(null, alice, hashes[SILENT] ?? '', 'USER'));
    await isSilent(other.exchange.cancel(null, alice, `0x${'0'.repeat(64)}`, 'USER'));
    await isSilent(w.reserve(SILENT, alice, 1));
    await resume();
    expect((await w.exchange.cancelAll(alice, {})).cancelled).toEqual([hashes[SILENT]]);
    expect((await w.exchange.cancelAll(bob, {})).cancelled).toEqual([bobs[SILENT]]);
  },
  LIMIT_MS,
);

test(
  'a raise of the nonce is finished when the shard is back',
  async () => {
    const hashes = await everywhere(alice);
    const raised = createShardRaisedNonces({ redis: w.redis, shards: w.shards });
    silence();
    await expect(w.exchange.raiseNonce(alice, 'one')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      extra: { nonce: '1' },
    });
    for (const shard of [0, 1, 3])
      await expect(w.exchange.place(w.order(shard, alice, 0, 0, 5_000, 200))).rejects.toMatchObject({
        code: 'INVALID_NONCE_VALUE',
        extra: { current: '1' },
      });
    await isSilent(w.exchange.invalidateAll(alice, 1));
    for (const shard of [0, 1, 3])
      expect(await w.exchange.cancel(null, alice, hashes[shard] ?? '', 'USER')).toMatchObject({
        record: { status: 'INVALIDATED' },
      });
    expect(await raised()).toEqual(new Map([[alice, 1]]));
    await resume();
    // As the worker does.
    for (const [wallet, nonce] of await raised()) await w.exchange.invalidateAll(wallet, nonce);
    expect(await raised()).toEqual(new Map());
    expect(await w.exchange.cancel(null, alice, hashes[SILENT] ?? '', 'USER')).toMatchObject({
      record: { status: 'INVALIDATED' },
    });
    await everywhere(alice, 1);
  },
  LIMIT_MS,
);

test(
  'the mode reaches the shard when it is back',
  async () => {
    await everywhere(alice);
    silence();
    await expect(w.exchange.setMode('CANCEL_ONLY')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      extra: { mode: 'CANCEL_ONLY', silent: [SILENT] },
    });
    await expect(w.reserve(3, alice, 1)).rejects.toMatchObject({ code: 'CANCEL_ONLY' });
    expect(await w.exchange.enforceMode()).toEqual({ changed: [], silent: [SILENT] });
    await resume();
    await expect(w.reserve(SILENT, alice, 1)).rejects.toMatchObject({ code: 'CANCEL_ONLY' });
    await w.exchange.setMode('NORMAL');
    await w.reserve(SILENT, alice, 1);
  },
  LIMIT_MS,
);

test(
  'the orders of a wallet that is gone end in the shards that answer',
  async () => {
    await everywhere(alice);
    const presences = w.shards.map((keys) => createPresence({ run: w.run, keys }));
    const absent = async (): Promise<string[]> => {
      const lists = await Promise.allSettled(presences.map((presence) => presence.absent('lease', 60_000)));
      return [...new Set(lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : [])))];
    };
    for (const { lease, absences } of w.shards) {
      await w.redis.set(lease, 'lease');
      await w.redis.zadd(absences, Date.now() - 1, Buffer.from(alice.slice(2), 'hex'));
    }
    // An order is older than the absence by at least a millisecond.
    for (const { absences } of w.shards)
      await w.redis.zadd(absences, Date.now(), Buffer.from(alice.slice(2), 'hex'));
    silence();
    expect(await absent()).toEqual([alice]);
    await expect(w.exchange.cancelAbsent(alice, 'lease')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await isSilent((presences[SILENT] as Presence).mark([alice], 60_000));
    await resume();
    await w.redis.zadd(w.shards[SILENT]?.absences ?? '', Date.now() - 1, Buffer.from(alice.slice(2), 'hex'));
    expect(await absent()).toEqual([alice]);
    expect((await w.exchange.cancelAbsent(alice, 'lease')).cancelled).toHaveLength(1);
  },
  LIMIT_MS,
);
