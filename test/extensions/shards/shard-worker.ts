import { keepJournal } from '../../../src/extensions/portfolio/jobs/keeping';
import { openJournal } from '../../../src/extensions/portfolio/store/open';
import { createChores } from '../../../src/jobs/chores';
import { choresOverPartitions } from '../../../src/jobs/over-partitions';
import { startSchedule } from '../../../src/jobs/schedule';
import { startSettlement } from '../../../src/jobs/settlement';
import { createCandleWriter } from '../../../src/store/candles/writer';
import { createAgenda } from '../../../src/store/markets/agenda';
import { createOutbox } from '../../../src/store/outbox/outbox';
import { createSpread } from '../../../src/store/outbox/spread';
import { connect, ready } from '../../../src/store/redis/connection';
import { createKeys } from '../../../src/store/redis/keys';
import { createRaisedNonces } from '../../../src/store/verbs/invalidate';
import { openSettling, scale } from '../../jobs/settling';
import { READERS } from '../../support/readers';
import { READY_MS } from '../../support/waiting';

/** The jobs of a worker of several shards, as a process: `node -e` of a test runs it. */
export async function runShardWorker(urls: readonly string[], count: number): Promise<void> {
  const redis = connect({ urls });
  const connection = connect({ urls, blocking: true });
  await Promise.all([ready(redis, READY_MS), ready(connection, READY_MS)]);
  const worlds = await Promise.all(
    Array.from({ length: count }, (_, shard) => openSettling(redis, createKeys(shard))),
  );
  const spread = createSpread(count);
  const onError = (error: Error, what: string): void => {
    process.stderr.write(`${what}: ${error.message}\n`);
  };
  const settlements = worlds.map((world, shard) =>
    startSettlement({
      ...world,
      relayLease: spread(world.relayLease),
      connection,
      scale,
      partition: shard,
      onError,
    }),
  );
  const inEach = worlds.map((world, shard) => [
    ...createChores({
      ...world,
      agenda: createAgenda(world),
      outbox: createOutbox({ ...world, readers: READERS }),
      candles: createCandleWriter(world),
      raisedNonces: createRaisedNonces(world),
    }),
    keepJournal(openJournal(world, { ...world, durability: world })),
    ...(settlements[shard] ? [{ ...settlements[shard].reconciler, everyMs: 2_000 }] : []),
  ]);
  const now = worlds[0]?.clock.now ?? Date.now;
  await startSchedule({ connection, chores: choresOverPartitions(inEach), now, onError });
  process.stdout.write('worker is running\n');
}
