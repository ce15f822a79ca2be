import { Refusal } from '../../exchange/errors';
import type { MarketId } from '../../exchange/market';
import { REASONS, type Reason } from '../../exchange/status';
import type { ArchivedReads } from '../lists/archived-reads';
import { readUInt } from '../records/layout';
import { addressBytes, decodeOrder, hashBytes, type OrderRecord } from '../records/order';
import type { Keys } from '../redis/keys';
import { refusalCode } from '../redis/refusals';
import type { RunScript } from '../redis/scripts';

export interface CancelReply {
  /** The order as it now is; null when it is not this wallet's or not in this market. */
  readonly record: OrderRecord | null;
  readonly cancelled: boolean;
}

export interface CancelOneReply {
  readonly record: OrderRecord;
  /** False when the order was final before. */
  readonly cancelled: boolean;
  /** Number of this command in the order's market; the market's latest when nothing was cancelled. */
  readonly sequence: number;
}

export interface CancelManyReply {
  readonly results: readonly CancelReply[];
  /** Number of this command in its market; the market's latest when nothing was cancelled. */
  readonly sequence: number;
}

const SEQUENCE_BYTES = 6;
/** The most orders that one step of expire_orders or clear_book ends. */
export const STEP_MAX = 200;

export interface Cancels {
  /**
   * cancel_order: cancels one order of a wallet, in the given market or, with null, in any. Throws ORDER_NOT_FOUND when the
   * order is unknown or belongs to another wallet or market; HALTED.
   */
  cancel(
    marketId: MarketId | null,
    maker: string,
    orderHash: string,
    reason: Reason,
  ): Promise<CancelOneReply>;
  /** cancel_orders: cancels at most CANCEL_MAX hashes of one wallet in one market. Throws MARKET_NOT_FOUND, HALTED. */
  cancelMany(
    marketId: MarketId,
    maker: string,
    orderHashes: readonly string[],
    reason: Reason,
  ): Promise<CancelManyReply>;
  /** expire_orders: one bounded step over all markets; `waiting` means that more may be due. */
  expire(most?: number): Promise<{ expired: number; waiting: boolean }>;
  /** clear_book: one bounded step of cancelling the resting orders of a closed market. */
  clearBook(marketId: MarketId, most?: number): Promise<{ cancelled: number; left: boolean }>;
}

/** The verbs that end resting orders. */
export function createCancels({
  run,
  keys,
  archivedReads,
}: {
  run: RunScript;
  keys: Keys;
  archivedReads: ArchivedReads;
}): Cancels {
  async function cancel(
    marketId: MarketId | null,
    maker: string,
    orderHash: string,
    reason: Reason,
  ): Promise<CancelOneReply> {
    const address = addressBytes(maker);
    const reply = await run(
      'cancel_order',
      [keys.orders, keys.cash, keys.wallet(address), keys.expiries, keys.outbox],
      [keys.prefix, marketId ?? '', address, REASONS.indexOf(reason), hashBytes(orderHash)],
    );
    if (Buffer.isBuffer(reply)) {
      const record = decodeOrder(orderHash, reply.subarray(SEQUENCE_BYTES));
      return { record, cancelled: true, sequence: readUInt(reply, 0, SEQUENCE_BYTES) };
    }
    const [code, packed, sequence] = reply;
    const before =
      code.toString() === 'ORDER_NOT_FOUND' ? await archivedReads.own(orderHash, maker, marketId) : null;
    if (before) return { ...before, cancelled: false };
    if (code.toString() !== 'OK') throw new Refusal(refusalCode(code.toString()));
    return { record: decodeOrder(orderHash, packed), cancelled: false, sequence: Number(sequence) };
  }

  async function cancelMany(
    marketId: MarketId,
    maker: string,
    orderHashes: readonly string[],
    reason: Reason,
  ): Promise<CancelManyReply> {
    const address = addressBytes(maker);
    const [code, , sequence, ...rest] = await run(
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
    );
    if (code.toString() !== 'OK') throw new Refusal(refusalCode(code.toString()));
    const packedOf = (i: number): Buffer => rest[2 * i] as Buffer;
    const gone = await archivedReads.records(orderHashes.filter((_, i) => packedOf(i).length === 0));
    const results = orderHashes.map((hash, i): CancelReply => {
      if (packedOf(i).length > 0)
        return { record: decodeOrder(hash, packedOf(i)), cancelled: rest[2 * i + 1] === 1 };
      const record = gone.get(hash);
      const isOwn = record?.marketId === marketId && addressBytes(record.maker).equals(address);
      return { record: isOwn ? record : null, cancelled: false };
    });
    return { results, sequence: Number(sequence) };
  }

  async function expire(most = STEP_MAX): Promise<{ expired: number; waiting: boolean }> {
    const scriptKeys = [keys.expiries, keys.orders, keys.cash, keys.outbox] as const;
    const [expired, waiting] = await run('expire_orders', scriptKeys, [keys.prefix, most]);
    return { expired, waiting: waiting === 1 };
  }

  async function clearBook(
    marketId: MarketId,
    most = STEP_MAX,
  ): Promise<{ cancelled: number; left: boolean }> {
    const [cancelled, left] = await run(
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
        keys.ending,
      ],
      [keys.prefix, marketId, most],
    );
    return { cancelled, left: left === 1 };
  }

  return { cancel, cancelMany, expire, clearBook };
}
