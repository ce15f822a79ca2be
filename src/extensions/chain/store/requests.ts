import { Refusal } from '../../../exchange/errors';
import type { MarketId, OutcomeIndex } from '../../../exchange/market';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';

/** A result that an operator has set: an outcome or, with null, void. `evidence` is a URL. */
export interface WantedResult {
  readonly outcome: OutcomeIndex | null;
  readonly evidence: string | null;
  /** The oracle reports it from then on, by the clock of Redis. */
  readonly dueMs: number;
}

/** Requests of web to the worker, which alone has keys: to open a market, to report a result, to serve the faucet. */
export interface ChainRequests {
  openMarket(id: MarketId): Promise<void>;
  opening(): Promise<readonly MarketId[]>;
  opened(id: MarketId): Promise<void>;
  wantResult(id: MarketId, result: WantedResult): Promise<void>;
  wantedResults(): Promise<ReadonlyMap<MarketId, WantedResult>>;
  reported(id: MarketId): Promise<void>;
  /** Forgets a result that is not due. Returns false when it is due, and true when there is none. */
  withdrawResult(id: MarketId): Promise<boolean>;
  /** Throws RATE_LIMITED with `retryAfterMs`, and NOT_FOUND while no worker serves the faucet. */
  askFaucet(wallet: string): Promise<void>;
  /** Wallets that asked and were not served yet. It also forgets those whose hour is over. */
  thirsty(): Promise<readonly string[]>;
  served(wallet: string): Promise<void>;
  /** A worker with the oracle's key is there. */
  faucetServes(): Promise<void>;
}

const FAUCET_INTERVAL_MS = 3_600_000;
/** The most wallets of an hour; each costs gas. */
const FAUCET_WALLETS_MAX = 5_000;
const ASKED = 'asked';
const SERVED = 'served';
/** A field of the wallets' hash: when a worker served last. */
const SERVES = 'serves';
/** A worker notes itself this often; one that waits for the chain may be late. */
const SERVES_EVERY_MS = 10_000;
const SERVES_MS_MAX = 300_000;

export function createChainRequests(options: {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** The time of Redis. */
  readonly now: () => number;
}): ChainRequests {
  const { redis, keys, now } = options;

  let servesNotedMs = Number.NEGATIVE_INFINITY;

  async function askFaucet(wallet: string): Promise<void> {
    const at = Math.trunc(now());
    const servedAt = Number(await redis.hget(keys.faucet, SERVES));
    if (at - servedAt > SERVES_MS_MAX)
      throw new Refusal('NOT_FOUND', 'there is no faucet here now: no worker with ORACLE_KEY runs');
    const isFull = (await redis.hlen(keys.faucet)) > FAUCET_WALLETS_MAX;
    if (!isFull && (await redis.hsetnx(keys.faucet, wallet, `${ASKED} ${at}`)) === 1) return;
    const before = Number((await redis.hget(keys.faucet, wallet))?.split(' ')[1] ?? at);
    throw new Refusal('RATE_LIMITED', 'the faucet pays a wallet once an hour; retry later', {
      retryAfterMs: Math.max(1_000, before + FAUCET_INTERVAL_MS - at),
      scope: 'faucet',
    });
  }

  async function thirsty(): Promise<readonly string[]> {
    const all = Object.entries(await redis.hgetall(keys.faucet));
    const since = now() - FAUCET_INTERVAL_MS;
    const wallets = all.filter(([wallet]) => wallet !== SERVES);
    const isOver = ([, text]: readonly [string, string]): boolean => Number(text.split(' ')[1]) < since;
    const over = wallets.filter(isOver);
    if (over.length > 0) await redis.hdel(keys.faucet, ...over.map(([wallet]) => wallet));
    return wallets.filter((one) => one[1].startsWith(ASKED) && !isOver(one)).map(([wallet]) => wallet);
  }

  return {
    async openMarket(id) {
      await redis.sadd(keys.opening, id);
    },
    opening: () => redis.smembers(keys.opening),
    async opened(id) {
      await redis.srem(keys.opening, id);
    },
    async wantResult(id, result) {
      await redis.hset(keys.results, id, JSON.stringify(result));
    },
    async wantedResults() {
      const all = Object.entries(await redis.hgetall(keys.results));
      return new Map(all.map(([id, text]) => [id, JSON.parse(text) as WantedResult]));
    },
    async reported(id) {
      await redis.hdel(keys.results, id);
    },
    async withdrawResult(id) {
      const text = await redis.hget(keys.results, id);
      if (text === null) return true;
      if (now() >= (JSON.parse(text) as WantedResult).dueMs) return false;
      await redis.hdel(keys.results, id);
      return true;
    },
    askFaucet,
    thirsty,
    async served(wallet) {
      await redis.hset(keys.faucet, wallet, `${SERVED} ${Math.trunc(now())}`);
    },
    async faucetServes() {
      const at = Math.trunc(now());
      if (at - servesNotedMs < SERVES_EVERY_MS) return;
      await redis.hset(keys.faucet, SERVES, at);
      servesNotedMs = at;
    },
  };
}
