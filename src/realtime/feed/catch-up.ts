import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log';
import type { MarketFeed } from './market-feed';

const RETRY_MS = 250;

/** Reads the logs when notified, and repeats until Redis responds; a notification meanwhile causes one more read. */
export function createCatchUp(
  feed: Pick<MarketFeed, 'catchUp'>,
  log: Logger,
): { now(): void; stop(): Promise<void> } {
  let wanted = false;
  let stopped = false;
  let underway: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (wanted) {
      wanted = false;
      try {
        await feed.catchUp();
      } catch (error) {
        log.debug({ err: String(error) }, 'not caught up yet');
        wanted = !stopped;
        if (wanted) await sleep(RETRY_MS);
      }
    }
  }

  return {
    now: () => {
      wanted = !stopped;
      underway ??= run().finally(() => {
        underway = null;
      });
    },
    stop: async () => {
      stopped = true;
      wanted = false;
      await underway;
    },
  };
}
