import { setTimeout as sleep } from 'node:timers/promises';
import type { SampleSource } from '../../app/extensions';
import type { Store } from '../../app/store';
import type { Sample } from '../../metrics/metrics';
import type { Partition } from '../../store/partition';

/** Shorter than a scrape waits for its values, so that a shard that is silent is 0, and not missing. */
const UP_MS_MAX = 800;

/** Which shards answer; nothing where there is one. */
export function shardSamples({ redis, partitions }: Store): readonly SampleSource[] {
  if (partitions.length === 1) return [];
  return [
    () => [{ name: 'exchange_shards', value: partitions.length }],
    ...partitions.map((shard) => () => upSamples({ redis }, shard)),
  ];
}

async function upSamples({ redis }: Pick<Store, 'redis'>, { keys, labels }: Partition): Promise<Sample[]> {
  const answers = redis.exists(keys.mode).then(
    () => true,
    () => false,
  );
  const isUp = await Promise.race([answers, sleep(UP_MS_MAX, false, { ref: false })]);
  return [{ name: 'exchange_shard_up', value: Number(isUp), labels }];
}
