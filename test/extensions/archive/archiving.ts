import { Refusal } from '../../../src/exchange/errors';
import type { Archive } from '../../../src/extensions/archive/archive';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { createForgetting } from '../../../src/extensions/archive/store/forgetting';
import { hashBytes } from '../../../src/store/records/order';
import type { RunScript } from '../../../src/store/redis/scripts';
import { createEngine } from '../../../src/store/verbs/engine';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { type EngineWorld, parseMicro, START_SECOND } from '../../support/engine-world';
import { createMemoryArchive } from '../../support/memory-archive';

export const TOKEN = 'the test';
export const LEASE_MS = 60_000;
export const KEEP_MS = 60_000;
export const YES = 0;
export const START_MS = START_SECOND * 1_000;

/** The steps of tests in which orders leave a world; its archive is in memory. */
export function archivingIn(world: () => EngineWorld) {
  function archiving(archive: Archive = createMemoryArchive(), run: RunScript = world().run) {
    const { redis, keys } = world();
    const archivedReads = createArchivedReads({ redis, keys, archive });
    const forgetting = createForgetting({ redis, run, keys, archive });
    const engine = createEngine({ run, grantMicro: parseMicro('10000'), makersMax: 500, archivedReads });
    const stored = async (requests: readonly PlaceRequest[]) => {
      const raw = requests.map(({ orderHash }) => hashBytes(orderHash));
      const packed = await redis.hmgetBuffer(keys.orders, ...raw);
      return raw.map((hash, i) => ({ hash, packed: packed[i] as Buffer }));
    };
    return {
      archive,
      archivedReads,
      forgetting,
      engine,
      stored,
      async open() {
        expect(await forgetting.lease.take(TOKEN, LEASE_MS)).toBe(true);
        await forgetting.open();
      },
      forget: async (...requests: PlaceRequest[]) =>
        (await forgetting.move(TOKEN, { orders: await stored(requests) })).orders,
      isHere: async ({ orderHash }: PlaceRequest) =>
        (await redis.hexists(keys.orders, hashBytes(orderHash))) === 1,
    };
  }

  const traces = async (): Promise<number> => {
    const { redis } = world();
    const buckets = await redis.keysBuffer('{x0}:m:market00:g*');
    const counts = await Promise.all(buckets.map((key) => redis.scard(key)));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  return { archiving, traces };
}

/** An order that was booked and cancelled by its wallet. */
export const cancelled = async (engine: ReturnType<typeof createEngine>, request: PlaceRequest) => {
  await engine.place(request);
  await engine.cancel(null, request.maker, request.orderHash, 'USER');
  return request;
};

/** The code of a refusal. */
export const refusal = async (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => 'none',
    (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
  );
