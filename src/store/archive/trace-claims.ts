import type { MarketId } from '../../exchange/market';
import { TRACES } from '../records/layout';
import { partsOfHeads, partsOfText, STAMPED_BYTES, traceOf } from '../records/trace';
import { NO_ENTRY } from '../redis/entry-id';
import type { ShardKeys } from '../redis/keys';
import type { RunScript } from '../redis/scripts';
import type { ReplyOf } from '../redis/verbs';
import { createTraceFilter, filterBytes, type TraceFilter } from './trace-filter';

/**
 * Says which orders have no trace, so that place_order need not look for it. A process follows the traces of the markets in which
 * it gets orders; nothing waits for that.
 */
export interface TraceClaims {
  /**
   * A copy of the market's field of traces, if the set of traces under that field certainly has none of this order, and its
   * expiration does not refuse the order (lua/lib/traces.lua); else null. The script compares the copy with the field.
   */
  claim(marketId: MarketId, orderHash: string, expirationSec: number): Buffer | null;
}

/** Of an exchange without an archive. */
export const NO_CLAIMS: TraceClaims = { claim: () => null };

/** When and how much a process reads of the traces of markets. */
export interface ClaimLimits {
  /** Between two readings of a market. */
  readonly refreshMs: number;
  /** The same while its filter is being filled. */
  readonly fillMs: number;
  /** The orders of a market that each reading of it needs: it takes Redis as long as some looks. */
  readonly ordersPerReading: number;
  /** A filter is filled once the market has had an order for so many traces, since the last time that it was filled. */
  readonly tracesPerOrder: number;
  /** The traces of a market. */
  readonly tracesMost: number;
  /** The filters of all markets. */
  readonly bytesMost: number;
  readonly marketsMost: number;
  /** A market without orders for so long makes room for another. */
  readonly idleMs: number;
}

/** By `npm run bench -- archive`; bench/README.md has the figures. */
export const CLAIM_LIMITS: ClaimLimits = {
  ...{ refreshMs: 100, fillMs: 10, ordersPerReading: 16, tracesPerOrder: 10 },
  ...{ tracesMost: 2_000_000, bytesMost: 64_000_000, marketsMost: 2_000, idleMs: 60_000 },
};

/** Of one reading: of 200 traces each on average, they take Redis 0.2 ms. */
const BUCKETS_STEP = 4;
/** A filter has room for so many times the traces that there were when it was begun; then another is begun. */
const ROOM = 2;
/** So that the first orders that leave do not make it too small at once. */
const ROOM_LEAST = 1_000;

/**
 * A filter of a market's traces. Of the set of traces under `field`, each is in `traces`, or in a bucket from `bucket` on: a
 * reading is of one moment, and traces only move to higher buckets (linear hashing). So it is whole once all buckets were read.
 */
interface Followed {
  readonly traces: TraceFilter;
  readonly room: number;
  field: Buffer;
  expiredSec: number;
  /** The last change of the traces that is in it. */
  entry: string;
  bucket: number;
  isWhole: boolean;
}

interface Market {
  followed: Followed | null;
  /** Since the filter was last begun, and since the market was last read. */
  orders: number;
  ordersUnread: number;
  /** By performance.now(). */
  readAtMs: number;
  usedAtMs: number;
}

type Reading = ReplyOf<'read_traces'>;

interface ClaimOptions {
  readonly run: RunScript;
  readonly keys: ShardKeys;
  readonly limits?: ClaimLimits;
}

export function createTraceClaims({ run, keys, limits = CLAIM_LIMITS }: ClaimOptions): TraceClaims {
  /** The one without orders for longest comes first. */
  const markets = new Map<MarketId, Market>();
  let bytes = 0;
  let isReading = false;

  function claim(marketId: MarketId, orderHash: string, expirationSec: number): Buffer | null {
    const nowMs = performance.now();
    const market = used(marketId, nowMs);
    if (!market) return null;
    market.orders++;
    market.ordersUnread++;
    if (!isReading && isDue(market, nowMs)) void read(marketId, market, nowMs);
    const { followed } = market;
    if (!followed?.isWhole) return null;
    if (expirationSec > 0 && expirationSec <= followed.expiredSec) return null;
    return followed.traces.mayHave(traceOf(orderHash)) ? null : followed.field;
  }

  /** Null when there is no room for another market. */
  function used(marketId: MarketId, nowMs: number): Market | null {
    let market = markets.get(marketId);
    if (market) markets.delete(marketId);
    else {
      if (markets.size >= limits.marketsMost && !dropIdle(nowMs)) return null;
      market = { followed: null, orders: 0, ordersUnread: 0, readAtMs: -limits.refreshMs, usedAtMs: nowMs };
    }
    market.usedAtMs = nowMs;
    markets.set(marketId, market);
    return market;
  }

  function dropIdle(nowMs: number): boolean {
    const [oldest] = markets;
    if (!oldest || nowMs - oldest[1].usedAtMs < limits.idleMs) return false;
    drop(oldest[1]);
    return markets.delete(oldest[0]);
  }

  function drop(market: Market): void {
    bytes -= market.followed?.traces.bytes ?? 0;
    market.followed = null;
  }

  function isDue({ followed, ordersUnread, readAtMs }: Market, nowMs: number): boolean {
    const pauseMs = followed && !followed.isWhole ? limits.fillMs : limits.refreshMs;
    return ordersUnread >= limits.ordersPerReading && nowMs - readAtMs >= pauseMs;
  }

  /** One market at a time. The reading after one that failed has what that one would have had. */
  async function read(marketId: MarketId, market: Market, nowMs: number): Promise<void> {
    isReading = true;
    market.ordersUnread = 0;
    market.readAtMs = nowMs;
    const { followed } = market;
    const from = followed?.bucket ?? 0;
    const step = followed && !followed.isWhole ? BUCKETS_STEP : 0;
    try {
      const reading = await run(
        'read_traces',
        [keys.market(marketId), keys.latestTraces(marketId)],
        [followed?.entry ?? NO_ENTRY, from, step],
      );
      // The market may have made room for another meanwhile.
      if (markets.get(marketId) === market) learn(market, reading, nowMs);
    } catch {
      // The copy of the field is as good as before: the script compares it.
    } finally {
      isReading = false;
    }
  }

  function learn(market: Market, reading: Reading, nowMs: number): void {
    const { followed } = market;
    if (followed && !follow(followed, reading)) drop(market);
    else if (!followed) begin(market, reading, nowMs);
  }

  /** Begins a filter, if there is room for it and the market has had enough orders. */
  function begin(market: Market, [field, changes]: Reading, nowMs: number): void {
    if (field.length !== STAMPED_BYTES) return;
    const count = TRACES.get.traces(field);
    if (count > limits.tracesMost || market.orders * limits.tracesPerOrder < count) return;
    const room = Math.max(ROOM_LEAST, count * ROOM);
    while (bytes + filterBytes(room) > limits.bytesMost) if (!dropIdle(nowMs)) return;
    const traces = createTraceFilter(room);
    bytes += traces.bytes;
    const expiredSec = TRACES.get.expiredSec(field);
    const entry = changes.at(-1)?.[0].toString() ?? NO_ENTRY;
    market.followed = { traces, room, field: ownCopy(field), expiredSec, entry, bucket: 0, isWhole: false };
    market.orders = 0;
  }

  return { claim };
}

/** Takes in a reading. False: the changes since the last one are not all there, or the filter is too small by now. */
function follow(followed: Followed, [field, changes, bucket, traces]: Reading): boolean {
  if (field.length !== STAMPED_BYTES || bucket < 0) return false;
  let known = followed.field;
  for (const [, [, packed]] of changes) {
    const { before, after, heads } = changeOf(packed);
    if (!before.equals(known)) return false;
    for (const trace of partsOfHeads(heads)) followed.traces.add(trace);
    known = after;
  }
  if (!known.equals(field) || TRACES.get.traces(field) > followed.room) return false;
  for (const text of traces) followed.traces.add(partsOfText(text));
  followed.field = ownCopy(field);
  followed.expiredSec = TRACES.get.expiredSec(field);
  followed.entry = changes.at(-1)?.[0].toString() ?? followed.entry;
  if (!followed.isWhole) followed.bucket = bucket;
  followed.isWhole ||= bucket >= TRACES.get.buckets(field);
  return true;
}

/** A part of a reply would keep all of it. */
const ownCopy = (bytes: Buffer): Buffer => Buffer.from(bytes);

/** As traces.note writes it: the field before and after, each behind its length, and the heads of the hashes that came. */
function changeOf(packed: Buffer): {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly heads: Buffer;
} {
  const beforeEnd = 1 + (packed[0] ?? 0);
  const afterEnd = beforeEnd + 1 + (packed[beforeEnd] ?? 0);
  return {
    before: packed.subarray(1, beforeEnd),
    after: packed.subarray(beforeEnd + 1, afterEnd),
    heads: packed.subarray(afterEnd),
  };
}
