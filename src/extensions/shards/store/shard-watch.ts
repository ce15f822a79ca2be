import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { otherShards, readShards } from './layout';

export interface ShardWatch {
  /** Calls `end` with the reason, once, when this process must not go on. */
  start(end: (reason: string) => void): void;
  stop(): void;
}

const EVERY_MS = 1_000;

/**
 * Looks every second, and after each reconnection, whether the exchange still has the number of shards that this process was
 * started with. A process that goes on with the old one would give grants and nonces at the old homes of wallets.
 */
export function createShardWatch({
  redis,
  keys,
  count,
}: {
  readonly redis: RedisClient;
  /** Keys of the first shard. */
  readonly keys: Keys;
  readonly count: number;
}): ShardWatch {
  let timer: NodeJS.Timeout | undefined;
  let look = (): void => undefined;

  function stop(): void {
    clearInterval(timer);
    redis.off('ready', look);
  }

  return {
    start(end) {
      look = () => {
        readShards(redis, keys).then(
          (noted) => {
            const reason = otherShards(count, noted);
            if (reason === null) return;
            stop();
            end(reason);
          },
          // A Redis that is silent says nothing else to anybody.
          () => undefined,
        );
      };
      // A process that was cut off looks first.
      redis.on('ready', look);
      timer = setInterval(look, EVERY_MS);
      timer.unref();
    },
    stop,
  };
}
