import { kindOf, marketOf as marketOfEntry, matchOf, touchedBy } from '../../../store/outbox/outbox';
import { ORDER_BODY } from '../../../store/records/layout';
import { isBefore, NO_ENTRY } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import { readPaged } from '../../../store/redis/paged-read';
import type { RedisClient } from '../../../store/redis/scripts';
import { readLeft } from './archived-match-reads';
import { createDueLines } from './due-lines';
import { createDueMatches } from './due-matches';
import { isOver, type Leaving, type LeavingMatches, marketOf, ordersOf, type StoredOrder } from './leaving';
import { beginSweep, type Sweep } from './sweep';

interface SourceOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** By the clock of Redis. */
  readonly now: () => number;
  readonly keepMs: number;
  /** The other readers of the outbox. */
  readonly readers: readonly string[];
}

/** Some of what is over. */
export interface Found {
  readonly leaving: Leaving;
  /** The entry of the outbox up to which all orders were found, once these have left. */
  readonly position: string;
  /** There is more at once. */
  readonly more: boolean;
}

export interface Source {
  next(): Promise<Found>;
  /** After what `next` found has left. */
  done(found: Found): Promise<void>;
}

/** Entries of one pass. Those that name ORDERS_MAX orders have less than these bytes. */
const [ENTRIES_STEP, ENTRIES_BYTES] = [5_000, 1_000_000];
/** Maximum orders read in one pass. */
const ORDERS_MAX = 5_000;
const READ_STEP = 500;
/** Behind every match. */
const ALL_LEFT = { tradeMs: Number.POSITIVE_INFINITY, sequence: 0 };

type Entry = [id: Buffer, fields: Buffer[]];

/** The orders that entries name, all of them and those that traded, by their bytes; and the last of the entries. */
interface Touched {
  readonly orders: Map<string, Buffer>;
  readonly traded: ReadonlySet<string>;
  readonly last: string;
}

/**
 * Finds what is over: by the outbox, behind its other readers; and in a sweep over everything, at the start of each holder of the
 * lease, and whenever the outbox does not go back to where it was read before. Only the position in the outbox is stored: whatever
 * a process knew beyond that when it died, the sweep of the next one finds.
 */
export async function openSource({ redis, keys, now, keepMs, readers }: SourceOptions): Promise<Source> {
  const options = { redis, keys, now, keepMs };
  const [matches, lines] = [createDueMatches(options), createDueLines(options)];
  let position = (await redis.hget(keys.readers, 'archive')) ?? NO_ENTRY;
  let sweep: Sweep | null = await beginSweep(options, now());
  let held = await redis.hget(keys.archive, 'held');

  /**
   * The outbox names every order that ends from now on. An order that has ended is old enough to be forgotten when the sweep
   * begins, so the sweep finds it.
   */
  async function startAgain(): Promise<void> {
    const [first] = (await redis.xrangeBuffer(keys.outbox, '-', '+', 'COUNT', 1)) as unknown as Entry[];
    position = first ? first[0].toString() : NO_ENTRY;
    sweep = await beginSweep(options, now() + keepMs);
  }

  /** The entries behind the position that are old enough and that every other reader has finished with. */
  async function entries(): Promise<{ readonly read: Entry[]; readonly more: boolean }> {
    const positions = await redis.hmget(keys.readers, ...readers);
    const to = String(now() - keepMs);
    const { found, more } = await readPaged(
      (from, count) => redis.xrangeBuffer(keys.outbox, from, to, 'COUNT', count),
      ...([position, ENTRIES_STEP + 1, ENTRIES_BYTES] as const),
    );
    const [first] = found;
    if (first && first[0].toString() !== position) {
      await startAgain();
      return { read: [], more: true };
    }
    const slowest = positions.reduce((a, b) => (isBefore(b ?? NO_ENTRY, a ?? NO_ENTRY) ? b : a)) ?? NO_ENTRY;
    const isAhead = (entry: Entry | undefined): boolean =>
      entry !== undefined && isBefore(slowest, entry[0].toString());
    // Nearly always the readers are past all of them.
    const end = isAhead(found.at(-1)) ? found.findIndex(isAhead) : -1;
    return {
      read: found.slice(1, end === -1 ? undefined : Math.max(1, end)),
      more,
    };
  }

  /** Notes the wallets and matches of these entries, up to the last one whose orders are looked at now. */
  function touched(read: readonly Entry[]): Touched {
    const [orders, traded] = [new Map<string, Buffer>(), new Set<string>()];
    let last = position;
    for (const [id, fields] of read) {
      if (orders.size >= ORDERS_MAX) break;
      const packed = fields[1] as Buffer;
      const kind = kindOf(packed);
      last = id.toString();
      if (kind === 'SETTLE') continue;
      const named = touchedBy(packed);
      for (const hash of named.orders) {
        orders.set(nameOf(hash), hash);
        if (kind === 'TRADE') traded.add(nameOf(hash));
      }
      if (kind === 'TRADE') matches.note(marketOfEntry(packed), matchOf(packed));
      for (const wallet of named.wallets) lines.note(wallet);
    }
    return { orders, traded, last };
  }

  /** Those of the orders that are over once these matches have left. */
  async function over(
    candidates: readonly StoredOrder[],
    leaving: readonly LeavingMatches[],
  ): Promise<StoredOrder[]> {
    const beforeMs = now() - keepMs;
    const ended = candidates.filter(({ packed }) => isOver(packed, beforeMs, () => ALL_LEFT));
    const left = await readLeft(redis, keys, [...new Set(ended.map(({ packed }) => marketOf(packed)))]);
    for (const { marketId, matches: stretch } of leaving) {
      const last = stretch.at(-1);
      if (last) left.set(marketId, last);
    }
    return ended.filter(({ packed }) => isOver(packed, beforeMs, (id) => left.get(id) ?? null));
  }

  /** Those of the named orders that are in Redis. Notes the wallets of those that traded. */
  async function read(
    named: ReadonlyMap<string, Buffer>,
    traded: ReadonlySet<string>,
  ): Promise<StoredOrder[]> {
    const found: StoredOrder[] = [];
    const all = [...named];
    for (let from = 0; from < all.length; from += READ_STEP) {
      const part = all.slice(from, from + READ_STEP);
      const stored = await redis.hmgetBuffer(keys.orders, ...part.map(([, hash]) => hash));
      for (const [i, [name, hash]] of part.entries()) {
        const packed = stored[i];
        if (!packed) continue;
        found.push({ hash, packed });
        if (traded.has(name)) lines.note(ORDER_BODY.get.maker(packed));
      }
    }
    return found;
  }

  async function readWithLines(named: ReadonlyMap<string, Buffer>, traded: ReadonlySet<string>) {
    const byOutbox = await read(named, traded);
    return { byOutbox, journals: await lines.next() };
  }

  async function next(): Promise<Found> {
    const { read: some, more } = await entries();
    const { orders: named, traded, last } = touched(some);
    const bySweep = (await sweep?.next({ position: last, matches, lines })) ?? [];
    // Redis reads for one of them while the replies of the other are decoded.
    const [stretch, { byOutbox, journals }] = await Promise.all([
      matches.next(),
      readWithLines(named, traded),
    ]);
    const byMatches = ordersBeside(named, stretch.markets);
    const others = bySweep.filter(({ hash }) => !named.has(nameOf(hash)) && !byMatches.has(nameOf(hash)));
    const orders = await over(
      [...others, ...byOutbox, ...(await read(byMatches, new Set()))],
      stretch.markets,
    );
    const isCut = last !== (some.at(-1)?.[0].toString() ?? last);
    return {
      leaving: { orders, markets: stretch.markets, journals: journals.journals },
      position: last,
      more:
        (sweep?.isScanning() ?? false) || isCut || (more && some.length > 0) || stretch.more || journals.more,
    };
  }

  async function noteHeld(): Promise<void> {
    const ms = matches.heldMs();
    const now = ms === null ? null : String(ms);
    if (now === held) return;
    if (now === null) await redis.hdel(keys.archive, 'held');
    else await redis.hset(keys.archive, 'held', now);
    held = now;
  }

  return {
    next,
    async done(found) {
      position = found.position;
      await noteHeld();
      if (!sweep?.isThrough()) return;
      await sweep.end();
      sweep = null;
    },
  };
}

/** The orders of these matches that are not named. */
function ordersBeside(
  named: ReadonlyMap<string, Buffer>,
  markets: readonly LeavingMatches[],
): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (const { packed } of markets.flatMap(({ matches }) => matches))
    for (const hash of ordersOf(packed)) if (!named.has(nameOf(hash))) found.set(nameOf(hash), hash);
  return found;
}

const nameOf = (hash: Buffer): string => hash.toString('latin1');
