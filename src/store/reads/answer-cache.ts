import type { MarketId } from '../../exchange/market';
import { createRecent } from '../../exchange/recent';
import { MINUTE_MS } from '../records/candle';
import type { Clock } from '../redis/clock';
import { coalesce } from '../redis/coalesce';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/**
 * The public answers that a process caches. Before it sends a cached answer, it asks Redis, after the request came, for the
 * current moment: the state of the answer's market, or the count of changes of profiles and comments. It sends the answer
 * only if that moment equals the one in which the answer was made. So no answer is older than the sequence it states, and
 * after the answer to a command every replica shows its effect.
 */

/** The moment to which answers belong; every change of their content makes another moment. */
export interface Moment {
  /** The moment of one market, or of profiles and comments. */
  readonly of: string;
  /** Equal only for equal moments. */
  readonly stamp: string;
}

export interface Answer<T> {
  readonly value: T;
  /** The approximate memory of an entry. */
  readonly bytes: number;
  /** False when the answer may change without its moment, as the progress of a settlement does; it is kept for UNSETTLED_MS. */
  readonly isFinal?: boolean;
}

export interface AnswerCache {
  /** The current state of the market; null when it does not exist. */
  market(id: MarketId): Promise<Moment | null>;
  /** The current state of profiles and, with a market, of its comments. */
  talk(marketId?: MarketId): Promise<Moment>;
  /** Returns the cached answer under `name` of this moment, or the one that `make` makes. A failure is not cached. */
  answer<T>(moment: Moment, name: string, make: () => Promise<Answer<T>>): Promise<T>;
}

interface AnswerCacheOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly clock: Clock;
  /** The doubts of src/store/health/durability.ts: after a lossy failover the same state is another moment. */
  readonly doubts: () => number;
}

interface Entry {
  readonly stamp: string;
  untilMs: number;
  bytes: number;
  readonly value: Promise<unknown>;
}

const UNSETTLED_MS = 100;
/** The least and half of the greatest size of the cache. */
const BYTES_MAX = 16 * 1024 * 1024;
/** The memory of an entry beside its answer. */
const ENTRY_BYTES = 500;
/** The most markets whose reads are shared; above it reads work, but are not shared. */
const MARKETS_MAX = 1_000;

export function createAnswerCache({ redis, keys, clock, doubts }: AnswerCacheOptions): AnswerCache {
  const entries = createRecent<Entry>(BYTES_MAX, ({ bytes }) => bytes);
  const questions = new Map<MarketId, () => Promise<Buffer | null>>();
  const talked = coalesce(() => redis.get(keys.talk));

  /** At most one read at a time for each market: callers that come during a read share the next one. */
  function stateOf(id: MarketId): Promise<Buffer | null> {
    const known = questions.get(id);
    if (known) return known();
    if (questions.size >= MARKETS_MAX) questions.clear();
    const ask = coalesce(() => redis.hgetBuffer(keys.market(id), 's'));
    questions.set(id, ask);
    return ask();
  }

  function made<T>(key: string, stamp: string, make: () => Promise<Answer<T>>): Promise<T> {
    const making = make();
    const entry: Entry = {
      stamp,
      untilMs: Number.POSITIVE_INFINITY,
      bytes: ENTRY_BYTES,
      value: making.then(({ value }) => value),
    };
    entries.put(key, entry);
    making.then(
      ({ bytes, isFinal = true }) => {
        if (!isFinal) entry.untilMs = performance.now() + UNSETTLED_MS;
        if (entries.get(key) === entry) entries.put(key, { ...entry, bytes: ENTRY_BYTES + bytes });
      },
      () => {
        entry.untilMs = 0;
      },
    );
    return entry.value as Promise<T>;
  }

  return {
    async market(id) {
      const state = await stateOf(id);
      // Figures of the last 24 hours and price histories change every minute.
      const minute = Math.floor(clock.now() / MINUTE_MS);
      return state && { of: id, stamp: `${state.toString('latin1')}${minute}${doubts()}` };
    },
    talk: async () => ({ of: 'talk', stamp: `${await talked()} ${doubts()}` }),
    answer<T>({ of, stamp }: Moment, name: string, make: () => Promise<Answer<T>>): Promise<T> {
      const key = `${of} ${name}`;
      const entry = entries.get(key);
      const isCurrent = entry?.stamp === stamp && performance.now() < entry.untilMs;
      return isCurrent ? (entry.value as Promise<T>) : made(key, stamp, make);
    },
  };
}
