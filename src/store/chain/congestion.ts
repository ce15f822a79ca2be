import { SETTLEMENT_STATUSES } from '../../exchange/status';
import { LIST_PLACE } from '../records/layout';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/** The settlements that wait for the chain. One that FAILED has ended there, and stays among the unsettled all the same. */
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
/** Records that one step reads, and the most steps of a look; the next one continues behind the failed ones. */
const STEP = 500;
const STEPS_MAX = 20;
const FAILED = SETTLEMENT_STATUSES.indexOf('FAILED');

export function watchCongestion(options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** The time of Redis. */
  readonly now: () => number;
}): Congestion {
  const { redis, keys, now } = options;
  let isTooMuch = false;
  let timer: NodeJS.Timeout | undefined;
  /** Everything up to here has FAILED. */
  let failedUpTo: Buffer | null = null;

  async function oldest(): Promise<number | null> {
    for (let step = 0; step < STEPS_MAX; step++) {
      const from: string | Buffer = failedUpTo === null ? '-' : Buffer.concat([Buffer.from('('), failedUpTo]);
      const found = await redis.zrangebylexBuffer(keys.unsettled, from, '+', 'LIMIT', 0, STEP);
      if (found.length === 0) return null;
      const names = found.map((member) => member.subarray(LIST_PLACE.bytes));
      const packed = await redis.hmgetBuffer(keys.settlements, ...names);
      const open = packed.findIndex((record) => record?.[0] !== FAILED);
      failedUpTo = (open === -1 ? found.at(-1) : found[open - 1]) ?? failedUpTo;
      const first = found[open];
      if (first) return LIST_PLACE.read(first).listMs;
    }
    return null;
  }

  async function look(): Promise<Waiting> {
    const [all, failed, oldestMs] = await Promise.all([
      redis.zcard(keys.unsettled),
      redis.hget(keys.sums, 'failed'),
      oldest(),
    ]);
    const count = Math.max(0, all - Number(failed ?? 0));
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
