import type { MarketId } from '../../exchange/market';
import { type SettlementKey, settlementKey } from '../records/settlement';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { ArchivedSettlement } from './archived-reads';
import { mergeOnce } from './list';
import { compareListed, type ListPlace, listedId, listedPlace, type Stretch } from './places';

/** A settlement in the list of all, or of its market. */
export interface SettlementEntry extends ListPlace {
  readonly key: SettlementKey;
  readonly record: Buffer | null;
}

interface SettlementListOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** The stored records of these names, null for a missing one. */
  readonly packed: (names: readonly Buffer[]) => Promise<(Buffer | null)[]>;
  readonly archivedReads: {
    settlementsOf(
      marketId: MarketId | null,
      stretch: Stretch<ListPlace>,
    ): Promise<readonly ArchivedSettlement[]>;
  };
}

/** The first settlements of a stretch, `most` of them; fewer when it has no more. */
export type SettlementList = (
  marketId: MarketId | undefined,
  stretch: Stretch<ListPlace>,
) => Promise<SettlementEntry[]>;

/**
 * Reads a list of settlements from Redis and from the archive. A settlement leaves with its match, and the next one in the list may
 * stay, so both are read and merged; Redis first, so that what leaves meanwhile is found in the archive.
 */
export function createSettlementList({
  redis,
  keys,
  packed,
  archivedReads,
}: SettlementListOptions): SettlementList {
  async function inRedis(
    marketId: MarketId | undefined,
    stretch: Stretch<ListPlace>,
  ): Promise<SettlementEntry[]> {
    const list = marketId === undefined ? keys.settlementList : keys.settlementListOf(marketId);
    const [low, high] = [listedId(stretch.from), listedId(stretch.to)];
    const entries = stretch.descending
      ? await redis.xrevrangeBuffer(list, high, low, 'COUNT', stretch.most)
      : await redis.xrangeBuffer(list, low, high, 'COUNT', stretch.most);
    const names = entries.map(([, fields]) => fields[1] as Buffer);
    const records = await packed(names);
    return entries.map(([id], i) => ({
      ...listedPlace(id),
      key: settlementKey(names[i] as Buffer),
      record: records[i] ?? null,
    }));
  }

  return async (marketId, stretch) => {
    if (compareListed(stretch.to, stretch.from) < 0) return [];
    const here = await inRedis(marketId, stretch);
    const { descending, most } = stretch;
    const last = here.length < most ? undefined : here.at(-1);
    const asked = last ? { ...stretch, ...(descending ? { from: last } : { to: last }) } : stretch;
    const left = await archivedReads.settlementsOf(marketId ?? null, asked);
    const way = descending ? -1 : 1;
    // Redis decides, as where one record is asked for: a batch of which nothing left may be deleted again.
    const all = [...here.filter(({ record }) => record), ...left.map(listedOf), ...here];
    // Where one of both has more, it has given `most`: so the first `most` of all are here.
    return mergeOnce(all, listedId, (a, b) => way * compareListed(a, b)).slice(0, most);
  };
}

const listedOf = ({
  marketId,
  sequence,
  part,
  listMs,
  listIndex,
  record,
}: ArchivedSettlement): SettlementEntry => ({
  listMs,
  listIndex,
  record,
  key: { marketId, sequence, part },
});
