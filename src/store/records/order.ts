import type { BookedOrder, FillFacts } from '../../exchange/facts';
import type { MarketId, OutcomeIndex } from '../../exchange/market';
import { MATCH_TYPES, type Side } from '../../exchange/match';
import { ORDER_STATUSES, ORDER_TYPES, type OrderType, REASONS } from '../../exchange/status';
import { type Lots, lots, type Micro, micro, type Pips, pips } from '../../exchange/units';
import { MATCH_FILL, MATCH_HEAD, ORDER_BODY, ORDER_CHANGES, readUInt } from './layout';

/** A stored order, as lua/lib/order.lua packs it. `maker` is lower-case hex; routes checksum it. */
export interface OrderRecord extends BookedOrder {
  readonly maker: string;
  readonly expirationSec: number;
  /** The latest entry of the order's chain of fills; 0 without one. */
  readonly fillMs: number;
  readonly fillSequence: number;
  /** Between two steps of its submission (lua/lib/booking.lua): shown as PARTIALLY_FILLED, but in no book and no index. */
  readonly isContinuing: boolean;
  /** The packed signed order (see packSigned). */
  readonly signed: Buffer;
}

/** One maker met by one taker, as stored. Prices are in the taker's token, fees in micro-units. */
export interface Fill extends FillFacts {
  readonly index: number;
  readonly takerFeeMicro: Micro;
  readonly makerFeeMicro: Micro;
}

/** The fields that follow the body of an order that has met another. */
const CHANGES_BYTES = ORDER_CHANGES.bytes;
/** The body up to the client order id, and the part of it that the script packs. */
const BODY_BYTES = ORDER_BODY.bytes;
const SCRIPT_BODY_BYTES = ORDER_BODY.at.kind;
/** The status of lua/lib/order.lua behind those that are shown. */
const CONTINUING = ORDER_STATUSES.length;
const FILLS_HEAD_BYTES = MATCH_HEAD.bytes;
const FILL_BYTES = MATCH_FILL.bytes;
/** The optional parts that follow the fills (lua/lib/trades.lua). */
const [MOMENT_BYTES, LINK_BYTES] = [6, 12];

export const hashHex = (raw: Buffer): string => `0x${raw.toString('hex')}`;
export const hashBytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
export const addressBytes = hashBytes;

function pick<T>(list: readonly T[], index: number, what: string): T {
  const value = list[index];
  if (value === undefined) throw new Error(`unknown ${what} ${index} in a stored record`);
  return value;
}

export function decodeOrder(orderHash: string, packed: Buffer): OrderRecord {
  const isContinuing = packed.at(-1) === CONTINUING;
  const stored = isContinuing ? 'PARTIALLY_FILLED' : pick(ORDER_STATUSES, packed.at(-1) ?? -1, 'status');
  const isUntouched = packed.at(-1) === 0;
  const bodyBytes = packed.length - (isUntouched ? 0 : CHANGES_BYTES);
  const body = packed.subarray(0, bodyBytes - 1);
  const changes = packed.subarray(bodyBytes);
  const createdAtMs = readUInt(body, 0, 6);
  const kind = body[12] ?? 0;
  const clientEnd = BODY_BYTES + 1 + (body[BODY_BYTES] ?? 0);
  const filledLots = isUntouched ? 0 : readUInt(changes, 1, 6);
  return {
    orderHash,
    // All that was filled may have come back from failed matches.
    status: stored === 'PARTIALLY_FILLED' && filledLots === 0 ? 'OPEN' : stored,
    reason: pick(REASONS, isUntouched ? 0 : (changes[0] ?? -1), 'reason'),
    orderType: pick(ORDER_TYPES, kind & 7, 'order type'),
    side: ((kind >> 3) & 1) as Side,
    outcome: ((kind >> 4) & 1) as OutcomeIndex,
    pricePips: pips(body.readUInt16BE(13)),
    sizeLots: lots(readUInt(body, 15, 6)),
    filledLots: lots(filledLots),
    quoteMicro: micro(isUntouched ? 0 : readUInt(changes, 7, 7)),
    createdAtMs,
    updatedAtMs: isUntouched ? createdAtMs : readUInt(changes, 14, 6),
    sequence: readUInt(body, 6, 6),
    expirationSec: readUInt(body, 21, 5),
    fillMs: isUntouched ? 0 : readUInt(changes, 20, 6),
    fillSequence: isUntouched ? 0 : readUInt(changes, 26, 6),
    isContinuing,
    fillCount: isUntouched ? 0 : changes.readUInt32BE(32),
    marketId: body.toString('latin1', 46, 54),
    maker: hashHex(body.subarray(26, 46)),
    clientOrderId: clientEnd === BODY_BYTES + 1 ? null : body.toString('utf8', BODY_BYTES + 1, clientEnd),
    signed: body.subarray(clientEnd),
  };
}

/** A place in a market's stream of matches; zeros for none. */
export interface MatchPlace {
  readonly tradeMs: number;
  readonly sequence: number;
}

/** The fill of its maker before each fill of a match, which makes the chains of fills. */
export function decodeChains(packed: Buffer): MatchPlace[] {
  return Array.from({ length: countFills(packed) }, (_, index) => {
    const at = FILLS_HEAD_BYTES + index * FILL_BYTES + MATCH_FILL.at.chainMs;
    return { tradeMs: readUInt(packed, at, 6), sequence: readUInt(packed, at + 6, 6) };
  });
}

/** The match of the previous step, zeros in the first one; null when the submission had a single step. */
export function decodeLink(packed: Buffer): MatchPlace | null {
  const end = FILLS_HEAD_BYTES + countFills(packed) * FILL_BYTES;
  if (packed.length - end < LINK_BYTES) return null;
  const at = packed.length - LINK_BYTES;
  return { tradeMs: readUInt(packed, at, 6), sequence: readUInt(packed, at + 6, 6) };
}

/** The fields of an order that its submitter determines. */
export interface SubmittedBody {
  readonly order: {
    readonly side: Side;
    readonly outcome: OutcomeIndex;
    readonly pricePips: Pips;
    readonly sizeLots: Lots;
  };
  readonly orderType: OrderType;
  readonly expirationSec: number;
  readonly marketId: MarketId;
  readonly clientOrderId: string | null;
  readonly signed: Buffer;
}

/** The body of a record behind the creation time and sequence. */
export function encodeBody(body: SubmittedBody, maker: Buffer): Buffer {
  const { side, outcome, pricePips, sizeLots } = body.order;
  const id = body.clientOrderId ?? '';
  const idAt = BODY_BYTES - SCRIPT_BODY_BYTES + 1;
  const packed = Buffer.allocUnsafe(idAt + Buffer.byteLength(id) + body.signed.length + 1);
  packed[0] = ORDER_TYPES.indexOf(body.orderType) | (side << 3) | (outcome << 4);
  packed.writeUInt16BE(pricePips, 1);
  packed.writeUIntBE(sizeLots, 3, 6);
  packed.writeUIntBE(body.expirationSec, 9, 5);
  maker.copy(packed, 14);
  packed.write(body.marketId, 34, 8, 'latin1');
  const idBytes = packed.write(id, idAt);
  packed[idAt - 1] = idBytes;
  body.signed.copy(packed, idAt + idBytes);
  packed[packed.length - 1] = 0;
  return packed;
}

/** Returns the number of fills of a stored match; 0 for anything else. */
export const countFills = (packed: Buffer): number =>
  packed.length < FILLS_HEAD_BYTES ? 0 : packed.readUInt16BE(FILLS_HEAD_BYTES - 2);

/** Whether the bytes have the length of a match with this number of fills. */
export function isMatch(packed: Buffer): boolean {
  const more = packed.length - FILLS_HEAD_BYTES - countFills(packed) * FILL_BYTES;
  return more >= 0 && more <= MOMENT_BYTES + LINK_BYTES && more % MOMENT_BYTES === 0;
}

/** A stored match without some of its fills. */
export function withoutFills(packed: Buffer, isGone: (index: number) => boolean): Buffer {
  const kept = Array.from({ length: countFills(packed) }, (_, index) => index).filter(
    (index) => !isGone(index),
  );
  const head = Buffer.from(packed.subarray(0, FILLS_HEAD_BYTES));
  if (head.length === FILLS_HEAD_BYTES) head.writeUInt16BE(kept.length, FILLS_HEAD_BYTES - 2);
  const at = (index: number): number => FILLS_HEAD_BYTES + index * FILL_BYTES;
  return Buffer.concat([head, ...kept.map((index) => packed.subarray(at(index), at(index + 1)))]);
}

/** Reads the fills of one match, in the order in which the makers were met; or some of them, from the index `first` on. */
export function decodeFills(tradeMs: number, sequence: number, packed: Buffer, first = 0): Fill[] {
  if (packed.length === 0) return [];
  const takerHash = hashHex(packed.subarray(0, 32));
  const takerSide = packed.readUInt8(32) as Side;
  const takerOutcome = packed.readUInt8(33) as OutcomeIndex;
  const count = packed.readUInt16BE(34);
  const end = FILLS_HEAD_BYTES + count * FILL_BYTES;
  const hasMoment = (packed.length - end) % LINK_BYTES === MOMENT_BYTES;
  const matchedMs = hasMoment ? readUInt(packed, end, 6) : tradeMs;
  const fills: Fill[] = [];
  for (let i = 0; i < count; i++) {
    const at = FILLS_HEAD_BYTES + i * FILL_BYTES;
    fills.push({
      tradeMs,
      matchedMs,
      sequence,
      index: first + i,
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
