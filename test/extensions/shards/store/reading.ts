import { chainScale } from '../../../../src/exchange/order';
import { openPeople } from '../../../../src/extensions/people/store/open';
import { openReads } from '../../../../src/extensions/portfolio/store/open';
import { createChannels } from '../../../../src/extensions/shards/store/channels';
import { createDirectory } from '../../../../src/extensions/shards/store/directory';
import { readingOverShards } from '../../../../src/extensions/shards/store/reading';
import { createWalletShards } from '../../../../src/extensions/shards/store/wallet-shards';
import { createSettle } from '../../../../src/jobs/settle';
import { createHistory } from '../../../../src/store/candles/history';
import type { Placement } from '../../../../src/store/exchange';
import { NO_ARCHIVED_READS } from '../../../../src/store/lists/archived-reads';
import { createOutboxLag } from '../../../../src/store/outbox/lag';
import { createJoining } from '../../../../src/store/people/joining';
import { createAnswerCache } from '../../../../src/store/reads/answer-cache';
import { createReads } from '../../../../src/store/reads/reads';
import { encodeMarket } from '../../../../src/store/records/market';
import type { MatchRef } from '../../../../src/store/records/settlement';
import type { Clock } from '../../../../src/store/redis/clock';
import type { Keys } from '../../../../src/store/redis/keys';
import type { RedisClient, RunScript } from '../../../../src/store/redis/scripts';
import type { ShardCount } from '../../../../src/store/redis/tags';
import { createMatches } from '../../../../src/store/settlement/matches';
import { createSettlements } from '../../../../src/store/settlement/settlements';
import { TERMS } from '../../../store/trading';
import { READERS } from '../../../support/readers';

/** Everything that reads, over the shards of a test: the parts themselves where there is one shard. */
export interface ReadingOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly shards: readonly Keys[];
  readonly shardOf: (id: string) => number;
  readonly marketIds: readonly string[];
  readonly grantMicro: number;
  readonly now: () => number;
}

export type TestReading = Awaited<ReturnType<typeof openReading>>;

export async function openReading(options: ReadingOptions) {
  const { redis, run, shards, grantMicro, now } = options;
  await noteMarkets(options);
  const doubts = () => 0;
  const clock: Clock = { now, observe: () => undefined };
  const parts = shards.map((keys) => {
    const slotKey = { redis, run, keys };
    const history = createHistory({ ...slotKey, doubts });
    const settlements = createSettlements(slotKey);
    const matches = createMatches({ ...slotKey, settlements });
    const kept = createAnswerCache({ redis, keys, clock, doubts });
    return {
      keys,
      archivedReads: NO_ARCHIVED_READS,
      history,
      settlements,
      matches,
      durability: { doubts },
      reads: createReads({ ...slotKey, history, clock, kept, doubts, grantMicro }),
      joining: createJoining({ ...slotKey, joinGrantMicro: 0 }),
      outboxLag: createOutboxLag({ redis, keys, readers: READERS, now }),
    };
  });
  const [first] = parts;
  if (!first) throw new Error('no shard');
  const home = shards[0] as Keys;
  const directory = createDirectory({ redis, keys: home, count: shards.length as ShardCount });
  const channels = createChannels({ redis, run, shards });
  const wallets = createWalletShards(channels, directory.count);
  const placement: Placement = {
    find: directory.find,
    partitionOf: directory.shardOf,
    shownOf: directory.shardOf,
    homeOf: wallets.homeOf,
    partitionsOf: wallets.shardsOf,
  };
  const whole =
    parts.length === 1
      ? first
      : readingOverShards({
          redis,
          run,
          shards: parts,
          names: home.marketNames,
          doubts,
          grantMicro,
          directory,
          wallets,
        });
  const journal = openReads({ redis, run, partitions: parts, placement });
  const people = openPeople({ redis, run, partitions: parts, placement });

  /** Every match, oldest first, whichever shard it is in. */
  async function matches(): Promise<MatchRef[]> {
    const found = await Promise.all(parts.map((part) => part.matches.read('0-0', 1_000_000)));
    return found
      .flatMap((one) => one.matches)
      .sort(
        (a, b) => a.tradeMs - b.tradeMs || a.marketId.localeCompare(b.marketId) || a.sequence - b.sequence,
      );
  }

  /** Settles some matches and lets others wait or fail, the same ones in every exchange. Returns the number of all. */
  async function settle(): Promise<number> {
    const all = await matches();
    for (const ref of all) {
      const { matches: loaded } = parts[options.shardOf(ref.marketId)] ?? { matches: undefined };
      if (!loaded) throw new Error(`no shard has ${ref.marketId}`);
      const { reads } = whole;
      const settled = createSettle({
        matches: loaded,
        settlements: whole.settlements,
        termsOf: async (id) => (await reads.market(id))?.terms ?? TERMS,
        scale: chainScale(18),
      });
      if (ref.sequence % 5 > 1) await settled([ref]);
      else await whole.settlements.move({ ...ref, part: 0 }, ref.sequence % 5 === 0 ? 'RETRYING' : 'FAILED');
    }
    return all.length;
  }

  return { ...whole, ...people, journal, parts, settle };
}

/** The documents of the markets, and their places in the directory. */
async function noteMarkets({ redis, shards, shardOf, marketIds }: ReadingOptions): Promise<void> {
  const home = shards[0] as Keys;
  for (const id of marketIds) {
    const at = shards[shardOf(id)] as Keys;
    const conditionId = `0x${id}`;
    const terms = { ...TERMS, id, slug: `slug-${id}`, conditionId, tokenIds: [`${id}1`, `${id}2`] as const };
    const texts = { question: `Does ${id} come?` } as never;
    await redis.hset(at.markets, id, encodeMarket({ terms, texts }));
    await redis.hset(home.marketNames, { [id]: id, [terms.slug]: id, [conditionId]: id });
    await redis.hset(home.marketShards, id, shardOf(id));
  }
}
