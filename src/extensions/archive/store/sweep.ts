import type { MarketId } from '../../../exchange/market';
import { matchPlace, type StreamPlace } from '../../../store/lists/places';
import { isBefore, NO_ENTRY } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { DueLines } from './due-lines';
import type { DueMatches } from './due-matches';
import type { StoredOrder } from './leaving';

interface SweepOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** By the clock of Redis. */
  readonly now: () => number;
}

/** Wallets and matches that the sweep finds go to these, the matches once the outbox has been read up to where it ended then. */
interface Places {
  readonly position: string;
  readonly matches: Pick<DueMatches, 'note'>;
  readonly lines: Pick<DueLines, 'note' | 'size'>;
}

/** Goes over everything in Redis once: all orders, the journals of all wallets, and the matches of all markets up to now. */
export interface Sweep {
  /** Some of the orders. */
  next(places: Places): Promise<StoredOrder[]>;
  /** There is more at once. */
  isScanning(): boolean;
  isThrough(): boolean;
  end(): Promise<void>;
}

const ORDERS_STEP = 500;
const [WALLETS_STEP, WALLETS_WAITING_MAX] = [500, 1_000];
const MARKETS_STEP = 500;
const ADDRESS_BYTES = 20;
const SWEEP = 'sweep';

type Entry = [id: Buffer, fields: Buffer[]];

/** `fromMs` is when every order that has ended by now is old enough. */
export async function beginSweep({ redis, keys, now }: SweepOptions, fromMs: number): Promise<Sweep> {
  await redis.hset(keys.archive, SWEEP, '1');
  const [latest] = (await redis.xrevrangeBuffer(keys.outbox, '+', '-', 'COUNT', 1)) as unknown as Entry[];
  const end = latest ? latest[0].toString() : NO_ENTRY;
  let matched: Map<MarketId, StreamPlace> | null = await lastMatches(redis, keys);
  // A cursor of HSCAN, and null at the end.
  let [orders, wallets]: [string | null, string | null] = ['0', '0'];

  async function page(key: string, cursor: string, step: number): Promise<[string | null, Buffer[]]> {
    const [next, flat] = await redis.hscanBuffer(key, cursor, 'COUNT', step);
    return [next.toString() === '0' ? null : next.toString(), flat as Buffer[]];
  }

  async function scanWallets(cursor: string, lines: Places['lines']): Promise<void> {
    const [next, flat] = await page(keys.cash, cursor, WALLETS_STEP);
    for (let i = 0; i < flat.length; i += 2) {
      const account = flat[i] as Buffer;
      if (account.length === ADDRESS_BYTES) lines.note(account);
    }
    wallets = next;
  }

  async function next({ position, matches, lines }: Places): Promise<StoredOrder[]> {
    if (matched && !isBefore(position, end)) {
      for (const [id, place] of matched) matches.note(id, place);
      matched = null;
    }
    if (now() < fromMs) return [];
    if (wallets !== null && lines.size() < WALLETS_WAITING_MAX) await scanWallets(wallets, lines);
    if (orders === null) return [];
    const [next, flat] = await page(keys.orders, orders, ORDERS_STEP);
    orders = next;
    const found: StoredOrder[] = [];
    for (let i = 0; i + 1 < flat.length; i += 2)
      found.push({ hash: flat[i] as Buffer, packed: flat[i + 1] as Buffer });
    return found;
  }

  return {
    next,
    isScanning: () => now() >= fromMs && (orders !== null || wallets !== null),
    isThrough: () => orders === null && wallets === null && matched === null,
    end: async () => void (await redis.hdel(keys.archive, SWEEP)),
  };
}

/** The latest match of every market that has one. */
async function lastMatches(redis: RedisClient, keys: Keys): Promise<Map<MarketId, StreamPlace>> {
  const ids = await redis.hkeys(keys.markets);
  const found = new Map<MarketId, StreamPlace>();
  for (let from = 0; from < ids.length; from += MARKETS_STEP) {
    const part = ids.slice(from, from + MARKETS_STEP);
    const last = await Promise.all(
      part.map((id) => redis.xrevrangeBuffer(keys.trades(id), '+', '-', 'COUNT', 1)),
    );
    for (const [i, id] of part.entries()) {
      const [entry] = (last[i] ?? []) as unknown as Entry[];
      if (entry) found.set(id, matchPlace(entry[0]));
    }
  }
  return found;
}
