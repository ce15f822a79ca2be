import { Refusal } from '../../../exchange/errors';
import type { MarketId } from '../../../exchange/market';
import type { ArchivedReads } from '../../../store/lists/archived-reads';
import { MARKET_STATE, readUInt } from '../../../store/records/layout';
import {
  addressBytes,
  decodeOrder,
  hashBytes,
  hashHex,
  type OrderRecord,
} from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Archive } from '../archive';
import { createArchivedMatchReads } from './archived-match-reads';
import { CANDLES_PER_ROW, rowName, seriesPart } from './markets';

interface ArchivedReadsOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archive: Archive;
}

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

  async function candles(
    id: MarketId,
    { intervalMs, generation }: { readonly intervalMs: number; readonly generation: number },
    fromMinute: number,
    most: number,
  ): Promise<readonly Buffer[]> {
    if (!(await open())) return [];
    const rowsMost = Math.ceil(most / CANDLES_PER_ROW) + 1;
    const part = seriesPart(intervalMs, { generation });
    return (await archive.partsFrom(id, part, rowName(fromMinute), rowsMost)).map(({ value }) => value);
  }

  return {
    ...createArchivedMatchReads({ redis, keys, archive, open }),
    packed,
    records,
    own,
    anywhere,
    certain,
    ofWallet: async (wallet, behind, most) => ((await open()) ? archive.ofWallet(wallet, behind, most) : []),
    candles,
    lines: async (wallet, from, to) => ((await open()) ? archive.lines(wallet, from, to) : []),
    droppedMs: async () => ((await open()) ? ((await archive.state())?.droppedMs ?? 0) : 0),
  };
}
