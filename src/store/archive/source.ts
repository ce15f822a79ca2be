import { decodeEvent, READERS } from '../outbox/outbox';
import { hashBytes } from '../records/order';
import { isBefore, NO_ENTRY } from '../redis/entry-id';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { isOver, MOVE_MAX, type StoredOrder } from './forgetting';

interface SourceOptions {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  /** By the clock of Redis. */
  readonly now: () => number;
  readonly keepMs: number;
}

/** Some of the orders that are over. */
export interface Found {
  readonly orders: readonly StoredOrder[];
  /** The entry of the outbox up to which all were found, once these have left. */
  readonly position: string;
  /** There are more at once. */
  readonly more: boolean;
}

export interface Source {
  next(): Promise<Found>;
  /** After the orders of `next` have left. */
  done(found: Found): Promise<void>;
}

interface Sweep {
  readonly fromMs: number;
  cursor: string;
  isThrough: boolean;
}

const ENTRIES_STEP = 500;
const SCAN_STEP = 500;
const SWEEP = 'sweep';

type Entry = [id: Buffer, fields: Buffer[]];

/**
 * Finds orders that are over: by the outbox, behind its other readers; and in a sweep over all orders, at first and whenever the
 * outbox does not go back to where it was read before.
 */
export async function openSource({ redis, keys, now, keepMs }: SourceOptions): Promise<Source> {
  let position = (await redis.hget(keys.readers, 'archive')) ?? NO_ENTRY;
  let sweep: Sweep | null = null;
  if ((await redis.hget(keys.archive, SWEEP)) !== null) await startSweep();

  /**
   * The outbox names every order that ends from now on. An order that has ended is old enough to be forgotten when the sweep
   * begins, so the sweep finds it.
   */
  async function startSweep(): Promise<void> {
    await redis.hset(keys.archive, SWEEP, '1');
    const [first] = (await redis.xrangeBuffer(keys.outbox, '-', '+', 'COUNT', 1)) as unknown as Entry[];
    position = first ? first[0].toString() : NO_ENTRY;
    sweep = { fromMs: now() + keepMs, cursor: '0', isThrough: false };
  }

  async function swept(): Promise<StoredOrder[]> {
    if (!sweep || sweep.isThrough || now() < sweep.fromMs) return [];
    const [cursor, flat] = await redis.hscanBuffer(keys.orders, sweep.cursor, 'COUNT', SCAN_STEP);
    sweep.cursor = cursor.toString();
    sweep.isThrough = sweep.cursor === '0';
    const found: StoredOrder[] = [];
    for (let i = 0; i + 1 < flat.length; i += 2)
      found.push({ hash: flat[i] as Buffer, packed: flat[i + 1] as Buffer });
    return found.filter(({ packed }) => isOver(packed, now() - keepMs));
  }

  /** The entries behind the position that are old enough and that every other reader has finished with. */
  async function entries(): Promise<{ readonly read: Entry[]; readonly more: boolean }> {
    const readers = await redis.hmget(keys.readers, ...READERS);
    const found = (await redis.xrangeBuffer(
      keys.outbox,
      position,
      String(now() - keepMs),
      'COUNT',
      ENTRIES_STEP + 1,
    )) as unknown as Entry[];
    const [first] = found;
    if (first && first[0].toString() !== position) {
      await startSweep();
      return { read: [], more: true };
    }
    const isFinished = ([id]: Entry) => readers.every((at) => at !== null && !isBefore(at, id.toString()));
    const end = found.findIndex((entry) => !isFinished(entry));
    return {
      read: found.slice(1, end === -1 ? undefined : Math.max(1, end)),
      more: found.length > ENTRIES_STEP,
    };
  }

  /** The orders that ended by some of these entries, and the last of those entries. */
  async function ended(read: readonly Entry[]): Promise<Pick<Found, 'orders' | 'position'>> {
    const hashes = new Set<string>();
    let last = position;
    for (const [id, fields] of read) {
      if (hashes.size >= MOVE_MAX) break;
      const { kind, orderHashes } = decodeEvent(fields[1] as Buffer);
      if (kind !== 'SETTLE') for (const hash of orderHashes) hashes.add(hash);
      last = id.toString();
    }
    if (hashes.size === 0) return { orders: [], position: last };
    const raw = [...hashes].map(hashBytes);
    const stored = await redis.hmgetBuffer(keys.orders, ...raw);
    const orders = raw.flatMap((hash, i) => {
      const packed = stored[i];
      return packed && isOver(packed, now() - keepMs) ? [{ hash, packed }] : [];
    });
    return { orders, position: last };
  }

  async function next(): Promise<Found> {
    const bySweep = await swept();
    const { read, more } = await entries();
    const byOutbox = await ended(read);
    const orders = new Map<string, StoredOrder>();
    for (const order of [...bySweep, ...byOutbox.orders]) orders.set(order.hash.toString('latin1'), order);
    const isSweeping = sweep !== null && now() >= sweep.fromMs;
    const isCut = byOutbox.position !== (read.at(-1)?.[0].toString() ?? byOutbox.position);
    return {
      orders: [...orders.values()],
      position: byOutbox.position,
      more: isSweeping || isCut || (more && read.length > 0),
    };
  }

  return {
    next,
    async done(found) {
      position = found.position;
      if (!sweep?.isThrough) return;
      sweep = null;
      await redis.hdel(keys.archive, SWEEP);
    },
  };
}
