import { createRecent } from '../../../exchange/recent';
import { NO_ARCHIVED_READS } from '../../../store/lists/archived-reads';
import { partAt } from '../../../store/lists/list';
import { createOrderRecords, PartlyFound } from '../../../store/lists/orders';
import type { Reads } from '../../../store/reads/reads';
import { hashBytes, type OrderRecord } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import { groupBy } from './account-logs';
import { askAll, firstOf, toldAs } from './ask-all';

interface OrderPlacesOptions {
  readonly redis: RedisClient;
  /** The keys of each shard. */
  readonly shards: readonly Keys[];
  readonly parts: readonly Pick<Reads, 'records'>[];
}

/** In which shard an order is. It never moves. */
export interface OrderPlaces {
  /**
   * The answer of the shard that has the order; null when all shards say that they do not have it. A shard that does not answer is
   * an error, unless another one has the order.
   */
  ask<T>(orderHash: string, question: (shard: number) => Promise<T | null>): Promise<T | null>;
  /** The records of many orders, by hash, under the same condition; throws PartlyFound. */
  records(orderHashes: readonly string[]): Promise<ReadonlyMap<string, OrderRecord>>;
}

type Records = ReadonlyMap<string, OrderRecord>;
const NOWHERE = -1;
/** The number of orders whose shard a process remembers. */
const ORDERS_MAX = 50_000;

export function createOrderPlaces({ redis, shards, parts }: OrderPlacesOptions): OrderPlaces {
  const places = createRecent<number>(ORDERS_MAX);
  const inRedis = shards.map((keys) => createOrderRecords({ redis, keys, archivedReads: NO_ARCHIVED_READS }));
  const everyShard = shards.map((_, shard) => shard);

  async function ask<T>(orderHash: string, question: (shard: number) => Promise<T | null>) {
    const known = places.get(orderHash);
    const there = known === undefined ? null : await question(known);
    if (there !== null) return there;
    // Redis first: only an order that is in no shard is looked for in the archive.
    const here = await firstOf(everyShard.map(holds(orderHash)));
    const found = await firstOf((here.found === null ? everyShard : [here.found]).map(answerOf(question)));
    if (found.found === null) {
      for (const error of [...here.silent, ...found.silent]) throw error;
      return null;
    }
    places.put(orderHash, found.found.shard);
    return found.found.answer;
  }

  const holds = (orderHash: string) => async (shard: number) =>
    (await redis.hexists(partAt(shards, shard).orders, hashBytes(orderHash))) === 1 ? shard : null;

  const answerOf =
    <T>(question: (shard: number) => Promise<T | null>) =>
    async (shard: number) => {
      const answer = await question(shard);
      return answer === null ? null : { shard, answer };
    };

  async function records(orderHashes: readonly string[]): Promise<ReadonlyMap<string, OrderRecord>> {
    const found = new Map<string, OrderRecord>();
    const missing = (): string[] => orderHashes.filter((hash) => !found.has(hash));
    /** Errors of shards that are not read again, because each read of a silent one takes as long as a command may take. */
    const silent = new Map<number, unknown>();
    const ask = async (asked: readonly number[], read: (shard: number) => Promise<Records>) => {
      const answers = await askAll(
        asked.filter((shard) => !silent.has(shard)),
        read,
      );
      for (const [shard, error] of answers.failed) silent.set(shard, error);
      for (const [shard, some] of answers.done) {
        for (const [hash, record] of some) {
          found.set(hash, record);
          places.put(hash, shard);
        }
      }
    };
    const known = groupBy(orderHashes, (hash) => places.get(hash) ?? NOWHERE);
    known.delete(NOWHERE);
    await ask([...known.keys()], (shard) => partAt(parts, shard).records(known.get(shard) ?? []));
    for (const step of [inRedis, parts.map((part) => part.records)]) {
      const asked = missing();
      if (asked.length === 0) return found;
      await ask(everyShard, (shard) => partAt(step, shard)(asked));
    }
    if (missing().length > 0)
      for (const error of silent.values()) throw toldAs(error, new PartlyFound(found));
    return found;
  }

  return { ask, records };
}
