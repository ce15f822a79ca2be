import type { MarketId, OutcomeIndex } from '../exchange/market';
import { MATCH_TYPES, type MatchType, type Side } from '../exchange/match';
import {
  ORDER_STATUSES,
  ORDER_TYPES,
  type OrderStatus,
  type OrderType,
  REASONS,
  type Reason,
} from '../exchange/status';
import { type Lots, lots, type Micro, micro, type Pips, pips } from '../exchange/units';

/** A stored order: what lua/lib/order.lua packs. `maker` is lower-case hex; routes checksum it. */
export interface OrderRecord {
  readonly orderHash: string;
  readonly marketId: MarketId;
  readonly maker: string;
  readonly side: Side;
  readonly outcome: OutcomeIndex;
  readonly orderType: OrderType;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly filledLots: Lots;
  /** Value of all fills in the order's own token. */
  readonly quoteMicro: Micro;
  readonly status: OrderStatus;
  readonly reason: Reason;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The number its submission got in its market. */
  readonly sequence: number;
  readonly expirationSec: number;
  readonly clientOrderId: string | null;
  /** Latest entry of its chain of fills; 0 without one. */
  readonly fillMs: number;
  readonly fillSequence: number;
  /** The packed signed order (see packSigned). */
  readonly signed: Buffer;
}

/** One maker met by one taker, as stored. Prices are in the taker's token, fees in micro-units. */
export interface Fill {
  readonly tradeMs: number;
  readonly sequence: number;
  readonly index: number;
  readonly takerHash: string;
  readonly takerSide: Side;
  readonly takerOutcome: OutcomeIndex;
  readonly makerHash: string;
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
  readonly matchType: MatchType;
  readonly takerFeeMicro: Micro;
  readonly makerFeeMicro: Micro;
}

const HEAD_BYTES = 88;
const FILLS_HEAD_BYTES = 36;
const FILL_BYTES = 67;

export const hashHex = (raw: Buffer): string => `0x${raw.toString('hex')}`;
export const hashBytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
export const addressBytes = hashBytes;

function pick<T>(list: readonly T[], index: number, what: string): T {
  const value = list[index];
  if (value === undefined) throw new Error(`unknown ${what} ${index} in a stored record`);
  return value;
}

/** Reads an unsigned big-endian integer of up to 7 bytes, exactly (all ours are below 2^53). */
export function readUInt(buffer: Buffer, at: number, bytes: number): number {
  if (bytes <= 6) return buffer.readUIntBE(at, bytes);
  return buffer.readUIntBE(at, 1) * 2 ** 48 + buffer.readUIntBE(at + 1, 6);
}

export function decodeOrder(orderHash: string, packed: Buffer): OrderRecord {
  const kind = packed[2] ?? 0;
  const clientLength = packed[HEAD_BYTES] ?? 0;
  const clientEnd = HEAD_BYTES + 1 + clientLength;
  return {
    orderHash,
    status: pick(ORDER_STATUSES, packed[0] ?? -1, 'status'),
    reason: pick(REASONS, packed[1] ?? -1, 'reason'),
    orderType: pick(ORDER_TYPES, kind & 7, 'order type'),
    side: ((kind >> 3) & 1) as Side,
    outcome: ((kind >> 4) & 1) as OutcomeIndex,
    pricePips: pips(packed.readUInt16BE(4)),
    sizeLots: lots(readUInt(packed, 6, 6)),
    filledLots: lots(readUInt(packed, 12, 6)),
    quoteMicro: micro(readUInt(packed, 18, 7)),
    createdAtMs: readUInt(packed, 25, 6),
    updatedAtMs: readUInt(packed, 31, 6),
    sequence: readUInt(packed, 37, 6),
    expirationSec: readUInt(packed, 43, 5),
    fillMs: readUInt(packed, 48, 6),
    fillSequence: readUInt(packed, 54, 6),
    marketId: packed.toString('latin1', 60, 68),
    maker: hashHex(packed.subarray(68, 88)),
    clientOrderId: clientLength === 0 ? null : packed.toString('utf8', HEAD_BYTES + 1, clientEnd),
    signed: packed.subarray(clientEnd),
  };
}

/** The part of a record that never changes: client order id, then the signed order. */
export function encodeTail(clientOrderId: string | null, signed: Buffer): Buffer {
  const id = Buffer.from(clientOrderId ?? '', 'utf8');
  return Buffer.concat([Buffer.from([id.length]), id, signed]);
}

/** The fills of one match, in the order in which the makers were met. */
export function decodeFills(tradeMs: number, sequence: number, packed: Buffer): Fill[] {
  if (packed.length === 0) return [];
  const takerHash = hashHex(packed.subarray(0, 32));
  const takerSide = packed.readUInt8(32) as Side;
  const takerOutcome = packed.readUInt8(33) as OutcomeIndex;
  const count = packed.readUInt16BE(34);
  const fills: Fill[] = [];
  for (let index = 0; index < count; index++) {
    const at = FILLS_HEAD_BYTES + index * FILL_BYTES;
    fills.push({
      tradeMs,
      sequence,
      index,
      takerHash,
      takerSide,
      takerOutcome,
      makerHash: hashHex(packed.subarray(at, at + 32)),
      pricePips: pips(packed.readUInt16BE(at + 32)),
      sizeLots: lots(readUInt(packed, at + 34, 6)),
      matchType: pick(MATCH_TYPES, packed[at + 40] ?? -1, 'match type'),
      takerFeeMicro: micro(readUInt(packed, at + 41, 7)),
      makerFeeMicro: micro(readUInt(packed, at + 48, 7)),
    });
  }
  return fills;
}
