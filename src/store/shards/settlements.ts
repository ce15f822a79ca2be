import type { ListPlace } from '../../exchange/archive';
import { Refusal } from '../../exchange/errors';
import type { MarketId } from '../../exchange/market';
import { aboveListed, compareListed, listedId, listedPlace } from '../archive/places';
import type { OrderRecord } from '../records/order';
import { type SettlementRecord, settlementKey } from '../records/settlement';
import type { SettlementList } from '../settlement/settlement-list';
import type { Settlements, SettlementsFilter, SettlementsPage } from '../settlement/settlements';
import { type Directory, partOf } from './directory';
import type { OrderPlaces } from './order-places';
import { partAt } from './wallet-shards';

/** The least number of records that one step reads in each shard, and the most steps of one page. */
const RECORDS_MIN = 25;
const STEPS_MAX = 25;
const CURSOR = /^(\d{1,15}-\d{1,9})-(\d{1,2})$/;

/** A place in the merged list, newest first; among records of the same place by shard. */
interface MergedPlace extends ListPlace {
  readonly shard: number;
}
type Placed = MergedPlace & { readonly record: SettlementRecord };

interface Step extends Pick<SettlementsPage, 'orders'> {
  readonly found: readonly Placed[];
  /** All that is behind `found` is behind this place, too; null at the end. */
  readonly end: MergedPlace | null;
}

/**
 * The settlements of all shards. A record is in the shard of its market. The list of all is merged by the time at which a record was
 * written, a time of the shard's own Redis.
 */
export function settlementsOverShards(
  parts: readonly Settlements[],
  directory: Directory,
  places: Pick<OrderPlaces, 'records'>,
): Settlements {
  const of = (marketId: MarketId): Promise<Settlements> => partOf(directory, parts, marketId);

  /** Asks each shard for the items of its markets; answers in the order of the items. */
  async function each<T, R>(
    items: readonly T[],
    marketOf: (item: T) => MarketId,
    ask: (part: Settlements, own: readonly T[]) => Promise<readonly R[]>,
  ): Promise<R[]> {
    const shards = await Promise.all(items.map((item) => directory.shardOf(marketOf(item))));
    const asked = [...new Set(shards)].map(async (shard) => {
      const own = items.filter((_, i) => shards[i] === shard);
      return [shard, (await ask(partAt(parts, shard), own)).values()] as const;
    });
    const answers = new Map(await Promise.all(asked));
    return shards.map((shard) => answers.get(shard)?.next().value as R);
  }

  async function ordersOf(records: readonly SettlementRecord[]): Promise<ReadonlyMap<string, OrderRecord>> {
    const shards = await Promise.all(records.map(({ marketId }) => directory.shardOf(marketId)));
    const asked = [...new Set(shards)].map((shard) =>
      partAt(parts, shard).ordersOf(records.filter((_, i) => shards[i] === shard)),
    );
    return new Map((await Promise.all(asked)).flatMap((orders) => [...orders]));
  }

  async function counts() {
    const all = await Promise.all(parts.map((part) => part.counts()));
    const oldest = all.flatMap(({ oldestMs }) => (oldestMs === null ? [] : [oldestMs]));
    return {
      unsettled: all.reduce((sum, { unsettled }) => sum + unsettled, 0),
      oldestMs: oldest.length === 0 ? null : Math.min(...oldest),
      failed: all.reduce((sum, { failed }) => sum + failed, 0),
    };
  }

  return {
    async record(list, status) {
      const shards = await Promise.all(list.map(({ ref }) => directory.shardOf(ref.marketId)));
      const written = parts.map((part, shard) =>
        part.record(
          list.filter((_, i) => shards[i] === shard),
          status,
        ),
      );
      return (await Promise.all(written)).reduce((sum, some) => sum + some, 0);
    },
    move: async (key, ...to) => (await of(key.marketId)).move(key, ...to),
    packed: (names) =>
      each(
        names,
        (name) => settlementKey(name).marketId,
        (part, own) => part.packed(own),
      ),
    async find(key) {
      const shard = await directory.find(key.marketId);
      return shard === null ? null : partAt(parts, shard).find(key);
    },
    show: async (marketId, fills) => (await of(marketId)).show(marketId, fills),
    showAll: (lists) =>
      each(
        lists,
        ({ marketId }) => marketId,
        (part, own) => part.showAll(own),
      ),
    list: listOverShards(parts, directory),
    listed: listedOverShards(parts, directory),
    orders: places.records,
    ordersOf,
    counts,
  };
}

/** The pages of the list. Those of one market are pages of its shard, with cursors of that shard. */
function listOverShards(parts: readonly Settlements[], directory: Directory): Settlements['list'] {
  async function list(
    filter: SettlementsFilter,
    page: { limit: number; cursor: string | null },
  ): Promise<SettlementsPage> {
    let from = page.cursor === null ? null : parseCursor(page.cursor);
    const found: Placed[] = [];
    const orders = new Map<string, OrderRecord>();
    let end: MergedPlace | null = from;
    for (let step = 0; step < STEPS_MAX && found.length <= page.limit; step++) {
      const next = await stepFrom(filter, from, page.limit);
      found.push(...next.found);
      for (const [hash, order] of next.orders) orders.set(hash, order);
      end = next.end;
      if (end === null) break;
      from = end;
    }
    const shown = found.slice(0, page.limit);
    const last = found.length > page.limit ? shown.at(-1) : end;
    return { records: shown.map(({ record }) => record), orders, next: last ? cursorOf(last) : null };
  }

  async function stepFrom(filter: SettlementsFilter, from: MergedPlace | null, limit: number): Promise<Step> {
    const each = Math.max(RECORDS_MIN, Math.ceil((limit + 1) / parts.length));
    const pages = await Promise.all(
      parts.map((part, shard) => part.list(filter, { limit: each, cursor: from && cursorIn(shard, from) })),
    );
    const all = pages.flatMap(({ records }, shard): Placed[] =>
      records.map((record) => ({ ...listedPlace(record.listId), shard, record })),
    );
    // A list that has more says nothing of what is behind its cursor.
    const ends = pages.flatMap(({ next }, shard) => (next === null ? [] : [{ ...listedPlace(next), shard }]));
    const [end = null] = ends.sort(newestFirst);
    const found = all.filter((one) => end === null || newestFirst(one, end) <= 0).sort(newestFirst);
    return { found, end, orders: new Map(pages.flatMap((one) => [...one.orders])) };
  }

  return async (filter, page) => {
    if (filter.marketId === undefined) return list(filter, page);
    const shard = await directory.find(filter.marketId);
    if (shard === null) return { records: [], orders: new Map(), next: null };
    return partAt(parts, shard).list(filter, page);
  };
}

/**
 * A stretch of the list of all has `most` records, and with its last one all others of the same place: a walk goes on above or below that
 * place.
 */
function listedOverShards(parts: readonly Settlements[], directory: Directory): SettlementList {
  return async (marketId, stretch) => {
    if (marketId !== undefined) return (await partOf(directory, parts, marketId)).listed(marketId, stretch);
    const lists = await Promise.all(parts.map((part) => part.listed(undefined, stretch)));
    const way = stretch.descending ? -1 : 1;
    const all = lists.flat().sort((a, b) => way * compareListed(a, b));
    const last = all[stretch.most - 1];
    return last ? all.filter((one) => way * compareListed(one, last) <= 0) : all;
  };
}

const newestFirst = (a: MergedPlace, b: MergedPlace): number => compareListed(b, a) || a.shard - b.shard;

/** The cursor of a shard that continues behind this place. */
const cursorIn = (shard: number, place: MergedPlace): string =>
  listedId(shard > place.shard ? aboveListed(place) : place);

const cursorOf = (place: MergedPlace): string => `${listedId(place)}-${place.shard}`;

function parseCursor(cursor: string): MergedPlace {
  const [, place = '', shard] = CURSOR.exec(cursor) ?? [];
  if (shard === undefined) throw new Refusal('INVALID_CURSOR');
  return { ...listedPlace(place), shard: Number(shard) };
}
