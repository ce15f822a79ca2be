import { Refusal } from '../../../src/exchange/errors';
import { NOTHING } from '../../../src/extensions/archive/archive';
import { startArchiving } from '../../../src/extensions/archive/jobs/archiving';
import { createForgetting, Fenced } from '../../../src/extensions/archive/store/forgetting';
import { openSource } from '../../../src/extensions/archive/store/source';
import { withWorlds } from '../../store/engine/setup';
import { alice } from '../../support/engine-world';
import { createMemoryArchive } from '../../support/memory-archive';
import { READERS } from '../../support/readers';
import { until } from '../../support/waiting';

/** Processes that hold the lease of the archive one after the other. */
const { world } = withWorlds();
const LEASE_MS = 60_000;

test('a process that lost the lease while it opened the archive deletes nothing there', async () => {
  const { redis, run, keys } = world();
  const archive = createMemoryArchive();
  const next = createForgetting({ redis, run, keys, archive });
  const late = createForgetting({
    redis,
    run,
    keys,
    archive: {
      ...archive,
      async open() {
        await late.lease.release('late');
        await next.lease.take('next', LEASE_MS);
        await next.commit(NOTHING);
        return archive.open();
      },
    },
  });
  await next.lease.take('next', LEASE_MS);
  await next.open();
  await next.lease.release('next');
  await late.lease.take('late', LEASE_MS);
  await expect(late.open()).rejects.toThrow(Fenced);
  expect((await archive.state())?.batch).toBe(1);
});

test('the worker keeps its lease while a transaction takes long, and goes on when a month cannot be dropped now', async () => {
  await world().market();
  const { redis, run, keys, engine } = world();
  const order = world().buy(alice, 0, '10', '0.40');
  await engine.place(order);
  await engine.cancel(null, alice, order.orderHash, 'USER');
  const archive = createMemoryArchive();
  let [opened, renewed] = [0, 0];
  const renewsAgain = (): Promise<void> => {
    const before = renewed;
    return until('the lease is renewed', () => renewed > before, { patienceMs: LEASE_MS });
  };
  const forgetting = createForgetting({
    redis,
    run,
    keys,
    keepMs: 0,
    archive: {
      ...archive,
      async append(batch, rows) {
        await renewsAgain();
        return archive.append(batch, rows);
      },
    },
  });
  const failures: string[] = [];
  const archiving = startArchiving({
    forgetting: {
      ...forgetting,
      lease: {
        ...forgetting.lease,
        renew(...its) {
          renewed += 1;
          return forgetting.lease.renew(...its);
        },
      },
      open() {
        opened += 1;
        return forgetting.open();
      },
    },
    openSource: () => openSource({ redis, keys, readers: READERS, now: () => world().now(), keepMs: 0 }),
    upkeep: () => Promise.reject(new Error('a dump goes on')),
    onError: ({ message }) => failures.push(message),
  });
  try {
    await until('the order has left', async () => (await redis.hlen(keys.orders)) === 0, {
      patienceMs: LEASE_MS,
      explain: () => failures.join(),
    });
    await until('the months were tried', () => failures.length > 0, { patienceMs: LEASE_MS });
    await renewsAgain();
    expect([opened, failures]).toEqual([1, ['a dump goes on']]);
  } finally {
    await archiving.stop();
  }
}, 200_000);

test('a worker that stops does not wait for an archive that does not answer, and leaves the lease to the next one', async () => {
  await world().market();
  const { redis, run, keys, engine } = world();
  const order = world().buy(alice, 0, '10', '0.40');
  await engine.place(order);
  await engine.cancel(null, alice, order.orderHash, 'USER');
  const memory = createMemoryArchive();
  let isAsked = false;
  let breakOff: () => void = () => undefined;
  const silence = new Promise<never>((_, reject) => {
    breakOff = () => reject(new Refusal('UNAVAILABLE'));
  });
  const append = (): Promise<never> => {
    isAsked = true;
    return silence;
  };
  const archiving = startArchiving({
    forgetting: createForgetting({
      redis,
      run,
      keys,
      keepMs: 0,
      archive: { ...memory, append, breakOff },
    }),
    openSource: () => openSource({ redis, keys, readers: READERS, now: () => world().now(), keepMs: 0 }),
    onError: () => undefined,
    stopMs: 1,
  });
  await until('the archive is asked', () => isAsked);
  await archiving.stop();
  expect([await redis.hlen(keys.orders), await redis.get(keys.archiveLease)]).toEqual([1, null]);
});
