import type { Store } from './store';

/** The greatest age of what a process knows about the markets of a shard, when the shard falls silent. */
const EVERY_MS = 5_000;

/**
 * Lists the markets of several shards every few seconds, because a shard that falls silent is listed as this process saw it last. With
 * one shard it does nothing.
 */
export function createMarketListRefresh({ shards, marketList }: Pick<Store, 'shards' | 'marketList'>) {
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Resolves after the first list; rejects when a shard does not answer. */
    async start(): Promise<void> {
      if (shards.length === 1) return;
      await marketList();
      // The next turn looks again.
      timer = setInterval(() => void marketList().catch(() => undefined), EVERY_MS);
      timer.unref();
    },
    stop: (): void => clearInterval(timer),
  };
}
