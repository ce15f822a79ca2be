import type { ServerResponse } from 'node:http';
import { BurstyRateLimiter, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { Refusal } from '../exchange/errors';
import type { RedisClient } from '../store/scripts';

/** Limits of contract section 7, shared by all replicas. `burst` comes on top, within BURST_SEC. */
export const LIMITS = {
  reads: { points: 100, durationSec: 1, burst: 0, by: 'ip' },
  orders: { points: 50, durationSec: 1, burst: 50, by: 'maker' },
  cancels: { points: 100, durationSec: 1, burst: 100, by: 'wallet' },
  comments: { points: 5, durationSec: 60, burst: 0, by: 'wallet' },
  signIn: { points: 10, durationSec: 60, burst: 0, by: 'ip' },
} as const;

export type Bucket = keyof typeof LIMITS;

export interface Limiter {
  /** Takes one point; RATE_LIMITED with `retryAfterMs` when there is none. Tells the client in headers either way. */
  take(bucket: Bucket, key: string, response: ServerResponse): Promise<void>;
}

const BURST_SEC = 10;
const FAUCET_SEC = 3_600;

/** For RATE_LIMIT=off. */
export const noLimiter: Limiter = { take: () => Promise.resolve() };

export function createLimiter(redis: RedisClient): Limiter {
  const limiters = new Map<Bucket, BurstyRateLimiter | RateLimiterRedis>();
  for (const bucket of Object.keys(LIMITS) as Bucket[]) {
    const { points, durationSec, burst } = LIMITS[bucket];
    const window = (keyPrefix: string, most: number, duration: number) =>
      new RateLimiterRedis({
        storeClient: redis,
        keyPrefix,
        points: most,
        duration,
        inMemoryBlockOnConsumed: most + 1,
      });
    const steady = window(`rl:${bucket}`, points, durationSec);
    limiters.set(
      bucket,
      burst === 0 ? steady : new BurstyRateLimiter(steady, window(`rl:${bucket}+`, burst, BURST_SEC)),
    );
  }

  return {
    take: async (bucket, key, response) => {
      try {
        const left = await limiters.get(bucket)?.consume(key);
        if (left) tell(response, bucket, left);
      } catch (error) {
        // Without Redis there is nothing to protect: what comes next says that it is away.
        if (!(error instanceof RateLimiterRes)) return;
        tell(response, bucket, error);
        throw new Refusal('RATE_LIMITED', `more than ${describe(bucket)}`, {
          retryAfterMs: error.msBeforeNext,
        });
      }
    },
  };
}

/** The faucet pays by the hour, in the ledger itself, also with RATE_LIMIT=off. */
export async function faucetLimit<T>(pay: Promise<T>, response: ServerResponse): Promise<T> {
  try {
    return await pay;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'RATE_LIMITED') {
      response.setHeader('RateLimit-Policy', `"faucet";q=1;w=${FAUCET_SEC}`);
      response.setHeader(
        'RateLimit',
        `"faucet";r=0;t=${Math.ceil(Number(error.extra.retryAfterMs) / 1_000)}`,
      );
    }
    throw error;
  }
}

/** draft-ietf-httpapi-ratelimit-headers. */
function tell(
  response: ServerResponse,
  bucket: Bucket,
  { remainingPoints, msBeforeNext }: RateLimiterRes,
): void {
  const { points, durationSec, burst } = LIMITS[bucket];
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
  response.setHeader(
    'RateLimit-Policy',
    `"${bucket}";q=${points};w=${durationSec}${burst ? `;burst=${burst + points}` : ''}`,
  );
  response.setHeader('RateLimit', `"${bucket}";r=${remainingPoints};t=${seconds}`);
}

function describe(bucket: Bucket): string {
  const { points, durationSec, by } = LIMITS[bucket];
  return `${points} ${bucket === 'signIn' ? 'sign-in requests' : bucket} in ${durationSec} s of one ${by}`;
}
