import type { ConfigProblem } from '../../../config/report';
import { Refusal } from '../../../exchange/errors';
import type { Exchange, ExchangeOptions, Operations } from '../../../store/exchange';
import { type Check, unlessSilent } from '../../../store/health/doctor';
import { examineWatched } from '../../../store/health/watched';
import { createKeys, type Keys } from '../../../store/redis/keys';
import { examineShards, findSilences, nameSilent } from './doctor';
import { noteShards, otherShards, readShards } from './layout';
import { createShardWatch } from './shard-watch';

const keysOf = (count: number): readonly Keys[] =>
  Array.from({ length: count }, (_, shard) => createKeys(shard));

/** The operations of an exchange in whose data another number of shards than SHARDS may be noted, which is then a problem. */
export function countedOperations(options: ExchangeOptions, inner: Operations): Operations {
  const { redis, run, config } = options;
  const count = config.shards;
  const keys = createKeys();
  const watch = createShardWatch({ redis, keys, count });
  const rowOf = (problem: string): ConfigProblem => ({ variable: 'SHARDS', given: String(count), problem });

  /** Whether SHARDS is the number that is noted in the data; nothing for the usual one. */
  async function examineCount(): Promise<readonly Check[]> {
    const name = 'shards';
    const wrong = otherShards(count, await readShards(redis, keys));
    const isNew = wrong !== null && (await redis.exists(keys.layout, keys.markets)) === 0;
    if (wrong !== null && !isNew) return [{ name, verdict: 'fail', detail: `SHARDS ${wrong}` }];
    return count === 1
      ? []
      : [{ name, verdict: 'ok', detail: isNew ? `${count}, and no market yet` : `${count}` }];
  }

  return {
    ...inner,
    async startupProblem() {
      const other = otherShards(count, await noteShards({ redis, run }, keysOf(count)));
      return other === null ? inner.startupProblem() : rowOf(other);
    },
    async dataProblem(except) {
      const other = except === 'SHARDS' ? null : otherShards(count, await readShards(redis, keys));
      return other === null ? inner.dataProblem(except) : `SHARDS ${other}`;
    },
    start(end) {
      inner.start(end);
      // Whatever this process still did with the old number would be wrong.
      watch.start((problem) => end(rowOf(problem)));
    },
    stop() {
      watch.stop();
      inner.stop();
    },
    examine: async (how) => [
      ...(await inner.examine(how)),
      ...(how.silences.has(0) ? [] : await unlessSilent('shards', examineCount)),
    ],
  };
}

/** The operations of several shards, each an exchange by itself. */
export function operationsOverShards(options: ExchangeOptions, shards: readonly Exchange[]): Operations {
  const { redis, run, readers, clock, config, nodes } = options;
  const each = shards.map(({ operations }) => operations);
  const keys = keysOf(config.shards);
  return {
    async startupProblem() {
      const problems = await Promise.all(each.map((shard) => shard.startupProblem()));
      return problems.find((problem) => problem !== null) ?? null;
    },
    dataProblem: async (except) => (await each[0]?.dataProblem(except)) ?? null,
    start(end) {
      for (const shard of each) shard.start(end);
    },
    async serve() {
      await Promise.all(each.map((shard) => shard.serve()));
    },
    stop() {
      for (const shard of each) shard.stop();
    },
    async examine(how) {
      const promised = config.durability;
      return [
        ...(await examineShards({ redis, run, readers, promised, shards: keys, ...how })),
        ...(how.silences.has(0) ? [] : await unlessSilent('funds', nodes.examine)),
      ];
    },
    silences: () => findSilences(redis, keys),
    watched: () => examineWatched(redis, keys, readers, clock.now()),
    async causes(error) {
      if (!(error instanceof Refusal)) return nameSilent(redis, keys);
      if (error.code !== 'UNAVAILABLE') return [];
      const [failure = []] = await Promise.all(each.slice(0, 1).map((shard) => shard.causes(error)));
      return [...failure, ...(await nameSilent(redis, keys))];
    },
  };
}
