import {
  BurstyRateLimiter,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import { Refusal } from '../../exchange/errors';
import type { RedisClient, RunScript } from '../../store/redis/scripts';
import { type Bucket, LIMITS, type Rate } from '../../wire/limits';
import type { AnswerHead } from '../endpoint';
import { type Allowance, createAllowance } from './allowance';

/** Buckets that are decided in memory at once; for the others Redis is asked first. */
type Instant = 'submissions' | 'cancels-by-ip' | 'admin-tokens';

/** Limits shared by the replicas; each replica enforces them in memory while Redis is full or away. */
export interface Limiter {
  /** Takes points; throws RATE_LIMITED with `retryAfterMs` when there are too few. Either way it sets headers for the client. */
  take(bucket: Exclude<Bucket, Instant>, key: string, response: AnswerHead, points?: number): Promise<void>;
  /** The same without waiting. With 0 points it only checks that one is left. */
  spend(bucket: Instant, key: string, response: AnswerHead, points: number): void;
  /** Takes points for work already done. */
  charge(bucket: Instant, key: string, points: number): void;
  /** Takes more points for a read that was served, or with a negative number gives points back. */
  settle(bucket: 'reads', key: string, points: number): void;
  /** Reads the points that the other replicas have counted. */
  learn(bucket: Instant, key: string): Promise<void>;
}

const BURST_SEC = 10;
const FAUCET_SEC = 3_600;
/** A small part of the points that an address may use at once. */
const TOLD_EACH = 20;

/** The limiter with RATE_LIMIT=off. */
export const noLimiter: Limiter = {
  take: () => Promise.resolve(),
  spend: () => undefined,
  charge: () => undefined,
  settle: () => undefined,
  learn: () => Promise.resolve(),
};

export function createLimiter({
  redis,
  run,
}: {
  readonly redis: RedisClient;
  readonly run: RunScript;
}): Limiter {
  const allowance = (name: Instant, reportedEach: number): Allowance =>
    createAllowance({ run, name, rate: LIMITS[name], reportedEach });
  const instant: Readonly<Record<Instant, Allowance>> = {
    submissions: allowance('submissions', TOLD_EACH),
    'cancels-by-ip': allowance('cancels-by-ip', TOLD_EACH),
    'admin-tokens': allowance('admin-tokens', 1),
  };
  const windows = new Map(
    (Object.keys(LIMITS) as Bucket[])
      .filter((bucket) => !(bucket in instant))
      .map((bucket) => [bucket, windowOf(redis, bucket, LIMITS[bucket])]),
  );
  /** Reads have no burst, so their window is a plain one. */
  const reads = windows.get('reads') as RateLimiterRedis;

  return {
    take: async (bucket, key, response, points = 1) => {
      try {
        const left = await windows.get(bucket)?.consume(key, points);
        if (left) writeLimitHeaders(response, bucket, left.remainingPoints, left.msBeforeNext);
      } catch (error) {
        if (!(error instanceof RateLimiterRes)) throw error;
        writeLimitHeaders(response, bucket, error.remainingPoints, error.msBeforeNext);
        throw refusalOf(bucket, error.msBeforeNext);
      }
    },
    spend: (bucket, key, response, points) => {
      const left = instant[bucket].take(key, points);
      if (left.waitMs > 0) {
        writeLimitHeaders(response, bucket, 0, left.waitMs);
        throw refusalOf(bucket, left.waitMs);
      }
      if (points > 0) writeLimitHeaders(response, bucket, Math.floor(left.points), 0);
    },
    charge: (bucket, key, points) => instant[bucket].charge(key, points),
    settle: (_bucket, key, points) => {
      if (points === 0) return;
      const settled = points > 0 ? reads.penalty(key, points) : reads.reward(key, -points);
      // A full or silent Redis counts nothing; the points that were taken stay taken.
      settled.catch(() => undefined);
    },
    learn: (bucket, key) => instant[bucket].learn(key),
  };
}

/** A steady window and, where there is a burst, a longer one after it. */
function windowOf(
  redis: RedisClient,
  bucket: Bucket,
  { points, durationSec, burst }: Rate,
): BurstyRateLimiter | RateLimiterRedis {
  const counted = (keyPrefix: string, most: number, duration: number) =>
    new RateLimiterRedis({
      storeClient: redis,
      keyPrefix,
      points: most,
      duration,
      inMemoryBlockOnConsumed: most + 1,
      // A Redis that is full or away must not lift the limit.
      rejectIfRedisNotReady: true,
      insuranceLimiter: new RateLimiterMemory({ keyPrefix, points: most, duration }),
    });
  const steady = counted(`rl:${bucket}`, points, durationSec);
  return burst === 0 ? steady : new BurstyRateLimiter(steady, counted(`rl:${bucket}+`, burst, BURST_SEC));
}

/** The ledger itself limits the faucet by the hour, also with RATE_LIMIT=off. */
export async function faucetLimit<T>(pay: Promise<T>, response: AnswerHead): Promise<T> {
  try {
    return await pay;
  } catch (error) {
    if (error instanceof Refusal && error.code === 'RATE_LIMITED') {
      add(response, 'RateLimit-Policy', 'faucet', `q=1;w=${FAUCET_SEC}`);
      add(response, 'RateLimit', 'faucet', `r=0;t=${Math.ceil(Number(error.extra.retryAfterMs) / 1_000)}`);
    }
    throw error;
  }
}

const POLICIES = Object.fromEntries(
  Object.entries(LIMITS).map(([bucket, { points, durationSec, burst }]) => [
    bucket,
    `q=${points};w=${durationSec}${burst ? `;burst=${burst + points}` : ''}`,
  ]),
) as Readonly<Record<Bucket, string>>;

/** draft-ietf-httpapi-ratelimit-headers. */
function writeLimitHeaders(response: AnswerHead, bucket: Bucket, left: number, waitMs: number): void {
  if (response.headersSent) return;
  add(response, 'RateLimit-Policy', bucket, POLICIES[bucket]);
  add(response, 'RateLimit', bucket, `r=${left};t=${Math.max(1, Math.ceil(waitMs / 1_000))}`);
}

/** One item of a header that lists limits by name, because several limits may count one request. */
function add(response: AnswerHead, header: string, name: string, values: string): void {
  const item = `"${name}";${values}`;
  const before = response.getHeader(header);
  if (typeof before !== 'string') {
    response.setHeader(header, item);
    return;
  }
  const others = before.split(', ').filter((one) => !one.startsWith(`"${name}";`));
  response.setHeader(header, [...others, item].join(', '));
}

function refusalOf(bucket: Bucket, waitMs: number): Refusal {
  const { points, durationSec, by, what } = LIMITS[bucket];
  return new Refusal(
    'RATE_LIMITED',
    `the limit of one ${by} is ${points} ${what} in ${durationSec} s; wait and retry`,
    {
      retryAfterMs: waitMs,
      scope: bucket,
    },
  );
}
