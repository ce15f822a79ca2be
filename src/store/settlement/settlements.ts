import { Refusal } from '../../exchange/errors';
import type { SettlementState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { partOf, type Settlement } from '../../exchange/settlement';
import { SETTLEMENT_STATUSES, type SettlementStatus } from '../../exchange/status';
import { LIST_PLACE } from '../records/layout';
import { decodeOrder, hashBytes, type OrderRecord } from '../records/order';
import {
  decodeSettlement,
  decodeSettlementState,
  listPlace,
  type MatchFacts,
  type MatchRef,
  packSettlement,
  recordOf,
  type SettlementKey,
  type SettlementRecord,
  settlementKey,
  settlementName,
} from '../records/settlement';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';

export interface SettlementsFilter {
  readonly status?: SettlementStatus | undefined;
  readonly marketId?: MarketId | undefined;
}

export interface SettlementsPage {
  /** Newest first. */
  readonly records: readonly SettlementRecord[];
  /** The orders that they name, by hash. */
  readonly orders: ReadonlyMap<string, OrderRecord>;
  readonly next: string | null;
}

export interface Settlements {
  /** record_settlements: writes records as CONFIRMED, or as MATCHED if they wait for the chain. Returns the number of new ones. */
  record(
    list: readonly { ref: MatchRef; settlement: Settlement }[],
    status: 'CONFIRMED' | 'MATCHED',
  ): Promise<number>;
  /**
   * move_settlement: returns null when the record does not change, because it is CONFIRMED, another sender SUBMITTED it less
   * than `holdMs` ago, or its attempt is not the failed `attempt`. To SUBMITTED, it returns the number of the attempt.
   */
  move(
    key: SettlementKey & { readonly tradeMs: number },
    status: SettlementStatus,
    options?: MoveOptions,
  ): Promise<number | null>;
  /** The stored records of these names, null for a missing one. */
  packed(names: readonly Buffer[]): Promise<(Buffer | null)[]>;
  /** Adds to each fill of one market its settlement, in one round trip. */
  show<T extends MatchFacts & { readonly sequence: number; readonly index: number }>(
    marketId: MarketId,
    fills: readonly T[],
  ): Promise<(T & SettlementState)[]>;
  /** Newest first; throws INVALID_CURSOR. A record that is written during a walk comes before its beginning. */
  list(filter: SettlementsFilter, page: { limit: number; cursor: string | null }): Promise<SettlementsPage>;
  /** Returns the stored ones of these orders, by hash. */
  orders(hashes: readonly string[]): Promise<Map<string, OrderRecord>>;
  /** The orders that these records name, by hash. */
  ordersOf(records: readonly SettlementRecord[]): Promise<ReadonlyMap<string, OrderRecord>>;
  /** The number of unsettled records, the time since the oldest waits, and the number of failures. */
  counts(): Promise<{ unsettled: number; oldestMs: number | null; failed: number }>;
}

/** Records written in one call; a hundred take Redis about two milliseconds. */
const RECORDS_MAX = 100;
/** Fields read in one call. */
const READ_MAX = 1_000;
/** Records read in one step, and steps for one page: a filter that matches little gets a short page and a cursor. */
const STEP = 200;
const STEPS_MAX = 25;
const CURSOR = /^(\d{1,15})-(\d{1,9})$/;
const NO_TRANSACTION = Buffer.alloc(0);

interface SettlementsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
}

interface MoveOptions {
  readonly transactionHash?: string | null;
  readonly holdMs?: number;
  readonly attempt?: number | null;
}

/** The settlement records: written by the worker, shown on trades, fills and to the operator. */
export function createSettlements({ redis, run, keys }: SettlementsOptions): Settlements {
  const { settlements, settlementList, unsettled, sums, outbox } = keys;
  const scriptKeys = [settlements, settlementList, unsettled, sums, outbox] as const;

  async function record(
    list: readonly { ref: MatchRef; settlement: Settlement }[],
    status: 'CONFIRMED' | 'MATCHED',
  ): Promise<number> {
    let written = 0;
    for (let from = 0; from < list.length; from += RECORDS_MAX) {
      const args = list.slice(from, from + RECORDS_MAX).flatMap(({ ref, settlement }) => {
        const name = settlementName({ ...ref, part: settlement.part });
        return [name, ref.tradeMs, packSettlement(settlement)];
      });
      const code = SETTLEMENT_STATUSES.indexOf(status);
      written += await run('record_settlements', scriptKeys, [keys.prefix, code, ...args]);
    }
    return written;
  }

  async function move(
    key: SettlementKey & { readonly tradeMs: number },
    status: SettlementStatus,
    { transactionHash = null, holdMs = 0, attempt = null }: MoveOptions = {},
  ): Promise<number | null> {
    const code = SETTLEMENT_STATUSES.indexOf(status);
    const transaction = transactionHash === null ? NO_TRANSACTION : hashBytes(transactionHash);
    const about = [settlementName(key), key.tradeMs] as const;
    const args = [keys.prefix, ...about, code, transaction, holdMs, attempt ?? ''] as const;
    return (await run('move_settlement', scriptKeys, args)) || null;
  }

  async function packed(names: readonly Buffer[]): Promise<(Buffer | null)[]> {
    const found: (Buffer | null)[] = [];
    for (let from = 0; from < names.length; from += READ_MAX) {
      found.push(...(await redis.hmgetBuffer(settlements, ...names.slice(from, from + READ_MAX))));
    }
    return found;
  }

  async function show<T extends MatchFacts & { readonly sequence: number; readonly index: number }>(
    marketId: MarketId,
    fills: readonly T[],
  ): Promise<(T & SettlementState)[]> {
    const places = new Map<string, number>();
    const names: Buffer[] = [];
    for (const { sequence, index } of fills) {
      const place = `${sequence}-${partOf(index)}`;
      if (places.has(place)) continue;
      places.set(place, names.length);
      names.push(settlementName({ marketId, sequence, part: partOf(index) }));
    }
    const records = await packed(names);
    return fills.map((fill) => {
      const record = records[places.get(`${fill.sequence}-${partOf(fill.index)}`) ?? -1];
      return { ...fill, ...decodeSettlementState(recordOf(record, fill)) };
    });
  }

  async function list(
    filter: SettlementsFilter,
    page: { limit: number; cursor: string | null },
  ): Promise<SettlementsPage> {
    if (page.cursor !== null && !CURSOR.test(page.cursor)) throw new Refusal('INVALID_CURSOR');
    const isOpen = filter.status !== undefined && filter.status !== 'CONFIRMED';
    const read = isOpen ? openNames : (from: string | null) => listedNames(filter.marketId, from);
    const shown: SettlementRecord[] = [];
    let from = page.cursor;
    let more = true;
    for (let step = 0; step < STEPS_MAX && more && shown.length <= page.limit; step++) {
      const entries = await read(from);
      const records = await packed(entries.map(({ name }) => name));
      for (const [i, { name }] of entries.entries()) {
        const stored = records[i];
        const found = stored && decodeSettlement(settlementKey(name), stored);
        if (found && passes(found, filter)) shown.push(found);
      }
      from = entries.at(-1)?.id ?? from;
      more = entries.length === STEP;
    }
    const records = shown.slice(0, page.limit);
    const isCut = shown.length > page.limit;
    const next = isCut ? (records.at(-1)?.listId ?? null) : more ? from : null;
    return { records, orders: await ordersOf(records), next };
  }

  async function listedNames(marketId: MarketId | undefined, from: string | null): Promise<Entry[]> {
    const stream = marketId === undefined ? settlementList : keys.settlementListOf(marketId);
    const found = await redis.xrevrangeBuffer(stream, from === null ? '+' : `(${from}`, '-', 'COUNT', STEP);
    return found.map(([id, fields]) => ({ id: id.toString(), name: fields[1] as Buffer }));
  }

  async function openNames(from: string | null): Promise<Entry[]> {
    const top = from === null ? '+' : Buffer.concat([Buffer.from('('), listPlace(from)]);
    const found = await redis.zrevrangebylexBuffer(unsettled, top, '-', 'LIMIT', 0, STEP);
    return found.map((member) => {
      const { listMs, listIndex } = LIST_PLACE.read(member);
      return { id: `${listMs}-${listIndex}`, name: member.subarray(LIST_PLACE.bytes) };
    });
  }

  async function ordersOf(records: readonly SettlementRecord[]): Promise<ReadonlyMap<string, OrderRecord>> {
    const hashes = new Set<string>();
    for (const { settlement } of records) {
      if (!settlement) continue;
      for (const hash of [settlement.takerHash, ...settlement.makerHashes]) hashes.add(hash);
    }
    return orders([...hashes]);
  }

  async function orders(hashes: readonly string[]): Promise<Map<string, OrderRecord>> {
    const found = new Map<string, OrderRecord>();
    for (let from = 0; from < hashes.length; from += READ_MAX) {
      const part = hashes.slice(from, from + READ_MAX);
      const stored = await redis.hmgetBuffer(keys.orders, ...part.map(hashBytes));
      for (const [i, hash] of part.entries()) {
        const record = stored[i];
        if (record) found.set(hash, decodeOrder(hash, record));
      }
    }
    return found;
  }

  async function counts(): Promise<{ unsettled: number; oldestMs: number | null; failed: number }> {
    const [open, [oldest], failed] = await Promise.all([
      redis.zcard(unsettled),
      redis.zrangeBuffer(unsettled, '0', '0'),
      redis.hget(sums, 'failed'),
    ]);
    return {
      unsettled: open,
      oldestMs: oldest ? LIST_PLACE.read(oldest).listMs : null,
      failed: Number(failed ?? 0),
    };
  }

  return { record, move, packed, show, list, orders, ordersOf, counts };
}

interface Entry {
  readonly id: string;
  readonly name: Buffer;
}

const passes = (record: SettlementRecord, { status, marketId }: SettlementsFilter): boolean =>
  (status === undefined || record.settlementStatus === status) &&
  (marketId === undefined || record.marketId === marketId);
