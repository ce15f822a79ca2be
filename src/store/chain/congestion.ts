import { LIST_PLACE } from '../records/layout';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** The settlements that wait for the chain. */
export interface Waiting {
  readonly count: number;
  /** When the oldest was listed; null without any. */
  readonly oldestMs: number | null;
}

export interface Congestion {
  look(): Promise<Waiting>;
  /** Whether too much waited for the chain at the last look: then new orders are refused, until it is less again. */
  isTooMuch(): boolean;
  start(): void;
  stop(): void;
}

const COUNT_MAX = 10_000;
const OLDEST_MS_MAX = 30_000;
const EVERY_MS = 500;

export function watchCongestion(options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** The time of Redis. */
  readonly now: () => number;
}): Congestion {
  const { redis, keys, now } = options;
  let isTooMuch = false;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<Waiting> {
    const [count, [oldest]] = await Promise.all([
      redis.zcard(keys.unsettled),
      redis.zrangeBuffer(keys.unsettled, '0', '0'),
    ]);
    const oldestMs = oldest ? LIST_PLACE.read(oldest).listMs : null;
    isTooMuch = count > COUNT_MAX || (oldestMs !== null && now() - oldestMs > OLDEST_MS_MAX);
    return { count, oldestMs };
  }

  return {
    look,
    isTooMuch: () => isTooMuch,
    start() {
      // Without Redis no order is booked either, so the last result stays.
      timer = setInterval(() => void look().catch(() => undefined), EVERY_MS);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}
