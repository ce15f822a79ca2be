import { ERRORS, type ErrorCode, Refusal } from '../exchange/errors';
import { MARKET_STATUSES, type MarketId, type MarketStatus } from '../exchange/market';
import type { Order } from '../exchange/order';
import {
  ORDER_TYPES,
  type OrderType,
  REASONS,
  type Reason,
  SELF_TRADE_PREVENTIONS,
  type SelfTradePrevention,
} from '../exchange/status';
import { formatLots, formatMicro, formatPips, type Lots, type Micro } from '../exchange/units';
import { type ShardKeys, shardKeys } from './keys';
import {
  addressBytes,
  decodeFills,
  decodeOrder,
  encodeTail,
  type Fill,
  hashBytes,
  type OrderRecord,
} from './records';
import type { RunScript } from './scripts';

/** One signed order, checked, as the engine books it. Addresses and hashes are hex; nothing here is trusted text. */
export interface PlaceRequest {
  readonly marketId: MarketId;
  readonly orderHash: string;
  readonly maker: string;
  readonly order: Order;
  readonly orderType: OrderType;
  readonly selfTradePrevention: SelfTradePrevention;
  /** Epoch seconds, 0 never. */
  readonly expirationSec: number;
  readonly nonce: number;
  readonly feeRateBps: number;
  readonly lotLots: Lots;
  /** Epoch milliseconds, 0 none. */
  readonly deadlineMs: number;
  readonly clientOrderId: string | null;
  /** As packSigned packs it. */
  readonly signed: Buffer;
  readonly dryRun: boolean;
}

export interface PlaceReply {
  /** True when this hash was booked before; `fills` is then empty: read them with `reads.order`. */
  readonly replayed: boolean;
  readonly record: OrderRecord;
  readonly fills: readonly Fill[];
  readonly nowMs: number;
}

export interface CancelReply {
  /** The order as it now stands; null when it is not this wallet's order in this market. */
  readonly record: OrderRecord | null;
  readonly cancelled: boolean;
}

export interface CancelOneReply {
  readonly record: OrderRecord;
  /** False when it was final before. */
  readonly cancelled: boolean;
  /** Number of this command in the order's market; the market's latest when nothing was cancelled. */
  readonly sequence: number;
}

export interface CancelManyReply {
  readonly results: readonly CancelReply[];
  /** Number of this command in its market; the market's latest when nothing was cancelled. */
  readonly sequence: number;
}

export interface EngineOptions {
  readonly run: RunScript;
  readonly keys?: ShardKeys;
  /** What a wallet gets when it is first seen. */
  readonly grantMicro: Micro;
  readonly makersMax: number;
}

export const CANCEL_MAX = 1000;
export const EXPIRE_MAX = 200;
/** Times one submission may clear expired makers out of its way (200 each) before it gives up with UNAVAILABLE. */
const AGAIN_MAX = 1000;
/** How long a split or merge is remembered by its operation id. */
const OPERATION_MEMORY_MS = 3_600_000;
const FAUCET_INTERVAL_MS = 3_600_000;
const REQUEST_BYTES = 80;

export type Engine = ReturnType<typeof createEngine>;

/**
 * The verbs of the exchange, one method for each script in lua/. Every method is atomic and safe to repeat; each
 * throws a Refusal for what the script refuses and passes on Redis' own errors.
 */
export function createEngine({ run, keys = shardKeys(), grantMicro, makersMax }: EngineOptions) {
  const grant = String(grantMicro);

  /** place_order. Refusals as in the script's header. */
  async function place(request: PlaceRequest): Promise<PlaceReply> {
    const { marketId, orderHash } = request;
    const maker = addressBytes(request.maker);
    const scriptKeys = [
      keys.market(marketId),
      keys.bids(marketId),
      keys.asks(marketId),
      keys.trades(marketId),
      keys.orders,
      keys.cash,
      keys.tokens(marketId),
      keys.wallet(maker),
      keys.expiries,
      keys.outbox,
    ];
    const tail = encodeTail(request.clientOrderId, request.signed);
    const args = [
      packRequest(request, maker, grantMicro, makersMax),
      hashBytes(orderHash),
      tail,
      keys.prefix,
    ];
    for (let turn = 0; turn < AGAIN_MAX; turn++) {
      const reply = await run('place_order', scriptKeys, args);
      if (Buffer.isBuffer(reply)) {
        const record = decodeOrder(orderHash, reply);
        return { replayed: false, record, fills: [], nowMs: record.createdAtMs };
      }
      const [code, now, ...rest] = reply as [Buffer, Buffer, ...unknown[]];
      const nowMs = Number(now);
      switch (code.toString()) {
        case 'AGAIN':
          continue;
        case 'REPLAYED':
          return { replayed: true, record: decodeOrder(orderHash, rest[0] as Buffer), fills: [], nowMs };
        case 'BOOKED': {
          const record = decodeOrder(orderHash, rest[0] as Buffer);
          return {
            replayed: false,
            record,
            fills: decodeFills(record.fillMs, record.sequence, rest[1] as Buffer),
            nowMs,
          };
        }
        default:
          throw placeRefusal(code.toString(), rest);
      }
    }
    throw new Refusal('UNAVAILABLE', 'too many expired orders are in the way');
  }

  /**
   * cancel_order: one order of a wallet, in the given market or, with null, in any. ORDER_NOT_FOUND when it is unknown,
   * another wallet's or another market's; HALTED.
   */
  async function cancel(
    marketId: MarketId | null,
    maker: string,
    orderHash: string,
    reason: Reason,
  ): Promise<CancelOneReply> {
    const address = addressBytes(maker);
    const scriptKeys = [keys.orders, keys.cash, keys.wallet(address), keys.expiries, keys.outbox];
    const args = [keys.prefix, marketId ?? '', address, REASONS.indexOf(reason), hashBytes(orderHash)];
    const [code, packed, sequence, cancelled] = (await run('cancel_order', scriptKeys, args)) as [
      Buffer,
      Buffer,
      Buffer,
      number,
    ];
    if (code.toString() !== 'OK') throw new Refusal(refusalCode(code.toString()));
    return { record: decodeOrder(orderHash, packed), cancelled: cancelled === 1, sequence: Number(sequence) };
  }

  /** cancel_orders: at most CANCEL_MAX hashes of one wallet in one market. MARKET_NOT_FOUND, HALTED. */
  async function cancelMany(
    marketId: MarketId,
    maker: string,
    orderHashes: readonly string[],
    reason: Reason,
  ): Promise<CancelManyReply> {
    const address = addressBytes(maker);
    const [code, , sequence, ...rest] = (await run(
      'cancel_orders',
      [
        keys.market(marketId),
        keys.bids(marketId),
        keys.asks(marketId),
        keys.orders,
        keys.cash,
        keys.tokens(marketId),
        keys.wallet(address),
        keys.expiries,
        keys.outbox,
      ],
      [keys.prefix, marketId, address, REASONS.indexOf(reason), Buffer.concat(orderHashes.map(hashBytes))],
    )) as [Buffer, Buffer, Buffer, ...unknown[]];
    if (code.toString() !== 'OK') throw new Refusal(refusalCode(code.toString()));
    const results = orderHashes.map((hash, i): CancelReply => {
      const packed = rest[2 * i] as Buffer;
      return { record: packed.length ? decodeOrder(hash, packed) : null, cancelled: rest[2 * i + 1] === 1 };
    });
    return { results, sequence: Number(sequence) };
  }

  /** expire_orders: one bounded step over all markets; `waiting` when more may be due. */
  async function expire(most = EXPIRE_MAX): Promise<{ expired: number; waiting: boolean }> {
    const scriptKeys = [keys.expiries, keys.orders, keys.cash, keys.outbox];
    const [expired, waiting] = (await run('expire_orders', scriptKeys, [keys.prefix, most])) as [
      number,
      number,
    ];
    return { expired, waiting: waiting === 1 };
  }

  /** credit_account: a grant from the faucet, once an hour; RATE_LIMITED with `retryAfterMs`. */
  async function credit(address: string, amountMicro: Micro): Promise<void> {
    const [code, , detail] = (await run(
      'credit_account',
      [keys.cash, keys.sums, keys.outbox],
      [keys.prefix, addressBytes(address), grant, String(amountMicro), FAUCET_INTERVAL_MS],
    )) as [Buffer, Buffer, Buffer];
    if (code.toString() !== 'OK') {
      throw new Refusal('RATE_LIMITED', 'the faucet pays once an hour', { retryAfterMs: Number(detail) });
    }
  }

  /**
   * convert_sets: splits (above zero) or merges (below zero) sets, in micro-units; `operation` names this request, so
   * that a repetition changes nothing. MARKET_NOT_FOUND, MARKET_NOT_OPEN, CANCEL_ONLY, HALTED, INSUFFICIENT_BALANCE.
   */
  async function convert(
    marketId: MarketId,
    address: string,
    setsMicro: Micro,
    operation: string,
  ): Promise<void> {
    const [code, , ...rest] = (await run(
      'convert_sets',
      [keys.market(marketId), keys.cash, keys.tokens(marketId), keys.outbox, keys.operation(operation)],
      [keys.prefix, marketId, addressBytes(address), grant, String(setsMicro), OPERATION_MEMORY_MS],
    )) as [Buffer, Buffer, ...unknown[]];
    if (code.toString() !== 'OK') throw placeRefusal(code.toString(), rest);
  }

  /** create_market: INVALID_REQUEST when a name is taken. `document` is what reads.market decodes. */
  async function createMarket(
    market: { id: MarketId; conditionId: string; slug: string },
    document: string,
    status: MarketStatus,
  ): Promise<void> {
    const [code, , taken] = (await run(
      'create_market',
      [keys.market(market.id), keys.markets, keys.marketNames, keys.outbox, keys.mode],
      [market.id, document, market.conditionId, market.slug, MARKET_STATUSES.indexOf(status), keys.prefix],
    )) as [Buffer, Buffer, Buffer];
    if (code.toString() !== 'OK') {
      const path = taken.toString() === market.slug ? 'slug' : 'questionId';
      throw new Refusal('INVALID_REQUEST', `another market has this ${path}`, {
        errors: [{ path, message: 'is taken by another market' }],
      });
    }
  }

  /** move_market: MARKET_NOT_FOUND; MARKET_NOT_OPEN when its status does not allow the move. */
  async function moveMarket(
    marketId: MarketId,
    to: MarketStatus,
    from: readonly MarketStatus[],
  ): Promise<void> {
    const codes = from.map((status) => MARKET_STATUSES.indexOf(status)).join('');
    const [code, , status] = (await run(
      'move_market',
      [keys.market(marketId), keys.outbox],
      [keys.prefix, marketId, MARKET_STATUSES.indexOf(to), codes],
    )) as [Buffer, Buffer, number];
    if (code.toString() !== 'OK') {
      const now = MARKET_STATUSES[status];
      throw new Refusal(refusalCode(code.toString()), now && `the market is ${now}`);
    }
  }

  /** clear_book: one bounded step of cancelling what rests in a market that is closed. */
  async function clearBook(
    marketId: MarketId,
    most = EXPIRE_MAX,
  ): Promise<{ cancelled: number; left: boolean }> {
    const [cancelled, left] = (await run(
      'clear_book',
      [
        keys.market(marketId),
        keys.bids(marketId),
        keys.asks(marketId),
        keys.orders,
        keys.cash,
        keys.tokens(marketId),
        keys.expiries,
        keys.outbox,
      ],
      [keys.prefix, marketId, most],
    )) as [number, number];
    return { cancelled, left: left === 1 };
  }

  return { place, cancel, cancelMany, expire, credit, convert, createMarket, moveMarket, clearBook };
}

/** The layout of REQUEST in lua/place_order.lua. */
function packRequest(request: PlaceRequest, maker: Buffer, grantMicro: Micro, makersMax: number): Buffer {
  const { order } = request;
  const packed = Buffer.allocUnsafe(REQUEST_BYTES);
  packed[0] = order.side;
  packed[1] = order.outcome;
  packed[2] = ORDER_TYPES.indexOf(request.orderType);
  packed[3] = SELF_TRADE_PREVENTIONS.indexOf(request.selfTradePrevention);
  packed.writeUInt16BE(order.pricePips, 4);
  packed.writeUIntBE(order.sizeLots, 6, 6);
  writeUInt7(packed, order.budgetMicro, 12);
  packed.writeUIntBE(request.deadlineMs, 19, 6);
  packed.writeUIntBE(request.expirationSec, 25, 5);
  packed.writeUInt32BE(request.nonce, 30);
  packed.writeUInt16BE(request.feeRateBps, 34);
  packed.writeUInt16BE(makersMax, 36);
  writeUInt7(packed, grantMicro, 38);
  packed[45] = request.dryRun ? 1 : 0;
  packed.writeUIntBE(request.lotLots, 46, 6);
  packed.write(request.marketId, 52, 8, 'latin1');
  maker.copy(packed, 60);
  return packed;
}

function writeUInt7(buffer: Buffer, value: number, at: number): void {
  buffer[at] = Math.floor(value / 2 ** 48);
  buffer.writeUIntBE(value % 2 ** 48, at + 1, 6);
}

function refusalCode(code: string): ErrorCode {
  if (!(code in ERRORS)) throw new Error(`a script answered ${code}`);
  return code as ErrorCode;
}

/** What a script refused, in the words and units of the wire. Assets: 0 collateral, 1 Yes tokens, 2 No tokens. */
function placeRefusal(code: string, detail: readonly unknown[]): Refusal {
  const number = (i: number) => Number(detail[i]);
  switch (code) {
    case 'INSUFFICIENT_BALANCE': {
      const required = formatMicro(number(0));
      const available = formatMicro(number(1));
      const asset = ['COLLATERAL', 'YES', 'NO'][number(2)] ?? 'COLLATERAL';
      return new Refusal(code, `${required} ${asset} needed, ${available} available`, {
        required,
        available,
        asset,
      });
    }
    case 'POST_ONLY_WOULD_CROSS': {
      const best = formatPips(number(0));
      return new Refusal(code, `the order would trade at ${best}`, { best });
    }
    case 'FOK_NOT_FILLED': {
      const available = formatLots(number(0));
      return new Refusal(code, `only ${available} shares can be filled now`, { available });
    }
    case 'INVALID_NONCE_VALUE': {
      const current = String(number(0));
      return new Refusal(code, `the maker's nonce is ${current}`, { current });
    }
    case 'MARKET_NOT_OPEN':
      return new Refusal(code, `the market is ${MARKET_STATUSES[number(0)] ?? 'not open'}`);
    default:
      return new Refusal(refusalCode(code));
  }
}
