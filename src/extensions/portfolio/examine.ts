import type { Check } from '../../store/health/doctor';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient } from '../../store/redis/scripts';
import { type Silences, unlessSilent } from '../../store/shards/doctor';
import { gapOf, LACKS_ENTRIES } from './store/journal';

interface Examined {
  readonly redis: RedisClient;
  readonly shards: readonly { readonly keys: Keys }[];
}

/** Whether journals wait for a rebuild; nothing when they do not. */
export const examineJournal = ({ redis, shards }: Examined, silences: Silences): Promise<readonly Check[]> =>
  unlessSilent('journal', async () => {
    const asked = shards.filter((_, shard) => !silences.has(shard));
    const gaps = await Promise.all(asked.map(({ keys }) => gapOf({ redis, keys })));
    if (gaps.every((gap) => gap === null)) return [];
    return [{ name: 'journal', verdict: 'warn', detail: LACKS_ENTRIES }];
  });
