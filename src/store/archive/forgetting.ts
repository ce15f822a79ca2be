import { type Archive, type ArchivedOrder, type Batch, NOTHING } from '../../exchange/archive';
import { isFinal } from '../../exchange/status';
import { LAYOUT } from '../health/layout';
import { createLease, type Lease } from '../outbox/lease';
import { ORDER_CHANGES } from '../records/layout';
import { addressBytes, decodeOrder, hashHex } from '../records/order';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

interface ForgettingOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
  readonly archive: Archive;
  /** How long an order stays in Redis after its end. */
  readonly keepMs?: number;
}

/** The right to archive is another process's now, or nothing may be forgotten now: begin again. */
export class Fenced extends Error {}
/** The archive and the orders that have left Redis do not fit. */
export class ArchiveMismatch extends Error {}

export interface StoredOrder {
  readonly hash: Buffer;
  readonly packed: Buffer;
}

export interface Forgetting {
  readonly lease: Lease;
  /** Before the first `move` of a holder of the lease: afterwards the archive has nothing that Redis has not forgotten. */
  open(): Promise<void>;
  /** Adds orders that are over to the archive, and takes them out of Redis. Returns how many left. Throws Fenced. */
  move(token: string, orders: readonly StoredOrder[]): Promise<number>;
  /** Adds the next batch to the archive. Returns its number, under which it may be forgotten. Throws Fenced. */
  commit(rows: Batch): Promise<number>;
  /** Deletes the traces of markets that are at an end. */
  dropTraces(): Promise<void>;
}

/** How long an order stays in Redis after its end: `WORD_MS` of lua/lib/traces.lua must be shorter. */
export const KEEP_MS = 60_000;
/** Orders of one call of forget_orders (ORDERS_MAX there), and of one transaction of the archive. */
const FORGET_STEP = 200;
export const MOVE_MAX = 1_000;
const BUCKETS_STEP = 100;
const MARKETS_STEP = 500;
const RANK_STEP = 1_000;

/** The order is final, is none of those that took part in a trade, and ended so long ago. */
export function isOver(packed: Buffer, beforeMs: number): boolean {
  if (packed.length < ORDER_CHANGES.bytes || !isFinalCode(packed.at(-1))) return false;
  const { fillCount, updatedAtMs } = ORDER_CHANGES.read(packed, packed.length - ORDER_CHANGES.bytes);
  return fillCount === 0 && updatedAtMs <= beforeMs;
}

/** OPEN and PARTIALLY_FILLED come first in src/exchange/status.ts. */
const isFinalCode = (code: number | undefined): boolean => code !== undefined && code > 1;

export function archivedOf({ hash, packed }: StoredOrder): ArchivedOrder {
  const { maker, marketId, createdAtMs, sequence, status } = decodeOrder(hashHex(hash), packed);
  if (!isFinal(status)) throw new Error('an order that is not final is not archived');
  return {
    ...{ hash, marketId },
    wallet: addressBytes(maker),
    rank: createdAtMs * RANK_STEP + (sequence % RANK_STEP),
    record: packed,
  };
}

/**
 * Moves orders from Redis into the archive, in batches with numbers. The archive takes a batch in one transaction, and only the
 * next one; then Redis forgets its orders and notes its number, with the first of them. So a batch behind the noted number is one
 * of which nothing was forgotten: a new holder of the lease deletes it there and begins again. It holds for a Redis that lost its
 * latest writes, and for one that was put back from a backup, too.
 */
export function createForgetting({
  redis,
  run,
  keys,
  archive,
  keepMs = KEEP_MS,
}: ForgettingOptions): Forgetting {
  const lease = createLease({ redis, run, keys }, 'archive', keys.archiveLease);
  let batch = 0;

  async function open(): Promise<void> {
    const noted = await redis.hget(keys.archive, 'id');
    const state = await archive.open();
    if (noted === null && state.batch > 0)
      throw new ArchiveMismatch(
        'ARCHIVE_URL names the archive of another exchange; give this one an empty database',
      );
    const id = await run('open_archive', [keys.archive, keys.layout], [state.id, LAYOUT]);
    if (id.toString() !== state.id)
      throw new ArchiveMismatch('the orders that left Redis are in another archive than that of ARCHIVE_URL');
    batch = Number(await redis.hget(keys.archive, 'n'));
    if (state.batch < batch)
      throw new ArchiveMismatch(
        `the archive ends with batch ${state.batch}, and orders of batch ${batch} left Redis: put back a newer copy of it`,
      );
    await archive.cutBack(batch);
  }

  async function commit(rows: Batch): Promise<number> {
    if (!(await archive.append(batch + 1, rows))) throw new Fenced();
    return ++batch;
  }

  async function move(token: string, orders: readonly StoredOrder[]): Promise<number> {
    if (orders.length === 0) return 0;
    const number = await commit({ ...NOTHING, orders: orders.map(archivedOf) });
    let gone = 0;
    for (let from = 0; from < orders.length; from += FORGET_STEP) {
      const part = orders.slice(from, from + FORGET_STEP);
      const forgotten = await run(
        'forget_orders',
        [keys.orders, keys.archive, keys.archiveLease, keys.cash, keys.mode, keys.forgotten],
        [keys.prefix, token, number, keepMs, ...part.flatMap(argumentsOf)],
      );
      if (forgotten < 0) throw new Fenced();
      gone += forgotten;
    }
    return gone;
  }

  async function dropTraces(): Promise<void> {
    const ids = await redis.hkeys(keys.markets);
    for (let from = 0; from < ids.length; from += MARKETS_STEP) {
      const part = ids.slice(from, from + MARKETS_STEP);
      const traced = await Promise.all(part.map((id) => redis.hexists(keys.market(id), 'g')));
      for (const id of part.filter((_, i) => traced[i] === 1)) {
        while ((await run('forget_traces', [keys.market(id)], [BUCKETS_STEP])) === 1);
      }
    }
  }

  return { lease, open, move, commit, dropTraces };
}

const argumentsOf = ({ hash, packed }: StoredOrder): [Buffer, Buffer] => [
  hash,
  packed.subarray(-ORDER_CHANGES.bytes),
];
