import type { MarketId } from '../exchange/market';
import { MINUTE_MS } from './candles';
import type { Clock } from './clock';
import { coalesce } from './coalesce';
import type { ShardKeys } from './keys';
import type { RedisClient } from './scripts';

/**
 * What a process keeps of a market's reads. Nothing is shown again before Redis has been asked, after the request came,
 * whether the market's state is still the one that the answer was read under; so an answer is never older than the
 * sequence it states, and after the answer to a command every replica shows its effect.
 */

/** The packed state of a market, which every change of the market changes; null when there is no such market. */
export type StateOf = (id: MarketId) => Promise<Buffer | null>;

/** Something read of a market, and what was made of it to be sent. */
export interface Kept<T> {
  readonly value: T;
  /** The JSON of what `present` makes of the value, made once for each `name`. */
  text(name: string, present: (value: T) => unknown): Buffer;
}

interface Entry<T> {
  readonly state: Buffer;
  readonly minute: number;
  untilMs: number;
  readonly read: Promise<Kept<T>>;
}

/** How long what may still change without the market's state, the progress of a settlement, is shown as it was. */
const UNSETTLED_MS = 100;
/** Markets kept per process. */
const MARKETS_MAX = 1_000;

/** Asks Redis for states, one question at a time for each market: whoever comes while one is under way shares the next. */
export function createStateOf(redis: RedisClient, keys: ShardKeys): StateOf {
  const questions = new Map<MarketId, () => Promise<Buffer | null>>();
  return (id) => {
    const known = questions.get(id);
    if (known) return known();
    if (questions.size >= MARKETS_MAX) questions.clear();
    const ask = coalesce(() => redis.hgetBuffer(keys.market(id), 's'));
    questions.set(id, ask);
    return ask();
  };
}

/**
 * Keeps the latest answer of `load` for each market. An answer of which `isFinal` is false may change without the
 * market's state: it is kept for a moment only.
 */
export function createKept<T>(
  { stateOf, clock }: { readonly stateOf: StateOf; readonly clock: Clock },
  load: (id: MarketId) => Promise<T>,
  isFinal: (value: T) => boolean = () => true,
): (id: MarketId) => Promise<Kept<T>> {
  const entries = new Map<MarketId, Entry<T>>();

  function read(id: MarketId, state: Buffer, minute: number): Promise<Kept<T>> {
    const entry: Entry<T> = {
      state,
      minute,
      untilMs: Number.POSITIVE_INFINITY,
      read: load(id).then(withTexts),
    };
    if (entries.size >= MARKETS_MAX && !entries.has(id)) entries.clear();
    entries.set(id, entry);
    entry.read.then(
      ({ value }) => {
        if (!isFinal(value)) entry.untilMs = clock.now() + UNSETTLED_MS;
      },
      () => entries.get(id) === entry && entries.delete(id),
    );
    return entry.read;
  }

  return async (id) => {
    const state = await stateOf(id);
    // There is no such market: `load` says so.
    if (!state) return withTexts(await load(id));
    const nowMs = clock.now();
    // Figures of the last 24 hours move by the minute.
    const minute = Math.floor(nowMs / MINUTE_MS);
    const entry = entries.get(id);
    const isCurrent = entry?.minute === minute && nowMs < entry.untilMs && entry.state.equals(state);
    return isCurrent ? entry.read : read(id, state, minute);
  };
}

function withTexts<T>(value: T): Kept<T> {
  const texts = new Map<string, Buffer>();
  return {
    value,
    text(name, present) {
      const made = texts.get(name) ?? Buffer.from(JSON.stringify(present(value)));
      texts.set(name, made);
      return made;
    },
  };
}
