import { LIST_PLACE } from '../../../store/records/layout';
import { settlementId, settlementKey } from '../../../store/records/settlement';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';

/** The settlements that wait for the chain. */
export interface Waiting {
  readonly count: number;
  /** When the oldest was listed; null without any. */
  readonly oldestMs: number | null;
  /** Its id. */
  readonly oldestId: string | null;
}

export interface Congestion {
  look(): Promise<Waiting>;
  /** Whether too much waited for the chain at the last look: then new orders are refused, until it is less again. */
  isTooMuch(): boolean;
  start(): void;
  stop(): void;
}

const COUNT_MAX = 10_000;
/** Beyond the delay after which a block is final: where CHAIN_CONFIRMATIONS counts, every match waits for more than a minute. */
const OLDEST_MS_MAX = 30_000;
const EVERY_MS = 500;

export function watchCongestion(options: {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** The time of Redis. */
  readonly now: () => number;
}): Congestion {
  const { redis, keys, now } = options;
  let isTooMuch = false;
  /** The oldest settlement, once it has waited for too long. */
  let tooOld: string | null = null;
  let timer: NodeJS.Timeout | undefined;

  /** How much younger the head is than the last final block, by the time of the chain. */
  async function finalityMs(): Promise<number> {
    const [finalMs, headMs] = await redis.hmget(keys.cursor, 'finalMs', 'headMs');
    return finalMs && headMs ? Math.max(0, Number(headMs) - Number(finalMs)) : 0;
  }

  async function look(): Promise<Waiting> {
    const [count, [oldest], delayMs] = await Promise.all([
      redis.zcard(keys.unsettled),
      redis.zrangeBuffer(keys.unsettled, '0', '0'),
      finalityMs(),
    ]);
    const oldestMs = oldest ? LIST_PLACE.read(oldest).listMs : null;
    const oldestId = oldest ? settlementId(settlementKey(oldest.subarray(LIST_PLACE.bytes))) : null;
    const isOld = oldestMs !== null && now() - oldestMs > OLDEST_MS_MAX + delayMs;
    // The delay moves by a block at each look, and the same settlement must not open and close the exchange.
    tooOld = isOld || oldestId === tooOld ? oldestId : null;
    isTooMuch = count > COUNT_MAX || tooOld !== null;
    return { count, oldestMs, oldestId };
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
