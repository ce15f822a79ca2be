import { Refusal } from '../../exchange/errors';
import type { MarketId } from '../../exchange/market';
import type { Order } from '../../exchange/order';
import {
  ORDER_TYPES,
  type OrderType,
  SELF_TRADE_PREVENTIONS,
  type SelfTradePrevention,
} from '../../exchange/status';
import { type Lots, type Micro, micro, PIPS_PER_ONE } from '../../exchange/units';
import type { ArchivedReads } from '../lists/archived-reads';
import { REQUEST } from '../records/layout';
import {
  addressBytes,
  decodeFills,
  decodeOrder,
  encodeBody,
  type Fill,
  hashBytes,
  type OrderRecord,
} from '../records/order';
import type { Keys } from '../redis/keys';
import { balanceOf, scriptRefusal } from '../redis/refusals';
import type { RunScript } from '../redis/scripts';
import type { KeysOf, ReplyOf, ScriptArgument } from '../redis/verbs';
import { type Deadlines, lastMomentOf, tooLate } from './deadline';
import { suspended, tooMuch } from './trust';

/** One signed and checked order in the form of the engine. Addresses and hashes are hex; it contains no trusted text. */
export interface PlaceRequest extends Deadlines {
  readonly marketId: MarketId;
  readonly orderHash: string;
  readonly maker: string;
  readonly order: Order;
  readonly orderType: OrderType;
  readonly selfTradePrevention: SelfTradePrevention;
  /** Epoch seconds, 0 for never. */
  readonly expirationSec: number;
  readonly nonce: number;
  readonly feeRateBps: number;
  readonly lotLots: Lots;
  readonly clientOrderId: string | null;
  /** Packed by packSigned. */
  readonly signed: Buffer;
  readonly dryRun: boolean;
  /** The address of the client, as src/http/guard/client-address.ts has it; none for orders of the exchange itself. */
  readonly address?: string;
  /** Set for a dry run whose wallet has enough collateral in all partitions together. */
  readonly isCovered?: boolean;
}

export interface PlaceReply {
  /** True when this hash was booked before; `fills` is then empty, and `reads.order` returns them. */
  readonly replayed: boolean;
  readonly record: OrderRecord;
  readonly fills: readonly Fill[];
  readonly nowMs: number;
}

export interface ReplaceReply extends PlaceReply {
  /** The replaced order as it now is; null when the new order was booked before and the old one does not exist. */
  readonly old: OrderRecord | null;
}

/** Placing when funds are on a chain (src/extensions/chain/lua/lib/admission.lua). */
export interface ChainPlacing {
  /** The value of matches of a new wallet that may wait for the chain; 0 for any. */
  readonly unsettledMaxNewMicro: Micro;
  /** The value of funds that came into a wallet lately which counts at once; 0 for any. */
  readonly freshMaxMicro: Micro;
  /** Reads a wallet, with its tokens of the market, from the chain into the books. */
  see(wallet: string, marketId: MarketId): Promise<void>;
  /** The token to approve for an asset, and the contract to approve it for. */
  approval(asset: 'COLLATERAL' | 'YES' | 'NO'): { readonly token: string; readonly spender: string };
}

interface PlaceOptions {
  readonly run: RunScript;
  readonly keys: Keys;
  readonly grantMicro: Micro;
  readonly makersMax: number;
  readonly archivedReads: ArchivedReads;
  /** Null with paper funds. */
  readonly chain: ChainPlacing | null;
}

/** On a chain matching stops this time before an order expires, so that its matches are mined in time. */
const EXPIRY_MARGIN_SEC = 30;

/** The scripts that book an order take the same keys, and begin with the same arguments. */
type PlaceKeys = KeysOf<'place_order' | 'replace_order'>;
type PlaceArgs = readonly [ScriptArgument, ScriptArgument, ScriptArgument];
type Reply = ReplyOf<'place_order' | 'replace_order'>;
type Coded = ReplyOf<'replace_order'>;

/** The most times that one submission expires stale makers (200 each) before it fails with UNAVAILABLE, and its most steps. */
const AGAIN_MAX = 1000;
/** The most times that one submission reads its wallet from the chain: the books may move on before a reading arrives. */
const READS_MAX = 2;
/** The refusals of orders that leave Redis without a trace: which order was accepted before, the archive knows. */
const REFUSED_IN_ANY_CASE: ReadonlySet<string> = new Set([
  ...['INVALID_NONCE_VALUE', 'ORDER_EXPIRED', 'MARKET_NOT_OPEN'],
]);
/** The packed request without the price in Yes behind it. */
const REQUEST_BYTES = REQUEST.bytes;

export interface Placing {
  /** place_order; its header lists the refusals. */
  place(request: PlaceRequest): Promise<PlaceReply>;
  /**
   * replace_order: books an order like `place` and cancels another of the same wallet and market, both or neither. The
   * script's header lists the refusals; ORDER_NOT_CANCELLABLE is thrown as NotReplaceable.
   */
  replace(request: PlaceRequest, oldHash: string): Promise<ReplaceReply>;
}

/** The verbs that book an order. */
export function createPlace({
  run,
  keys,
  grantMicro,
  makersMax,
  archivedReads,
  chain,
}: PlaceOptions): Placing {
  const termsOf = (request: PlaceRequest): PlaceRequest =>
    chain === null ? request : { ...request, expirationSec: stopsAt(request.expirationSec) };

  function packed(request: PlaceRequest): { readonly scriptKeys: PlaceKeys; readonly args: PlaceArgs } {
    const [terms, maker] = [termsOf(request), addressBytes(request.maker)];
    const head =
      chain === null
        ? packRequest(terms, maker, grantMicro, makersMax)
        : Buffer.concat([
            packRequest(terms, maker, micro(0), makersMax),
            packChainPart(chain, request.address ?? ''),
          ]);
    return {
      scriptKeys: placeKeys(keys, request.marketId, maker),
      args: [head, hashBytes(request.orderHash), encodeBody(terms, maker)],
    };
  }

  /**
   * Runs the script until no expired maker is in the way, and returns its answer; for an order that has left Redis, the answer it
   * would have had there. Behind TRACED the script ignores the trace for a while: it is of another order.
   */
  async function book(
    request: PlaceRequest,
    script: (keys: PlaceKeys, args: PlaceArgs, absentMs: Buffer | null) => Promise<Reply>,
  ): Promise<Reply> {
    const { scriptKeys, args } = packed(request);
    let absentMs: Buffer | null = null;
    let reads = 0;
    for (let turn = 0; turn < AGAIN_MAX; turn++) {
      const reply = await script(scriptKeys, args, absentMs);
      if (Buffer.isBuffer(reply)) return reply;
      const [code, nowMs] = reply;
      const name = code.toString();
      if (name === 'TRACED') absentMs = nowMs;
      else if (name === 'UNSEEN' && chain !== null && reads < READS_MAX) {
        await chain.see(request.maker, request.marketId);
        reads++;
      } else if (name !== 'AGAIN') return REFUSED_IN_ANY_CASE.has(name) ? withPast(request, reply) : reply;
      const before = name === 'TRACED' ? await archivedReads.certain(request.orderHash) : null;
      if (before) return [Buffer.from('REPLAYED'), nowMs, before];
    }
    throw new Refusal('UNAVAILABLE', 'too many expired orders must be removed first; retry');
  }

  /** A refusal, unless the order was booked before and is in the archive. */
  async function withPast({ orderHash }: PlaceRequest, refused: Coded): Promise<Coded> {
    const before = (await archivedReads.packed([orderHash])).get(orderHash);
    return before ? [Buffer.from('REPLAYED'), refused[1], before] : refused;
  }

  /** Runs the further steps of a submission that met as many makers as one script may, also when an earlier call began it. */
  async function finish<T extends PlaceReply>(request: PlaceRequest, first: T): Promise<T> {
    if (!isUnfinished(request, first)) return first;
    const { scriptKeys, args } = packed(request);
    let placed = first;
    for (let turn = 0; turn < AGAIN_MAX && isUnfinished(request, placed); turn++) {
      const reply = await run('continue_order', scriptKeys, args);
      if (reply[0].toString() === 'AGAIN') continue;
      const { record, fills, nowMs, replayed: isOver } = readReply(request, reply, chain);
      placed = { ...placed, record, fills: [...placed.fills, ...fills], nowMs };
      if (isOver) break;
    }
    // Another call of the same order may have run some of the steps.
    const isWhole = placed.fills.length === placed.record.fillCount;
    return isWhole ? placed : { ...placed, replayed: true, fills: [] };
  }

  async function place(request: PlaceRequest): Promise<PlaceReply> {
    const reply = await book(request, (scriptKeys, args, absentMs) =>
      run('place_order', scriptKeys, absentMs ? [...args, absentMs] : args),
    );
    return finish(request, readReply(request, reply, chain));
  }

  async function replace(request: PlaceRequest, oldHash: string): Promise<ReplaceReply> {
    const replaced = hashBytes(oldHash);
    const reply = await book(request, (scriptKeys, args, absentMs) =>
      run('replace_order', scriptKeys, [...args, absentMs ?? '', replaced]),
    );
    const [code, , detail, old] = reply as Coded;
    if (code.toString() === 'ORDER_NOT_CANCELLABLE' && detail) {
      const record = decodeOrder(oldHash, detail);
      if (record.isContinuing) throw new Refusal('UNAVAILABLE', 'the order is still being matched; retry');
      throw new NotReplaceable(record);
    }
    if (code.toString() === 'ORDER_NOT_FOUND') {
      const before = await archivedReads.own(oldHash, request.maker, request.marketId);
      if (before) throw new NotReplaceable(before.record);
    }
    const placed = readReply(request, reply, chain);
    // Both orders were booked earlier, so either may be archived.
    const told = old?.length || !placed.replayed ? old : await archivedReads.anywhere(oldHash);
    return finish(request, { ...placed, old: told?.length ? decodeOrder(oldHash, told) : null });
  }

  return { place, replace };
}

/** The order to be replaced is final. */
export class NotReplaceable extends Refusal {
  constructor(readonly record: OrderRecord) {
    super('ORDER_NOT_CANCELLABLE', `the order is already ${record.status}`);
  }
}

/** A repetition as another type changes nothing. */
const isUnfinished = ({ dryRun, orderType }: PlaceRequest, { record }: PlaceReply): boolean =>
  record.isContinuing && !dryRun && record.orderType === orderType;

const stopsAt = (expirationSec: number): number =>
  expirationSec === 0 ? 0 : Math.max(1, expirationSec - EXPIRY_MARGIN_SEC);

function readReply(request: PlaceRequest, reply: Reply, chain: ChainPlacing | null): PlaceReply {
  const { orderHash } = request;
  if (Buffer.isBuffer(reply)) return booked(orderHash, reply, null);
  const [code, ...rest] = reply;
  switch (code.toString()) {
    case 'BOOKED':
      return booked(orderHash, rest[0] as Buffer, rest[1] as Buffer);
    case 'REPLAYED': {
      const packed = rest[1] as Buffer;
      if (packed.length === 0) throw new Refusal('UNAVAILABLE');
      const record = decodeOrder(orderHash, packed);
      return { replayed: true, record, fills: [], nowMs: Number(rest[0]) };
    }
    case 'DEADLINE_EXCEEDED':
      throw tooLate(request);
    case 'UNSEEN':
      throw new Refusal('UNAVAILABLE', 'the wallet could not be read from the chain; retry');
    case 'INSUFFICIENT_ALLOWANCE':
      throw allowanceRefusal(rest.slice(1), chain);
    case 'WALLET_SUSPENDED':
      throw suspended(rest[1] as Buffer);
    case 'UNSETTLED_LIMIT':
      throw tooMuch(rest.slice(1));
    default:
      throw scriptRefusal(code.toString(), rest.slice(1));
  }
}

/** The balance would do; what the wallet lets the exchange take does not. */
function allowanceRefusal(detail: readonly unknown[], chain: ChainPlacing | null): Refusal {
  const [required, available, asset] = balanceOf(detail);
  return new Refusal(
    'INSUFFICIENT_ALLOWANCE',
    `the order needs ${required} ${asset}; the exchange may take ${available}: approve more`,
    { required, available, asset, ...chain?.approval(asset) },
  );
}

function booked(orderHash: string, packed: Buffer, fills: Buffer | null): PlaceReply {
  const record = decodeOrder(orderHash, packed);
  return {
    replayed: false,
    record,
    fills: fills ? decodeFills(record.fillMs, record.fillSequence, fills) : [],
    nowMs: record.updatedAtMs,
  };
}

function placeKeys(keys: Keys, id: MarketId, maker: Buffer): PlaceKeys {
  const ofMarket = [keys.market(id), keys.bids(id), keys.asks(id)] as const;
  return [...ofMarket, keys.orders, keys.cash, keys.wallet(maker), keys.outbox];
}

/** The layout of PACKED in lua/lib/request.lua. */
export function packRequest(
  request: PlaceRequest,
  maker: Buffer,
  grantMicro: Micro,
  makersMax: number,
): Buffer {
  const { order } = request;
  const yes = String(order.outcome === 0 ? order.pricePips : PIPS_PER_ONE - order.pricePips);
  const packed = Buffer.allocUnsafe(REQUEST_BYTES + yes.length);
  packed[0] = order.side;
  packed[1] = order.outcome;
  packed[2] = ORDER_TYPES.indexOf(request.orderType);
  packed[3] = SELF_TRADE_PREVENTIONS.indexOf(request.selfTradePrevention);
  packed.writeUInt16BE(order.pricePips, 4);
  packed.writeUIntBE(order.sizeLots, 6, 6);
  writeUInt7(packed, order.budgetMicro, 12);
  packed.writeUIntBE(lastMomentOf(request), 19, 6);
  packed.writeUIntBE(request.expirationSec, 25, 5);
  packed.writeUInt32BE(request.nonce, 30);
  packed.writeUInt16BE(request.feeRateBps, 34);
  packed.writeUInt16BE(makersMax, 36);
  writeUInt7(packed, grantMicro, 38);
  packed[45] = Number(request.dryRun);
  packed[46] = Number(request.dryRun && request.isCovered === true);
  packed.writeUIntBE(request.lotLots, 47, 6);
  packed.write(request.marketId, 53, 8, 'latin1');
  maker.copy(packed, 61);
  packed[81] = yes.length;
  packed.write(yes, 82, 'latin1');
  return packed;
}

/** What src/extensions/chain/lua/lib/admission.lua reads behind the request. */
function packChainPart({ unsettledMaxNewMicro, freshMaxMicro }: ChainPlacing, address: string): Buffer {
  const packed = Buffer.alloc(15 + address.length);
  writeUInt7(packed, unsettledMaxNewMicro, 0);
  writeUInt7(packed, freshMaxMicro, 7);
  packed[14] = address.length;
  packed.write(address, 15, 'latin1');
  return packed;
}

function writeUInt7(buffer: Buffer, value: number, at: number): void {
  buffer[at] = Math.floor(value / 2 ** 48);
  buffer.writeUIntBE(value % 2 ** 48, at + 1, 6);
}
