import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../../exchange/errors';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { createChannels } from '../../shards/store/channels';
import { createTransfers } from '../../shards/store/transfers';

interface DrainOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly shards: readonly Keys[];
}

/** A transfer may wait for replicas, and a worker may take the same entries. */
const TRIES_MAX = 20;
const PAUSE_MS = 250;

/**
 * Takes all collateral that is on its way between shards, while the exchange is HALTED and nothing is sent. A channel that lost
 * entries stays as it is: the audit names it. Throws UNAVAILABLE when a shard or a replica does not answer.
 */
export async function drainChannels({ redis, run, shards }: DrainOptions): Promise<void> {
  if (shards.length < 2) return;
  const channels = createChannels({ redis, run, shards });
  const transfers = createTransfers({ redis, channels, shards, olderThanMs: 0 });
  for (let tries = 1; ; tries++) {
    const { finished, waiting, failures } = await transfers.finish();
    if (finished + waiting + failures.length === 0) return;
    if (tries === TRIES_MAX) {
      const why = failures.length > 0 ? failures.join('; ') : `${waiting} channels still have entries`;
      throw new Refusal('UNAVAILABLE', `collateral is on its way between shards, and stays there: ${why}`);
    }
    if (finished === 0) await sleep(PAUSE_MS);
  }
}
