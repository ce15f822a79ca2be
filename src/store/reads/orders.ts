import { Refusal } from '../../exchange/errors';
import type { OrderFill, PlacedFill, SettlementState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { FILLS_SHOWN_MAX } from '../../exchange/match';
import { complement, type Pips } from '../../exchange/units';
import type { Past } from '../archive/past';
import type { Fill, OrderRecord } from '../records/order';
import { type OrderFillsPage, type OrderView, type PlacedView, tradeId } from '../records/views';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { createFillChain, type FillPlace, NEWEST_FILL, type OrderAndFills } from './fill-chain';
import { createOrderRecords, type OrderRecords } from './order-records';

interface OrderReadsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
  readonly past: Past;
  /** Adds to fills of one market the progress of their settlement. */
  readonly show: (id: MarketId, fills: readonly Fill[]) => Promise<(Fill & SettlementState)[]>;
}

const CURSOR = /^([1-9]\d{0,14})-([1-9]\d{0,14})-(\d{1,4})$/;

export interface OrderReads {
  /** An order with its latest fills, oldest first. */
  order(orderHash: string): Promise<OrderView | null>;
  /** The same of an order that has left Redis. */
  leftOrder(record: OrderRecord): Promise<OrderView>;
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
export function createOrderReads({ redis, run, keys, past, show }: OrderReadsOptions): OrderReads {
  const chain = createFillChain({ run, keys, past });

  async function shownFills(record: OrderRecord, fills: readonly Fill[]): Promise<OrderFill[]> {
    return (await show(record.marketId, fills)).map((fill) => orderFill(record, fill));
  }

  const viewOf = async ({ record, fills }: OrderAndFills): Promise<OrderView> => ({
    record,
    fills: await shownFills(record, fills.toReversed()),
  });

  async function order(orderHash: string): Promise<OrderView | null> {
    const found = await chain.read(orderHash, NEWEST_FILL, FILLS_SHOWN_MAX);
    return found && viewOf(found);
  }

  const leftOrder = async (record: OrderRecord): Promise<OrderView> =>
    viewOf(await chain.left(record, NEWEST_FILL, FILLS_SHOWN_MAX));

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

  const records = createOrderRecords({ redis, keys, past });
  return { order, leftOrder, placed, orderFills, shownFills, records };
}

function parseCursor(cursor: string): FillPlace {
  const parts = CURSOR.exec(cursor);
  if (!parts) throw new Refusal('INVALID_CURSOR');
  const [, tradeMs, sequence, index] = parts.map(Number);
  return { tradeMs: tradeMs ?? 0, sequence: sequence ?? 0, index: index ?? 0 };
}

/** A fill from the view of this order: in its own token. */
function ownFill(record: OrderRecord, fill: Fill): PlacedFill {
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
  };
}

function orderFill(record: OrderRecord, fill: Fill & SettlementState): OrderFill {
  const { settlementStatus, transactionHash } = fill;
  return { ...ownFill(record, fill), settlementStatus, transactionHash };
}
