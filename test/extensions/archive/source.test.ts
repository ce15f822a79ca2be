import { createForgetting } from '../../../src/extensions/archive/store/forgetting';
import { archiveProgress } from '../../../src/extensions/archive/store/progress';
import { openSource } from '../../../src/extensions/archive/store/source';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import { addressBytes } from '../../../src/store/records/order';
import type { RunScript } from '../../../src/store/redis/scripts';
import { createMatches } from '../../../src/store/settlement/matches';
import { withWorlds } from '../../store/engine/setup';
import { alice, bob, NO, START_SECOND, YES } from '../../support/engine-world';
import { createMemoryArchive } from '../../support/memory-archive';
import { READERS } from '../../support/readers';
import { createLeavingWorld } from './leaving-world';

/** Everything that is over is found: by the outbox, and by the sweep of a new holder of the lease. */
const { world } = withWorlds();
const MARKET = 'market00';
const TOKEN = 'the test';
const LEASE_MS = 600_000;
const START_MS = START_SECOND * 1_000;
const PASSES_MAX = 100;

function archiving() {
  const { redis, run, keys, now } = world();
  const archive = createMemoryArchive();
  const leaving = createLeavingWorld(world(), archive, now, 0);
  const matches = createMatches({ redis, run, keys, settlements: leaving.settlements });
  const journal = createJournal({ redis, run, keys, matches, doubts: () => 0 });

  /** The readers of the outbox have finished with all of it. */
  async function follow(): Promise<void> {
    await journal.catchUp();
    const [latest] = await redis.xrevrange(keys.outbox, '+', '-', 'COUNT', 1);
    for (const reader of READERS) await redis.hset(keys.readers, reader, latest?.[0] ?? '0-0');
  }
  async function settle(): Promise<void> {
    await leaving.settle(MARKET);
    await leaving.count(MARKET);
    await follow();
  }

  /** A holder of the lease, whose scripts run through this, works until nothing is left to do. */
  async function work(through: RunScript = run): Promise<void> {
    const forgetting = createForgetting({ redis, run: through, keys, archive, keepMs: 0 });
    await forgetting.lease.take(TOKEN, LEASE_MS);
    await forgetting.open();
    const source = await openSource({ redis, keys, readers: READERS, now, keepMs: 0 });
    for (let pass = 0; ; pass++) {
      expect(pass).toBeLessThan(PASSES_MAX);
      const found = await source.next();
      const gone = await forgetting.move(TOKEN, found.leaving);
      await source.done(found);
      await forgetting.lease.renew(TOKEN, LEASE_MS, found.position);
      if (!found.more && gone.orders + gone.matches + gone.lines === 0) return;
    }
  }

  /** Orders, matches, settlements, and lines of both wallets in Redis. */
  const here = (): Promise<number[]> =>
    Promise.all([
      redis.hlen(keys.orders),
      redis.xlen(keys.trades(MARKET)),
      redis.hlen(keys.settlements),
      redis.llen(keys.journal(addressBytes(alice))),
      redis.llen(keys.journal(addressBytes(bob))),
    ]);
  const progress = () => archiveProgress({ redis, keys, now });
  return { ...leaving, archive, follow, settle, work, here, progress };
}

/** Two orders that meet whole. */
async function meet(): Promise<void> {
  await world().place(world().buy(alice, YES, '10', '0.60'));
  await world().place(world().buy(bob, NO, '10', '0.40'));
}
const NOTHING = [0, 0, 0, 0, 0];

test('everything that is over leaves: matches, settlements, orders with and without fills, lines', async () => {
  await world().market();
  const { settle, work, here, archive, progress } = archiving();
  await meet();
  const cancelled = world().buy(alice, YES, '10', '0.10');
  await world().place(cancelled);
  await world().engine.cancel(null, alice, cancelled.orderHash, 'USER');
  await world().split(bob, '5');
  await settle();
  expect(await here()).toEqual([3, 1, 1, 2, 3]);
  await work();
  expect(await here()).toEqual(NOTHING);
  expect((await archive.lines(addressBytes(bob), 0, 9)).map(({ entry }) => entry)).toEqual([0, 1, 2]);
  // Those of a later day, by the outbox.
  await meet();
  await settle();
  await work();
  expect(await here()).toEqual(NOTHING);
  expect(await progress()).toMatchObject({
    left: { orders: 5, matches: 2, lines: 7 },
    isSweeping: false,
    heldMs: null,
  });
});

test('nothing leaves before each reader of the outbox is past it', async () => {
  await world().market();
  const { settle, work, here, follow } = archiving();
  await meet();
  await settle();
  await work();
  await meet();
  const { redis, keys } = world();
  const behind = await redis.hget(keys.readers, 'broadcast');
  await settle();
  await redis.hset(keys.readers, 'broadcast', behind ?? '');
  await work();
  const [orders, matches] = await here();
  // The sweep takes orders and lines, which no reader of the outbox needs; matches are read by it.
  expect([orders, matches]).toEqual([2, 1]);
  await follow();
  await work();
  expect(await here()).toEqual(NOTHING);
});

const DYING = ['forget_matches', 'forget_orders', 'forget_lines'] as const;
test.each(DYING)('a holder of the lease that dies before %s leaves nothing behind', async (step) => {
  await world().market();
  const { settle, work, here } = archiving();
  const { run } = world();
  await meet();
  await settle();
  const dying: RunScript = async (name, keys, args) => {
    if (name === step) throw new Error('it died');
    return run(name, keys, args);
  };
  await expect(work(dying)).rejects.toThrow('it died');
  expect(await here()).not.toEqual(NOTHING);
  await work();
  expect(await here()).toEqual(NOTHING);
});

test('orders and matches leave, too, that were trimmed from the outbox before the archive read it', async () => {
  await world().market();
  const { settle, work, here } = archiving();
  const { redis, keys } = world();
  await meet();
  await settle();
  await work();
  await meet();
  await settle();
  // As trim_outbox does it when the archive is far behind.
  await redis.hdel(keys.readers, 'archive');
  await redis.xtrim(keys.outbox, 'MAXLEN', 1);
  await work();
  expect(await here()).toEqual(NOTHING);
});

test('the progress names the time of a match that its FAILED settlement holds, and the lag counts from it', async () => {
  await world().market();
  const { settle, work, here, progress, settlements, met, mark, count, follow } = archiving();
  await meet();
  const [first] = await met(MARKET);
  await settlements.move({ ...(first as NonNullable<typeof first>).ref, part: 0 }, 'FAILED');
  await mark(MARKET);
  await count(MARKET);
  await follow();
  await work();
  expect((await here()).slice(0, 2)).toEqual([2, 1]);
  expect(await progress()).toMatchObject({ heldMs: START_MS });
  await world().clock(START_MS + 600_000);
  expect((await progress()).lagMs).toBe(539_000);
  await settle();
  await work();
  expect(await here()).toEqual(NOTHING);
  expect(await progress()).toMatchObject({ heldMs: null, lagMs: 0 });
});
