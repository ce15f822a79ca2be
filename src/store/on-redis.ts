import { Refusal } from '../exchange/errors';
import type { ExchangeOptions, OpenExchange, Operations, Placement } from './exchange';
import { examine } from './health/doctor';
import { noteLayout, readLayout, unreadable } from './health/layout';
import { silentMasters } from './health/silence';
import { examineWatched } from './health/watched';
import { watchBacklog } from './outbox/backlog';
import { openPartition, type Partition } from './partition';

const BACKLOGGED = ['BACKLOG', 'the exchange is catching up with accepted orders; retry shortly'] as const;

/** The exchange on one Redis. */
export const exchangeOn: OpenExchange = async (options) => {
  const partition = openPartition(options);
  const backlog = watchBacklog(partition.outboxLag);
  return {
    ...partition,
    accounts: partition.accountLogs,
    refreshWallet: async () => undefined,
    refusal: () => (backlog.isTooLong() ? BACKLOGGED : null),
    facts: {},
    partitions: [partition],
    placement: ONE_PLACE,
    operations: operationsOf(options, partition, backlog),
  };
};

/** Everything is in the only partition. */
const ONE_PLACE: Placement = {
  find: async () => 0,
  partitionOf: async () => 0,
  shownOf: async () => null,
  homeOf: () => 0,
  partitionsOf: async () => [0],
};

function operationsOf(
  options: ExchangeOptions,
  { keys, durability, archive }: Partition,
  backlog: ReturnType<typeof watchBacklog>,
): Operations {
  const { redis, run, clock, config, readers, nodes } = options;
  return {
    async startupProblem() {
      const problem = unreadable(await noteLayout(run, keys));
      if (problem !== null) return { variable: 'REDIS_URL', given: '(hidden)', problem };
      const { variable, detail } = (await nodes.contradiction()) ?? {};
      if (variable === undefined) return null;
      return { variable, given: '(hidden)', problem: `does not fit the chain: ${detail}` };
    },
    dataProblem: async () => unreadable(await readLayout(redis, keys)),
    start: () => durability.start(),
    serve: async () => backlog.start(),
    stop() {
      backlog.stop();
      durability.stop();
    },
    async examine({ isProduction, replicas }) {
      const promised = config.durability;
      return [
        ...(await examine({ redis, run, keys, readers, promised, replicas, isProduction })),
        ...(await nodes.examine()),
      ];
    },
    silences: async () => new Map(),
    watched: () => examineWatched(redis, [keys], readers, clock.now()),
    async causes(error) {
      if (!(error instanceof Refusal))
        return (await silentMasters(redis)).map((node) => `${node} does not answer`);
      const failure = archive.failure();
      return failure !== null && error.code === 'UNAVAILABLE' ? [failure] : [];
    },
  };
}
