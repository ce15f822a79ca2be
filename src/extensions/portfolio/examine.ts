import { type Check, type Silences, unlessSilent } from '../../store/health/doctor';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient } from '../../store/redis/scripts';
import { gapOf, LACKS_ENTRIES } from './store/journal';

interface Examined {
  readonly redis: RedisClient;
  readonly partitions: readonly { readonly keys: Keys }[];
}

/** Whether journals wait for a rebuild; nothing when they do not. */
export const examineJournal = (
  { redis, partitions }: Examined,
  silences: Silences,
): Promise<readonly Check[]> =>
  unlessSilent('journal', async () => {
    const asked = partitions.filter((_, partition) => !silences.has(partition));
    const gaps = await Promise.all(asked.map(({ keys }) => gapOf({ redis, keys })));
    if (gaps.every((gap) => gap === null)) return [];
    return [{ name: 'journal', verdict: 'warn', detail: LACKS_ENTRIES }];
  });
