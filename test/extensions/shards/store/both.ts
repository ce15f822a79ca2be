import type { RunningRedis } from '../../../../src/local/redis';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import type { RedisClient } from '../../../../src/store/redis/scripts';
import { operationsOf } from '../../../store/fuzzing/operations';
import { addressOf } from '../../../store/fuzzing/requests';
import { startTestRedis } from '../../../support/redis';
import { sizeOf } from '../../../support/sample';
import { READY_MS } from '../../../support/waiting';
import { createShardStage, playOne, shardWorldOf } from './fuzzing';
import { openReading, type TestReading } from './reading';

/** The same random commands on one shard and on four. Redis itself gives outbox entries and settlements their times. */
const OPERATIONS = sizeOf('SHARD_READ_OPERATIONS', 400, 700);
const COUNT = 4;
/** In some worlds hardly any orders meet: then the next seed makes another one. One world in a dozen has fewer matches. */
const MATCHES_MIN = 5;
const WORLDS_MAX = 10;

interface Side {
  readonly redis: RedisClient;
  readonly server: RunningRedis;
  readonly reading: TestReading;
  readonly matches: number;
}

export type Both = Awaited<ReturnType<typeof openBoth>>;

export async function openBoth(seed: number) {
  for (let next = seed; next < seed + WORLDS_MAX; next++) {
    const { matches, ...both } = await openWorld(next);
    if (matches >= MATCHES_MIN) return both;
    await both.stop();
  }
  throw new Error(`fewer than ${MATCHES_MIN} matches in ${WORLDS_MAX} worlds`);
}

async function openWorld(seed: number) {
  const world = shardWorldOf(seed);
  const marketIds = world.markets.map(({ id }) => id);
  const spread = (id: string): number => Number(id.slice(-1)) % COUNT;
  const stages = await Promise.all(
    ([1, COUNT] as const).map(async (count) => {
      const server = await startTestRedis();
      const redis = connect({ urls: [server.url] });
      await ready(redis, READY_MS);
      return { server, redis, stage: await createShardStage(world, { redis, count }) };
    }),
  );
  for (const [at, drawn] of operationsOf(world, OPERATIONS).entries()) {
    // Each Redis chooses itself which of the holders a step pays, so a step pays all.
    const operation = drawn.kind === 'pay' ? { ...drawn, most: 200 } : drawn;
    await Promise.all(stages.map(({ stage }) => playOne(stage, operation, at, spread)));
  }
  const sides = await Promise.all(
    stages.map(async ({ server, redis, stage }): Promise<Side> => {
      const { shards, run, shardOf } = stage;
      const { now } = stage.stage;
      const { grantMicro } = world;
      const reading = await openReading({ redis, run, shards, shardOf, marketIds, grantMicro, now });
      return { server, redis, reading, matches: await reading.settle() };
    }),
  );
  const [one, four] = sides.map(({ reading }) => reading) as [TestReading, TestReading];

  /** The answer of both, which is the same. */
  async function same<T>(read: (reading: TestReading) => Promise<T>): Promise<T> {
    const [expected, found] = await Promise.all([read(one), read(four)]);
    expect(found).toEqual(expected);
    return found;
  }

  return {
    one,
    four,
    marketIds,
    same,
    matches: Math.min(...sides.map(({ matches }) => matches)),
    wallets: Array.from({ length: world.wallets }, (_, i) => addressOf(i)),
    stop: () =>
      Promise.all(
        sides.map(({ redis, server }) => {
          disconnect(redis);
          return server.stop();
        }),
      ),
  };
}

interface Paged<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
}

/** Every page of a list. */
export async function walk<T>(page: (cursor: string | null) => Promise<Paged<T>>): Promise<(readonly T[])[]> {
  const pages: (readonly T[])[] = [];
  let cursor: string | null = null;
  do {
    const { rows, next }: Paged<T> = await page(cursor);
    pages.push(rows);
    cursor = next;
  } while (cursor !== null);
  return pages;
}
