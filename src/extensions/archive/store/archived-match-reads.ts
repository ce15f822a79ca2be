import type { MarketId } from '../../../exchange/market';
import type { ArchivedMatch, ArchivedReads } from '../../../store/lists/archived-reads';
import { earlier, isBefore, type StreamPlace, type Stretch } from '../../../store/lists/places';
import { LEFT } from '../../../store/records/layout';
import {
  type MatchRef,
  matchName,
  type SettlementKey,
  settlementName,
} from '../../../store/records/settlement';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { ArchiveReads } from '../archive';

/** Matches and settlements that have left Redis. */
type ArchivedMatchReads = Pick<
  ArchivedReads,
  'matches' | 'matchesOf' | 'matchesOfOrders' | 'settlements' | 'settlementsOf'
>;

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
