import { Refusal } from '../../exchange/errors';
import type { OrderFill, PlacedFill, SettlementState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { FILLS_SHOWN_MAX } from '../../exchange/match';
import { complement, type Pips } from '../../exchange/units';
import type { Past } from '../archive/past';
import { decodeFills, decodeOrder, type Fill, hashBytes, type OrderRecord } from '../records/order';
import { type OrderFillsPage, type OrderView, type PlacedView, tradeId } from '../records/views';
import type { ShardKeys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { createOrderRecords, type OrderRecords } from './order-records';

interface OrderReadsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
  readonly past: Past;
  /** Adds to fills of one market the progress of their settlement. */
  readonly show: (id: MarketId, fills: readonly Fill[]) => Promise<(Fill & SettlementState)[]>;
}

/** The place of a walk along an order's fills: after the fill with this index of this match. */
interface FillPlace {
  readonly tradeMs: number;
  readonly sequence: number;
  readonly index: number;
}

const NEWEST: FillPlace = { tradeMs: 0, sequence: 0, index: 0 };
const CURSOR = /^([1-9]\d{0,14})-([1-9]\d{0,14})-(\d{1,4})$/;

export interface OrderReads {
  /** An order with its latest fills, oldest first. */
  order(orderHash: string): Promise<OrderView | null>;
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
  /** Reads the record and its `most` fills after a place, newest first. */
  async function read(orderHash: string, from: FillPlace, most: number) {
    const { tradeMs, sequence, index } = from;
    const args = [keys.prefix, hashBytes(orderHash), tradeMs, sequence, index, most] as const;
    const [packed, whole, ...matches] = await run('read_fills', [keys.orders], args);
    if (packed.length === 0) return archived(orderHash, from);
    if (whole === 0 && from !== NEWEST) throw new Refusal('INVALID_CURSOR');
    const fills = matches.flatMap(([ms, number, first, stretch]) =>
      decodeFills(Number(ms), Number(number), stretch, first).reverse(),
    );
    return { record: decodeOrder(orderHash, packed), fills };
  }

  /** An order that has left Redis had no fills. */
  async function archived(orderHash: string, from: FillPlace) {
    const record = (await past.records([orderHash])).get(orderHash);
    if (record && from !== NEWEST) throw new Refusal('INVALID_CURSOR');
    return record ? { record, fills: [] } : null;
  }

  async function shownFills(record: OrderRecord, fills: readonly Fill[]): Promise<OrderFill[]> {
    return (await show(record.marketId, fills)).map((fill) => orderFill(record, fill));
  }

  async function order(orderHash: string): Promise<OrderView | null> {
    const found = await read(orderHash, NEWEST, FILLS_SHOWN_MAX);
    if (!found) return null;
    return { record: found.record, fills: await shownFills(found.record, found.fills.reverse()) };
  }

  async function placed(orderHash: string): Promise<PlacedView | null> {
    const found = await read(orderHash, NEWEST, FILLS_SHOWN_MAX);
    if (!found) return null;
    const { record } = found;
    return { record, fills: found.fills.reverse().map((fill) => ownFill(record, fill)) };
  }

  async function orderFills(
    orderHash: string,
    { limit, cursor }: { limit: number; cursor: string | null },
  ): Promise<OrderFillsPage | null> {
    const found = await read(orderHash, cursor === null ? NEWEST : parseCursor(cursor), limit + 1);
    if (!found) return null;
    const page = found.fills.slice(0, limit);
    const last = page.at(-1);
    return {
      record: found.record,
      fills: await shownFills(found.record, page),
      next: last && found.fills.length > limit ? `${last.tradeMs}-${last.sequence}-${last.index}` : null,
    };
  }

  return { order, placed, orderFills, shownFills, records: createOrderRecords({ redis, keys, past }) };
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
