import { Refusal } from '../../../exchange/errors';
import type { MarketId } from '../../../exchange/market';
import { byPartition, mergeParts, overPartitions, partAt, readPage } from '../../../store/lists/list';
import {
  aboveListed,
  compareListed,
  type ListPlace,
  listedId,
  listedPlace,
} from '../../../store/lists/places';
import type { SettlementList } from '../../../store/lists/settlements';
import type { OrderRecord } from '../../../store/records/order';
import { settlementKey } from '../../../store/records/settlement';
import type { Settlements } from '../../../store/settlement/settlements';
import { type Directory, findPart, partOf } from './directory';
import type { OrderPlaces } from './order-places';

/** The least number of records that one step reads in each shard, and the most steps of one page. */
const RECORDS_MIN = 25;
const STEPS_MAX = 25;
const CURSOR = /^(\d{1,15}-\d{1,9})-(\d{1,2})$/;

/** A place in the merged list, newest first; among records of the same place by shard. */
interface MergedPlace extends ListPlace {
  readonly shard: number;
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
  const shardOf = ({ marketId }: { readonly marketId: MarketId }): Promise<number> =>
    directory.shardOf(marketId);

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
      const written = await byPartition(
        list,
        ({ ref }) => shardOf(ref),
        (shard, own) => partAt(parts, shard).record(own, status),
      );
      return written.reduce((sum, some) => sum + some, 0);
    },
    move: async (key, ...to) => (await of(key.marketId)).move(key, ...to),
    packed: (names) =>
      overPartitions(
        names,
        (name) => shardOf(settlementKey(name)),
        (shard, own) => partAt(parts, shard).packed(own),
      ),
    find: async (key) => (await findPart(directory, parts, key.marketId))?.find(key) ?? null,
    show: async (marketId, fills) => (await of(marketId)).show(marketId, fills),
    showAll: (lists) => overPartitions(lists, shardOf, (shard, own) => partAt(parts, shard).showAll(own)),
    list: listOverShards(parts, directory),
    listed: listedOverShards(parts, directory),
    orders: places.records,
    async ordersOf(records) {
      const found = await byPartition(records, shardOf, (shard, own) => partAt(parts, shard).ordersOf(own));
      return new Map(found.flatMap((orders) => [...orders]));
    },
    counts,
  };
}

/** The pages of the list. Those of one market are pages of its shard, with cursors of that shard. */
function listOverShards(parts: readonly Settlements[], directory: Directory): Settlements['list'] {
  return async (filter, page) => {
    if (filter.marketId !== undefined) {
      const part = await findPart(directory, parts, filter.marketId);
      return part ? part.list(filter, page) : { records: [], orders: new Map(), next: null };
    }
    const limit = Math.max(RECORDS_MIN, Math.ceil((page.limit + 1) / parts.length));
    const orders = new Map<string, OrderRecord>();
    const { rows, next } = await readPage(page, STEPS_MAX, cursorOf, async (cursor) => {
      const from = cursor === null ? null : parseCursor(cursor);
      const pages = await Promise.all(
        parts.map((part, shard) => part.list(filter, { limit, cursor: from && cursorIn(shard, from) })),
      );
      for (const [hash, order] of pages.flatMap((one) => [...one.orders])) orders.set(hash, order);
      const placed = pages.map(({ records, next }, shard) => ({
        rows: records.map((record) => ({ ...listedPlace(record.listId), shard, record })),
        end: next === null ? null : { ...listedPlace(next), shard },
      }));
      const merged = mergeParts(placed, newestFirst);
      return { rows: merged.rows, end: merged.end && cursorOf(merged.end) };
    });
    return { records: rows.map(({ record }) => record), orders, next };
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
