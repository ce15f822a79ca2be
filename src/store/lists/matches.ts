import type { MarketId } from '../../exchange/market';
import { type MatchRef, matchName } from '../records/settlement';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { withArchive } from './list';
import { below, entryId, isBefore, matchPlace, type StreamPlace, type Stretch } from './places';

export interface PackedMatch extends StreamPlace {
  readonly packed: Buffer;
}

/** Matches that have left Redis. */
export interface ArchivedMatches {
  /** Those that are there, by the name of their place (`matchName`). */
  matches(refs: readonly MatchRef[]): Promise<ReadonlyMap<string, Buffer>>;
  matchesOf(marketId: MarketId, stretch: Stretch<StreamPlace>): Promise<readonly PackedMatch[]>;
}

interface MatchOptions<Name extends keyof ArchivedMatches> {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archivedReads: Pick<ArchivedMatches, Name>;
}

/** Reads matches by their places, as the store packs them; null for one that does not exist. */
export const createMatchesByPlace = ({ redis, keys, archivedReads }: MatchOptions<'matches'>) =>
  withArchive(
    (refs: readonly MatchRef[]) =>
      Promise.all(
        refs.map(async (ref) => {
          const [entry] = await redis.xrangeBuffer(keys.trades(ref.marketId), entryId(ref), entryId(ref));
          return entry?.[1][1];
        }),
      ),
    archivedReads.matches,
    matchName,
  );

/** The first matches of a stretch, `most` of them; fewer when it has no more. */
export type MarketMatches = (id: MarketId, stretch: Stretch<StreamPlace>) => Promise<readonly PackedMatch[]>;

/**
 * Reads a market's matches from Redis and, before the first of them there, from the archive. Redis is asked first, in both
 * directions: what leaves it meanwhile has been read, and what had left it before is in the archive.
 */
export function createMarketMatches({
  redis,
  keys,
  archivedReads,
}: MatchOptions<'matchesOf'>): MarketMatches {
  async function inRedis(
    id: MarketId,
    { from, to, descending, most }: Stretch<StreamPlace>,
  ): Promise<PackedMatch[]> {
    const [low, high] = [entryId(from), entryId(to)];
    const found = descending
      ? await redis.xrevrangeBuffer(keys.trades(id), high, low, 'COUNT', most)
      : await redis.xrangeBuffer(keys.trades(id), low, high, 'COUNT', most);
    return found.map(([place, fields]) => ({ ...matchPlace(place), packed: fields[1] as Buffer }));
  }

  return async (id, stretch) => {
    if (isBefore(stretch.to, stretch.from)) return [];
    const here = await inRedis(id, stretch);
    const { descending, most } = stretch;
    if (descending && here.length >= most) return here;
    const oldest = descending ? here.at(-1) : here[0];
    const left = await archivedReads.matchesOf(id, {
      ...stretch,
      to: oldest ? below(oldest) : stretch.to,
      most: descending ? most - here.length : most,
    });
    return descending ? [...here, ...left] : [...left, ...here].slice(0, most);
  };
}
