import type { MarketId } from '../../../exchange/market';
import { partsOf } from '../../../exchange/settlement';
import { getLists } from '../../../store/lists/list';
import {
  earlier,
  entryId,
  isBefore,
  LAST_MATCH,
  matchPlace,
  type StreamPlace,
} from '../../../store/lists/places';
import { unpackMark } from '../../../store/records/candle';
import { MATCH_FILL, MATCH_HEAD } from '../../../store/records/layout';
import { countFills, hashHex, isMatch } from '../../../store/records/order';
import { recordOf, settlementNames, settlementStatusOf } from '../../../store/records/settlement';
import { NO_ENTRY } from '../../../store/redis/entry-id';
import { readFields } from '../../../store/redis/fields';
import type { Keys } from '../../../store/redis/keys';
import { readPaged } from '../../../store/redis/paged-read';
import type { RedisClient } from '../../../store/redis/scripts';
import type { LeavingMatches, SettledMatch } from './leaving';

interface DueMatchesOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** By the clock of Redis. */
  readonly now: () => number;
  readonly keepMs: number;
}

export interface DueMatches {
  /** Every reader of the outbox is past these matches of the market, up to a place. */
  note(marketId: MarketId, upTo: StreamPlace): void;
  /** The next matches that may leave, and whether there are more at once. */
  next(): Promise<{ readonly markets: readonly LeavingMatches[]; readonly more: boolean }>;
  /** When the oldest match happened that should have left and may not; null without one. */
  heldMs(): number | null;
}

/** A market with matches that every reader is past. */
interface Waiting {
  readonly upTo: StreamPlace;
  /** By performance.now(). */
  lookAtMs: number;
  /** The time of the match that may not leave. */
  heldMs: number | null;
  /** The first match of the latest stretch: when it is there again, it did not leave. */
  tried: string | null;
}

/** The part of a market's stream that is read. */
interface Stretch {
  readonly id: MarketId;
  readonly market: Waiting;
  readonly matches: readonly Unsettled[];
  readonly isFull: boolean;
}
interface Unsettled extends StreamPlace {
  readonly packed: Buffer;
  /** Those of its settlement records. */
  readonly names: readonly Buffer[];
}

type Records = ReadonlyMap<Unsettled, readonly (Buffer | null)[]>;

/** Maximum matches and fills of one pass, all markets together, and the minimum of matches for one market. */
const [MATCHES_MAX, FILLS_MAX, MATCHES_MIN] = [2_000, 10_000, 10];
/** Maximum bytes read for one market: about FILLS_MAX fills. */
const MATCHES_BYTES = FILLS_MAX * MATCH_FILL.bytes;
const MARKETS_MAX = 200;
/** Marks move on soon; a settlement that is not CONFIRMED may stay so for long. */
const [MARKS_MS, HELD_MS] = [500, 5_000];

export function createDueMatches({ redis, keys, now, keepMs }: DueMatchesOptions): DueMatches {
  const waiting = new Map<MarketId, Waiting>();

  function note(id: MarketId, upTo: StreamPlace): void {
    const known = waiting.get(id);
    if (known && !isBefore(known.upTo, upTo)) return;
    waiting.set(id, { lookAtMs: 0, heldMs: null, tried: null, ...known, upTo });
  }

  /** The markets whose turn it is, and they go to the end of the line. */
  function due(): [MarketId, Waiting][] {
    const atMs = performance.now();
    const found: [MarketId, Waiting][] = [];
    for (const entry of waiting) {
      if (found.length === MARKETS_MAX) break;
      if (entry[1].lookAtMs <= atMs) found.push(entry);
    }
    for (const [id, market] of found) {
      waiting.delete(id);
      waiting.set(id, market);
    }
    return found;
  }

  async function next() {
    const markets = due();
    if (markets.length === 0) return { markets: [], more: false };
    const ids = markets.map(([id]) => id);
    const [settled, counted] = await Promise.all([
      redis.hmget(keys.settledUpTo, ...ids),
      redis.hmgetBuffer(keys.candleMarks, ...ids),
    ]);
    const most = Math.max(MATCHES_MIN, Math.ceil(MATCHES_MAX / ids.length));
    const stretches = await Promise.all(
      markets.map(([id, market], i) =>
        read(
          id,
          market,
          [market.upTo, matchPlace(settled[i] ?? NO_ENTRY), candlePlace(counted[i])].reduce(earlier),
          most,
        ),
      ),
    );
    const settlements = await settlementsOf(stretches);
    const { taken, isCut } = take(stretches, settlements);
    const isFull = stretches.some((one) => one.isFull && one.market.lookAtMs <= performance.now());
    return { markets: taken.filter(({ matches }) => matches.length > 0), more: isCut || isFull };
  }

  async function read(id: MarketId, market: Waiting, upTo: StreamPlace, most: number): Promise<Stretch> {
    const last = earlier(upTo, { ...LAST_MATCH, tradeMs: now() - keepMs });
    const { matches, more } = await matchesOf(id, entryId(last), most);
    if (matches.length === 0) await postpone(id, market, last);
    return { id, market, matches, isFull: more };
  }

  async function matchesOf(id: MarketId, to: string, most: number) {
    const { found, more } = await readPaged(
      (from, count) => redis.xrangeBuffer(keys.trades(id), from, to, 'COUNT', count),
      ...(['-', most, MATCHES_BYTES] as const),
    );
    const matches = found.map(([entry, fields]): Unsettled => {
      const place = matchPlace(entry);
      const packed = fields[1] as Buffer;
      const names = settlementNames({ ...place, marketId: id }, partsOf(countFills(packed)));
      return { ...place, packed, names };
    });
    return { matches, more };
  }

  /** No match of a market may leave: all have left, a mark is behind, or their clock was ahead and they are too young. */
  async function postpone(id: MarketId, market: Waiting, upTo: StreamPlace): Promise<void> {
    const [first] = isBefore(upTo, market.upTo) ? (await matchesOf(id, entryId(market.upTo), 1)).matches : [];
    if (first) wait(market, MARKS_MS, first);
    else waiting.delete(id);
  }

  function wait(market: Waiting, ms: number, { tradeMs }: StreamPlace): void {
    market.lookAtMs = performance.now() + ms;
    market.heldMs = tradeMs;
  }

  /** The records of each match, part by part. */
  async function settlementsOf(stretches: readonly Stretch[]): Promise<Records> {
    const all = stretches.flatMap(({ matches }) => matches);
    const names = all.map((match) => match.names);
    const found = await getLists((some) => readFields(redis, keys.settlements, some), names);
    return new Map(all.map((match, i) => [match, found[i] ?? []]));
  }

  function take(
    stretches: readonly Stretch[],
    records: Records,
  ): { taken: LeavingMatches[]; isCut: boolean } {
    let fills = 0;
    const all = stretches.map(({ id, market, matches }) => {
      const taken: SettledMatch[] = [];
      for (const match of matches) {
        const settlements = settled(match, records.get(match) ?? []);
        if (!settlements) {
          if (taken.length === 0) wait(market, HELD_MS, match);
          break;
        }
        fills += countFills(match.packed);
        if (fills > FILLS_MAX && taken.length > 0) break;
        const { tradeMs, sequence, packed } = match;
        taken.push({ tradeMs, sequence, packed, settlements });
      }
      return { marketId: id, matches: again(market, taken) ? [] : taken };
    });
    return { taken: all, isCut: fills > FILLS_MAX };
  }

  /** Whether the same matches were tried before and are still there. They are tried again later. */
  function again(market: Waiting, [first]: readonly SettledMatch[]): boolean {
    if (!first) return false;
    const isAgain = market.tried === entryId(first);
    market.tried = isAgain ? null : entryId(first);
    if (isAgain) wait(market, HELD_MS, first);
    else market.heldMs = null;
    return isAgain;
  }

  function heldMs(): number | null {
    let oldest: number | null = null;
    for (const { heldMs: ms } of waiting.values()) if (ms !== null) oldest = Math.min(ms, oldest ?? ms);
    return oldest;
  }

  return { note, next, heldMs };
}

/** The records of a match that are all CONFIRMED; null when they are not, or when the match cannot be read. */
function settled({ packed, tradeMs }: Unsettled, records: readonly (Buffer | null)[]): Buffer[] | null {
  if (!isMatch(packed)) return null;
  const facts = { tradeMs, takerHash: hashHex(MATCH_HEAD.get.takerHash(packed)) };
  const confirmed = records.flatMap((record) => {
    const own = recordOf(record, facts);
    return own && settlementStatusOf(own) === 'CONFIRMED' ? [own] : [];
  });
  return records.length > 0 && confirmed.length === records.length ? confirmed : null;
}

function candlePlace(mark: Buffer | null | undefined): StreamPlace {
  const { lastMs, lastSequence } = unpackMark(mark ?? Buffer.alloc(0));
  return { tradeMs: lastMs, sequence: lastSequence };
}
