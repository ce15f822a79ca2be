import type { Funds } from '../../exchange/chain';
import { Refusal } from '../../exchange/errors';
import type { SettlementState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { partOf, type Settlement } from '../../exchange/settlement';
import { SETTLEMENT_STATUSES, type SettlementStatus } from '../../exchange/status';
import { type ArchivedReads, NO_ARCHIVED_READS } from '../lists/archived-reads';
import { readPage, withArchive } from '../lists/list';
import { createOrderRecords, type OrderRecords } from '../lists/orders';
import { belowListed, FIRST_LISTED, LAST_LISTED, listedId, listedPlace } from '../lists/places';
import { createSettlementList, type SettlementEntry, type SettlementList } from '../lists/settlements';
import { LIST_PLACE } from '../records/layout';
import { hashBytes, type OrderRecord } from '../records/order';
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
import { readFields } from '../redis/fields';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { inBlock, type MinedIn, minedOf } from './mined';

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

/** A fill, as far as its settlement is concerned. */
type SettledFact = MatchFacts & { readonly sequence: number; readonly index: number };

interface FillsOf<T> {
  readonly marketId: MarketId;
  readonly fills: readonly T[];
}

export interface Settlements {
  /** record_settlements: writes records as CONFIRMED, or as MATCHED if they wait for the chain. Returns the number of new ones. */
  record(
    list: readonly { ref: MatchRef; settlement: Settlement }[],
    status: 'CONFIRMED' | 'MATCHED',
  ): Promise<number>;
  /**
   * move_settlement: returns false when the record does not change: it is CONFIRMED, or a transaction holds it. With funds on a
   * chain it only notes that nothing could be built of a match (RETRYING).
   */
  move(
    key: SettlementKey & { readonly tradeMs: number },
    status: MovedTo,
    transactionHash?: string,
  ): Promise<boolean>;
  /** The records of these names in Redis, null for a missing one. */
  packed(names: readonly Buffer[]): Promise<(Buffer | null)[]>;
  /** The record, in Redis or in the archive. */
  find(key: SettlementKey): Promise<SettlementRecord | null>;
  /** Adds to each fill of one market its settlement, in one round trip. */
  show<T extends SettledFact>(marketId: MarketId, fills: readonly T[]): Promise<(T & SettlementState)[]>;
  /** The same for lists of fills, each of one market, in one round trip and one query for what has left. */
  showAll<T extends SettledFact>(lists: readonly FillsOf<T>[]): Promise<(T & SettlementState)[][]>;
  /** Newest first; throws INVALID_CURSOR. A record that is written during a walk comes before its beginning. */
  list(filter: SettlementsFilter, page: { limit: number; cursor: string | null }): Promise<SettlementsPage>;
  /** A stretch of the list of all, or of a market's. */
  readonly listed: SettlementList;
  /** Returns the stored ones of these orders, by hash. */
  readonly orders: OrderRecords;
  /** The orders that these records name, by hash. */
  ordersOf(records: readonly SettlementRecord[]): Promise<ReadonlyMap<string, OrderRecord>>;
  /** The number of unsettled records, the time since the oldest waits, and the number of failures. */
  counts(): Promise<{ unsettled: number; oldestMs: number | null; failed: number }>;
}

/** Records written in one call; a hundred take Redis about two milliseconds. */
const RECORDS_MAX = 100;
/** Records read in one step, and steps for one page: a filter that matches little gets a short page and a cursor. */
const STEP = 200;
const STEPS_MAX = 25;
const CURSOR = /^(\d{1,15})-(\d{1,9})$/;
const NO_TRANSACTION = Buffer.alloc(0);

/** The statuses of settlements that are over, which leave the unsettled ones (lua/lib/settlements.lua). */
export const ENDED: Readonly<Record<Funds, readonly SettlementStatus[]>> = {
  paper: ['CONFIRMED'],
  chain: ['CONFIRMED', 'FAILED'],
};

interface SettlementsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  /** Without it nothing has left Redis. */
  readonly archivedReads?: ArchivedReads;
  /** On a chain every fill has a settlement record of its own. */
  readonly funds?: Funds;
  /** Returns the EIP-55 form of the address at fault; without it addresses stay in lower case. */
  readonly checksum?: (address: string) => string;
}

/** The operator's scripts alone make a record SUBMITTED (src/extensions/chain/lua/enlist_intent.lua). */
type MovedTo = 'CONFIRMED' | 'RETRYING' | 'FAILED';

/** The settlement records: written by the worker, shown on trades, fills and to the operator. */
export function createSettlements({
  redis,
  run,
  keys,
  archivedReads = NO_ARCHIVED_READS,
  funds = 'paper',
  checksum = (address) => address,
}: SettlementsOptions): Settlements {
  const slotKey = { redis, keys };
  const { settlements, settlementList, unsettled, sums, outbox } = keys;
  const ended = ENDED[funds];
  const shownOf = <T extends SettlementState>(state: T, mined: MinedIn | null): T => {
    const { failedWallet } = state;
    const shown = inBlock(state, mined);
    return failedWallet === undefined ? shown : { ...shown, failedWallet: checksum(failedWallet) };
  };
  const orders = createOrderRecords({ redis, keys, archivedReads });
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
    status: MovedTo,
    transactionHash?: string,
  ): Promise<boolean> {
    const code = SETTLEMENT_STATUSES.indexOf(status);
    const transaction = transactionHash === undefined ? NO_TRANSACTION : hashBytes(transactionHash);
    const about = [settlementName(key), key.tradeMs] as const;
    return (await run('move_settlement', scriptKeys, [keys.prefix, ...about, code, transaction])) === 1;
  }

  const packed = (names: readonly Buffer[]): Promise<(Buffer | null)[]> =>
    readFields(redis, settlements, names);

  const anywhere = withArchive(
    packed,
    (names) => archivedReads.settlements(names.map(settlementKey)),
    (name) => name.toString('latin1'),
  );

  async function find(key: SettlementKey): Promise<SettlementRecord | null> {
    const names = [settlementName(key)];
    const [found] = await anywhere(names);
    if (!found) return null;
    const [mined = null] = await minedOf(slotKey, names, [found]);
    return shownOf(decodeSettlement(key, found), mined);
  }

  async function show<T extends SettledFact>(marketId: MarketId, fills: readonly T[]) {
    const [shown = []] = await showAll([{ marketId, fills }]);
    return shown;
  }

  async function showAll<T extends SettledFact>(lists: readonly FillsOf<T>[]) {
    const nameOf = (marketId: MarketId, { sequence, index }: T): string =>
      `${marketId} ${sequence}-${partOf(index, funds)}`;
    const names = new Map<string, Buffer>();
    for (const { marketId, fills } of lists) {
      for (const fill of fills) {
        const name = nameOf(marketId, fill);
        const { sequence, index } = fill;
        if (!names.has(name))
          names.set(name, settlementName({ marketId, sequence, part: partOf(index, funds) }));
      }
    }
    const packed = await anywhere([...names.values()]);
    const mined = await minedOf(slotKey, [...names.values()], packed);
    const places = new Map([...names.keys()].map((name, i) => [name, i]));
    return lists.map(({ marketId, fills }) =>
      fills.map((fill) => {
        const place = places.get(nameOf(marketId, fill)) ?? -1;
        const state = decodeSettlementState(recordOf(packed[place], fill));
        return { ...fill, ...shownOf(state, mined[place] ?? null) };
      }),
    );
  }

  async function list(
    filter: SettlementsFilter,
    page: { limit: number; cursor: string | null },
  ): Promise<SettlementsPage> {
    if (page.cursor !== null && !CURSOR.test(page.cursor)) throw new Refusal('INVALID_CURSOR');
    const isOpen = filter.status && !ended.includes(filter.status);
    const { rows, next } = await readPage(page, STEPS_MAX, listIdOf, async (cursor) => {
      const found = await (isOpen ? openOnes(cursor) : listedOf(filter.marketId, cursor));
      const mined = await minedOf(
        slotKey,
        found.map(({ key }) => settlementName(key)),
        found.map(({ record }) => record),
      );
      const shown = found.flatMap(({ key, record }, i) =>
        record ? shownOf(decodeSettlement(key, record), mined[i] ?? null) : [],
      );
      const last = found.length === STEP ? found.at(-1) : undefined;
      return { rows: shown.filter((one) => passes(one, filter)), end: last ? listedId(last) : null };
    });
    return { records: rows, orders: await ordersOf(rows), next };
  }

  const listed = createSettlementList({ redis, keys, packed, archivedReads });
  const listedOf = (marketId: MarketId | undefined, cursor: string | null): Promise<SettlementEntry[]> => {
    const to = cursor === null ? LAST_LISTED : belowListed(listedPlace(cursor));
    return listed(marketId, { from: FIRST_LISTED, to, descending: true, most: STEP });
  };

  /** Those that are not final never leave Redis. */
  async function openOnes(from: string | null): Promise<SettlementEntry[]> {
    const top = from === null ? '+' : Buffer.concat([Buffer.from('('), listPlace(from)]);
    const found = await redis.zrevrangebylexBuffer(unsettled, top, '-', 'LIMIT', 0, STEP);
    const names = found.map((member) => member.subarray(LIST_PLACE.bytes));
    const records = await packed(names);
    return found.map((member, i) => ({
      ...LIST_PLACE.read(member),
      key: settlementKey(names[i] as Buffer),
      record: records[i] ?? null,
    }));
  }

  async function ordersOf(records: readonly SettlementRecord[]): Promise<ReadonlyMap<string, OrderRecord>> {
    const hashes = new Set<string>();
    for (const { settlement } of records) {
      if (!settlement) continue;
      for (const hash of [settlement.takerHash, ...settlement.makerHashes]) hashes.add(hash);
    }
    return orders([...hashes]);
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

  return { record, move, packed, find, show, showAll, list, listed, orders, ordersOf, counts };
}

const passes = (record: SettlementRecord, { status, marketId }: SettlementsFilter): boolean =>
  (status === undefined || record.settlementStatus === status) &&
  (marketId === undefined || record.marketId === marketId);

const listIdOf = ({ listId }: SettlementRecord): string => listId;
