import type {
  ArchivedMatch,
  ArchivedSettlement,
  ArchiveReads,
  ListPlace,
  OrderMatches,
  StreamPlace,
  Stretch,
} from '../../exchange/archive';
import type { MarketId } from '../../exchange/market';
import { earlier, isBefore } from '../lists/places';
import { LEFT } from '../records/layout';
import { type MatchRef, matchName, type SettlementKey, settlementName } from '../records/settlement';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';

/**
 * Matches and settlements that have left Redis. The archive is asked only for what a market says has left it (lua/lib/archived_matches.lua),
 * and a reader asks after it has looked in Redis: so it misses nothing that leaves meanwhile, and a match that is young costs no query.
 */
export interface ArchivedMatchReads {
  /** Those that are here, by the name of their place (`matchName`). */
  matches(refs: readonly MatchRef[]): Promise<ReadonlyMap<string, Buffer>>;
  matchesOf(marketId: MarketId, stretch: Stretch<StreamPlace>): Promise<readonly ArchivedMatch[]>;
  /** The matches of each of these orders up to a place among those that left, newest first, in one query. */
  matchesOfOrders(
    asked: readonly OrderMatches[],
    most: number,
  ): Promise<readonly (readonly ArchivedMatch[])[]>;
  /** The packed records of those that are here, by name (`settlementName`, latin1). */
  settlements(keys: readonly SettlementKey[]): Promise<ReadonlyMap<string, Buffer>>;
  /** In the order of the list, of one market or with null of all. */
  settlementsOf(
    marketId: MarketId | null,
    stretch: Stretch<ListPlace>,
  ): Promise<readonly ArchivedSettlement[]>;
}

export const NO_ARCHIVED_MATCHES: ArchivedMatchReads = {
  matches: async () => new Map(),
  matchesOf: async () => [],
  matchesOfOrders: async (asked) => asked.map(() => []),
  settlements: async () => new Map(),
  settlementsOf: async () => [],
};

interface ArchivedMatchReadsOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archive: ArchiveReads;
  /** Whether anything was ever archived, in the archive of this exchange. */
  readonly open: () => Promise<boolean>;
}

export function createArchivedMatchReads({
  redis,
  keys,
  archive,
  open,
}: ArchivedMatchReadsOptions): ArchivedMatchReads {
  /** The last match of a market that left; null while none has. */
  const leftOf = async (id: MarketId): Promise<StreamPlace | null> =>
    (await readLeft(redis, keys, [id])).get(id) ?? null;

  /** Those of a list that are of a market of which something has left, and that may have left, too. */
  async function gone<T extends { readonly marketId: MarketId }>(
    list: readonly T[],
    has: (one: T, left: StreamPlace) => boolean,
  ): Promise<T[]> {
    const left = await readLeft(redis, keys, [...new Set(list.map(({ marketId }) => marketId))]);
    return list.filter((one) => {
      const last = left.get(one.marketId);
      return last && has(one, last);
    });
  }

  async function matches(refs: readonly MatchRef[]): Promise<Map<string, Buffer>> {
    const asked = await gone(refs, (ref, left) => !isBefore(left, ref));
    const found = asked.length > 0 && (await open()) ? await archive.matches(asked) : [];
    return new Map(found.map((match) => [matchName(match), match.packed]));
  }

  async function matchesOf(
    marketId: MarketId,
    stretch: Stretch<StreamPlace>,
  ): Promise<readonly ArchivedMatch[]> {
    const left = await leftOf(marketId);
    if (!left) return [];
    const to = earlier(stretch.to, left);
    const isAsked = !isBefore(to, stretch.from) && (await open());
    return isAsked ? archive.matchesOf(marketId, { ...stretch, to }) : [];
  }

  async function settlements(list: readonly SettlementKey[]): Promise<Map<string, Buffer>> {
    const asked = await gone(list, ({ sequence }, left) => sequence <= left.sequence);
    const found = asked.length > 0 && (await open()) ? await archive.settlements(asked) : [];
    return new Map(found.map((one) => [settlementName(one).toString('latin1'), one.record]));
  }

  /** Whether any match with its settlements, or any of a market, has left. */
  async function anyOf(marketId: MarketId | null): Promise<boolean> {
    if (marketId !== null) return (await leftOf(marketId)) !== null;
    return Number((await redis.hget(keys.archive, 'matches')) ?? 0) > 0;
  }

  return {
    matches,
    matchesOf,
    settlements,
    matchesOfOrders: async (asked, most) =>
      asked.length > 0 && (await open()) ? archive.matchesOfOrders(asked, most) : asked.map(() => []),
    settlementsOf: async (marketId, stretch) =>
      (await anyOf(marketId)) && (await open()) ? archive.settlementsOf(marketId, stretch) : [],
  };
}

/** The last match of each market that left Redis. */
export async function readLeft(
  redis: RedisClient,
  keys: Keys,
  ids: readonly MarketId[],
): Promise<Map<MarketId, StreamPlace>> {
  const packed = await Promise.all(ids.map((id) => redis.hgetBuffer(keys.market(id), 'f')));
  return new Map(
    ids.flatMap((id, i) => {
      const found = packed[i];
      return found ? [[id, LEFT.read(found)] as const] : [];
    }),
  );
}
