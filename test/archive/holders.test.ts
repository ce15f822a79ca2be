import { NOTHING } from '../../src/exchange/archive';
import { createForgetting, Fenced } from '../../src/store/archive/forgetting';
import { withWorlds } from '../store/engine/setup';
import { createMemoryArchive } from '../support/memory-archive';

/** Processes that hold the lease of the archive one after the other. */
const { world } = withWorlds();
const LEASE_MS = 60_000;

test('a process that lost the lease while it opened the archive deletes nothing there', async () => {
  const { redis, run, keys } = world();
  const archive = createMemoryArchive();
  const next = createForgetting({ redis, run, keys, archive });
  const late = createForgetting({
    ...{ redis, run, keys },
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
