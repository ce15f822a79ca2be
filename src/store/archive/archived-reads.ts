import type { Archive, ArchivedLine, ArchivedOrder, ArchivedPart, WalletPlace } from '../../exchange/archive';
import { Refusal } from '../../exchange/errors';
import type { MarketId } from '../../exchange/market';
import { MARKET_STATE, readUInt } from '../records/layout';
import { addressBytes, decodeOrder, hashBytes, hashHex, type OrderRecord } from '../records/order';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import {
  type ArchivedMatchReads,
  createArchivedMatchReads,
  NO_ARCHIVED_MATCHES,
} from './archived-match-reads';

/**
 * Reads of orders, matches and settlements that have left Redis. Readers look in Redis first. Whatever leaves is in the archive
 * before, so what is missed in Redis is found here. Nothing is asked while nothing was ever archived. UNAVAILABLE when the archive
 * does not answer.
 */
export interface ArchivedReads extends ArchivedMatchReads {
  /** The packed records of those that are here, by hash. */
  packed(orderHashes: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  records(orderHashes: readonly string[]): Promise<ReadonlyMap<string, OrderRecord>>;
  /** The next orders of a wallet behind a place, newest first. */
  ofWallet(wallet: Buffer, behind: WalletPlace | null, most: number): Promise<readonly ArchivedOrder[]>;
  /** The lines of a wallet's journal with these numbers, both included, oldest first. */
  lines(wallet: Buffer, from: number, to: number): Promise<readonly ArchivedLine[]>;
  /** Rows of earlier months were dropped for their age; 0 while nothing was dropped. */
  droppedMs(): Promise<number>;
  /** Rows of a part of a market that was forgotten, from the last one at or before a name on. */
  parts(marketId: MarketId, part: string, from: Buffer, most: number): Promise<readonly ArchivedPart[]>;
  /** The order if it is this wallet's in this market, or with null in any, and the latest sequence of its market. */
  own(
    orderHash: string,
    maker: string,
    marketId: MarketId | null,
  ): Promise<{ readonly record: OrderRecord; readonly sequence: number } | null>;
  /** The packed record of an order that may be in Redis or here. */
  anywhere(orderHash: string): Promise<Buffer | null>;
  /**
   * The packed record, for an order whose trace was met: null only when that order certainly never was. DUPLICATE_ORDER when
   * it may have been in a month that was dropped.
   */
  certain(orderHash: string): Promise<Buffer | null>;
}

interface ArchivedReadsOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archive: Archive;
}

/** The reads of an exchange without an archive, in which nothing leaves Redis. */
export const NO_ARCHIVED_READS: ArchivedReads = {
  ...NO_ARCHIVED_MATCHES,
  packed: async () => new Map(),
  records: async () => new Map(),
  ofWallet: async () => [],
  lines: async () => [],
  droppedMs: async () => 0,
  parts: async () => [],
  own: async () => null,
  anywhere: async () => null,
  certain: async () => {
    throw new Refusal(
      'UNAVAILABLE',
      'orders are in an archive that this process does not know: set ARCHIVE_URL',
    );
  },
};

export function createArchivedReads({ redis, keys, archive }: ArchivedReadsOptions): ArchivedReads {
  let isOpen = false;

  /** Whether anything may be there. The archive noted in Redis never changes. */
  async function open(): Promise<boolean> {
    if (isOpen) return true;
    const id = await redis.hget(keys.archive, 'id');
    if (id === null) return false;
    await stateOf(id);
    isOpen = true;
    return true;
  }

  async function stateOf(id: string | null) {
    const state = await archive.state();
    if (state?.id === id) return state;
    throw new Refusal(
      'UNAVAILABLE',
      'the archive of ARCHIVE_URL belongs to another exchange: set the variable to the archive of this one',
    );
  }

  /** An archive that was put back from an older copy does not know all that was forgotten. */
  async function whole() {
    const [id = null, forgotten] = await redis.hmget(keys.archive, 'id', 'n');
    const state = await stateOf(id);
    if (state.batch < Number(forgotten ?? 0))
      throw new Refusal(
        'UNAVAILABLE',
        'the archive is older than what left Redis for it; see: exchange doctor',
      );
    return state;
  }

  async function packed(orderHashes: readonly string[]): Promise<Map<string, Buffer>> {
    if (orderHashes.length === 0 || !(await open())) return new Map();
    const found = await archive.orders(orderHashes.map(hashBytes));
    if (found.length < orderHashes.length) await whole();
    return new Map(found.map(({ hash, record }) => [hashHex(hash), record]));
  }

  async function records(orderHashes: readonly string[]): Promise<Map<string, OrderRecord>> {
    const found = await packed(orderHashes);
    return new Map([...found].map(([hash, record]) => [hash, decodeOrder(hash, record)]));
  }

  async function own(orderHash: string, maker: string, marketId: MarketId | null) {
    const record = (await records([orderHash])).get(orderHash);
    if (!record || !addressBytes(record.maker).equals(addressBytes(maker))) return null;
    if (marketId !== null && record.marketId !== marketId) return null;
    const state = await redis.hgetBuffer(keys.market(record.marketId), 's');
    return { record, sequence: state ? readUInt(state, MARKET_STATE.at.sequence, 6) : 0 };
  }

  async function anywhere(orderHash: string): Promise<Buffer | null> {
    const stored = await redis.hgetBuffer(keys.orders, hashBytes(orderHash));
    return stored ?? (await packed([orderHash])).get(orderHash) ?? null;
  }

  async function certain(orderHash: string): Promise<Buffer | null> {
    const [found] = await archive.orders([hashBytes(orderHash)]);
    if (found) return found.record;
    const { droppedMs } = await whole();
    // Asked after the orders: a month that went in between is noted now.
    if (droppedMs > 0)
      throw new Refusal(
        'DUPLICATE_ORDER',
        'this order, or one whose hash begins like its own, was booked in a month that the archive has dropped; sign another order with a new salt',
        { orderHash },
      );
    return null;
  }

  return {
    ...createArchivedMatchReads({ redis, keys, archive, open }),
    packed,
    records,
    own,
    anywhere,
    certain,
    ofWallet: async (wallet, behind, most) => ((await open()) ? archive.ofWallet(wallet, behind, most) : []),
    parts: async (id, part, from, most) => ((await open()) ? archive.partsFrom(id, part, from, most) : []),
    lines: async (wallet, from, to) => ((await open()) ? archive.lines(wallet, from, to) : []),
    droppedMs: async () => ((await open()) ? ((await archive.state())?.droppedMs ?? 0) : 0),
  };
}
