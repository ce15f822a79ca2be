import type { Sample } from '../../metrics/metrics';
import type { Clock } from '../../store/redis/clock';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient } from '../../store/redis/scripts';
import type { Archive } from './archive';
import { archiveAnswers } from './store/answers';
import { archiveProgress, LEFT_KINDS } from './store/progress';

interface Sampled {
  readonly redis: RedisClient;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly archive: Archive | null;
  readonly labels: Readonly<Record<string, string>>;
}

/** The metrics of a shard's archive. What Redis notes of it is there without an archive, too. */
export async function archiveSamples({ redis, keys, clock, archive, labels }: Sampled): Promise<Sample[]> {
  const [{ left, lagMs, heldMs }, answers] = await Promise.all([
    archiveProgress({ redis, keys, now: clock.now }),
    archiveAnswers(archive),
  ]);
  const heldForMs = heldMs === null ? 0 : Math.max(0, clock.now() - heldMs);
  return [
    ...LEFT_KINDS.map(
      (kind): Sample => ({ name: 'exchange_archived', value: left[kind], labels: { kind, ...labels } }),
    ),
    ...(answers === null ? [] : [{ name: 'exchange_archive_up', value: Number(answers), labels } as const]),
    { name: 'exchange_archive_lag_seconds', value: lagMs / 1_000, labels },
    { name: 'exchange_archive_held_seconds', value: heldForMs / 1_000, labels },
  ];
}
