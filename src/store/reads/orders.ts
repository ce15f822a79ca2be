import { Refusal } from '../../exchange/errors';
import { type OrderFill, type PlacedFill, type SettlementState, settlementOf } from '../../exchange/facts';
import { FILLS_SHOWN_MAX } from '../../exchange/match';
import { complement, type Pips } from '../../exchange/units';
import type { ArchivedReads } from '../lists/archived-reads';
import { createOrderRecords, type FoundOrder, type OrderRecords } from '../lists/orders';
import type { Fill, OrderRecord } from '../records/order';
import { type OrderFillsPage, type OrderView, type PlacedView, tradeId } from '../records/order-views';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import type { Settlements } from '../settlement/settlements';
import { createFillChain, type FillPlace, NEWEST_FILL, type OrderAndFills } from './fill-chain';

interface OrderReadsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly archivedReads: ArchivedReads;
  /** Adds to fills the progress of their settlement. */
  readonly showAll: Settlements['showAll'];
}

const CURSOR = /^([1-9]\d{0,14})-([1-9]\d{0,14})-(\d{1,4})$/;

export interface OrderReads {
  /** An order with its latest fills, oldest first. */
  order(orderHash: string): Promise<OrderView | null>;
  /** The same of orders that were just found, of all of them together; null for one that is not there any more. */
  views(found: readonly FoundOrder[]): Promise<(OrderView | null)[]>;
  /** The same as the answer to a submission, without the settlements of the fills. */
  placed(orderHash: string): Promise<PlacedView | null>;
  /** All fills of an order, newest first; null when the order does not exist. Throws INVALID_CURSOR. */
  orderFills(
    orderHash: string,
    page: { limit: number; cursor: string | null },
  ): Promise<OrderFillsPage | null>;
  /** Fills from the view of their order. */
  shownFills(record: OrderRecord, fills: readonly Fill[]): Promise<OrderFill[]>;
  readonly records: OrderRecords;
}

/** Reads orders with their fills. A read takes only as many fills as it shows, however many the order has. */
export function createOrderReads({
  redis,
  run,
  keys,
  archivedReads,
  showAll,
}: OrderReadsOptions): OrderReads {
  const chain = createFillChain({ run, keys, archivedReads });

  async function shownFills(record: OrderRecord, fills: readonly Fill[]): Promise<OrderFill[]> {
    const [view] = await viewsOf([{ record, fills }]);
    return [...(view?.fills ?? [])];
  }

  /** With the fills as they were found. */
  async function viewsOf(list: readonly OrderAndFills[]): Promise<OrderView[]> {
    const shown = await showAll(list.map(({ record, fills }) => ({ marketId: record.marketId, fills })));
    return list.map(({ record }, i) => ({
      record,
      fills: (shown[i] ?? []).map((fill) => orderFill(record, fill)),
    }));
  }

  const oldestFirst = ({ record, fills }: OrderAndFills): OrderAndFills => ({
    record,
    fills: fills.toReversed(),
  });

  async function order(orderHash: string): Promise<OrderView | null> {
    const found = await chain.read(orderHash, NEWEST_FILL, FILLS_SHOWN_MAX);
    return found && ((await viewsOf([oldestFirst(found)]))[0] ?? null);
  }

  async function views(found: readonly FoundOrder[]): Promise<(OrderView | null)[]> {
    const filled = found.filter(({ record }) => record.fillMs > 0);
    const read = await chain.newest(filled, FILLS_SHOWN_MAX);
    const shown = await viewsOf(read.flatMap((one) => (one ? [oldestFirst(one)] : [])));
    const byHash = new Map(shown.map((view) => [view.record.orderHash, view]));
    return found.map(({ record }) =>
      record.fillMs === 0 ? { record, fills: [] } : (byHash.get(record.orderHash) ?? null),
    );
  }

  async function placed(orderHash: string): Promise<PlacedView | null> {
    const found = await chain.read(orderHash, NEWEST_FILL, FILLS_SHOWN_MAX);
    if (!found) return null;
    const { record } = found;
    return { record, fills: found.fills.toReversed().map((fill) => ownFill(record, fill)) };
  }

  async function orderFills(
    orderHash: string,
    { limit, cursor }: { limit: number; cursor: string | null },
  ): Promise<OrderFillsPage | null> {
    const from = cursor === null ? NEWEST_FILL : parseCursor(cursor);
    const found = await chain.read(orderHash, from, limit + 1);
    if (!found) return null;
    const page = found.fills.slice(0, limit);
    const last = page.at(-1);
    return {
      record: found.record,
      fills: await shownFills(found.record, page),
      next: last && found.fills.length > limit ? `${last.tradeMs}-${last.sequence}-${last.index}` : null,
    };
  }

  const records = createOrderRecords({ redis, keys, archivedReads });
  return { order, views, placed, orderFills, shownFills, records };
}

function parseCursor(cursor: string): FillPlace {
  const parts = CURSOR.exec(cursor);
  if (!parts) throw new Refusal('INVALID_CURSOR');
  const [, tradeMs, sequence, index] = parts.map(Number);
  return { tradeMs: tradeMs ?? 0, sequence: sequence ?? 0, index: index ?? 0 };
}

/** A fill from the view of this order: in its own token. */
export function ownFill(record: OrderRecord, fill: Fill): PlacedFill {
  const isTaker = fill.takerHash === record.orderHash;
  const sameToken = isTaker || fill.matchType === 'COMPLEMENTARY';
  const pricePips: Pips = sameToken ? fill.pricePips : complement(fill.pricePips);
  return {
    tradeId: tradeId(record.marketId, fill),
    pricePips,
    sizeLots: fill.sizeLots,
    role: isTaker ? 'TAKER' : 'MAKER',
    matchType: fill.matchType,
    feeMicro: isTaker ? fill.takerFeeMicro : fill.makerFeeMicro,
    makerHash: fill.makerHash,
    matchedMs: fill.matchedMs,
  };
}

function orderFill(record: OrderRecord, fill: Fill & SettlementState): OrderFill {
  return { ...ownFill(record, fill), ...settlementOf(fill) };
}
