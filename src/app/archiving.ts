import type { Config } from '../config/load';
import { startArchiving } from '../jobs/archive';
import type { Logger } from '../log';
import { createForgetting, PICK_MS } from '../store/archive/forgetting';
import { createMarketForgetting } from '../store/archive/markets';
import { dropOldMonths } from '../store/archive/retention';
import { openSource } from '../store/archive/source';
import { createSpread } from '../store/outbox/spread';
import type { Store } from './store';

/** The time between two looks at the lease of one of several shards. */
const SHARD_LOOK_MS = 250;

/** Moves what is over into the archive, shard by shard: each has a lease of its own. */
export function beginArchiving({ archiveKeepMonths: months }: Config, store: Store, log: Logger) {
  const { redis, run, clock, shards } = store;
  // Entries of streams are named by whole milliseconds.
  const now = (): number => Math.floor(clock.now());
  const spread = createSpread(shards.length);
  const running = shards.flatMap(({ keys, archive }) => {
    if (!archive) return [];
    const forgetting = createForgetting({ redis, run, keys, archive });
    const { commit } = forgetting;
    const markets = createMarketForgetting({ redis, run, keys, now, commit });
    return startArchiving({
      forgetting: { ...forgetting, lease: spread(forgetting.lease) },
      async upkeep(token) {
        await markets.forgetEnded(token);
        const rows = await dropOldMonths(archive, months, now());
        if (rows > 0) log.info({ rows, months }, 'months of the archive were dropped for their age');
      },
      openSource: () => openSource({ redis, keys, now, keepMs: PICK_MS }),
      onError: (error) => log.warn({ err: error.message }, 'archive'),
      ...(shards.length > 1 && { lookMs: SHARD_LOOK_MS }),
    });
  });
  return {
    async stop(): Promise<void> {
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}
