import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../log';
import type { MarketFeed } from './market-feed';

const RETRY_MS = 250;

/** Looks into the logs when told to, and until Redis answers; being told again meanwhile means once more. */
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
