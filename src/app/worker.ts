import { operatorProblem } from '../config/chain';
import type { Config } from '../config/load';
import { ConfigError } from '../config/report';
import { choresOfShards } from '../jobs/chores';
import { choresOverShards } from '../jobs/over-shards';
import { createQueueCounts } from '../jobs/queue-counts';
import { startSchedule } from '../jobs/schedule';
import { settleShards } from '../jobs/settlement';
import { choresBetween } from '../jobs/shard-chores';
import { createLogThrottle, type Logger } from '../log';
import { watchEventLoop } from '../metrics/event-loop';
import { type Readiness, serveMetrics } from '../metrics/server';
import { stuckOf } from '../store/health/durability';
import { upOf } from '../store/health/health';
import { causeOf } from '../store/redis/causes';
import { connect, disconnect } from '../store/redis/connection';
import { isFull } from '../store/redis/unreachable';
import type { ShardParts } from '../store/shard';
import { choresOf, chosenExtensions } from './extensions';
import { observe } from './metrics';
import type { Running } from './process';
import { runStartupChecks } from './startup-checks';
import { closeStore, createStore, type Store } from './store';

const REDIS_FULL =
  'Redis is full: trades do not settle until it has memory; orders expire, markets close and what is over leaves';

/** Whether a worker can work now: as for a web process, it can while the first shard answers. */
const readinessOf = ({ health }: Store): Promise<Readiness> =>
  health().then(
    ({ problem, layout, shards }) => ({ problem, layout: layout.layout, ...upOf(shards) }),
    (error) => ({ problem: causeOf(error) }),
  );

/** Starts a worker, which does the scheduled work. Any number of workers may run. */
export async function startWorker(config: Config, log: Logger): Promise<Running> {
  const wrong = config.chain === null ? null : operatorProblem(config.chain);
  if (wrong !== null) throw new ConfigError([wrong]);
  const extensions = chosenExtensions(config);
  const store = await createStore(config, log);
  await runStartupChecks(config, store);
  const { clock, standings, metrics } = store;
  const warn = createLogThrottle(log);
  const connection = connect({
    urls: config.redisUrls,
    tlsCa: config.redisTlsCa,
    blocking: true,
    onError: (error) => warn({ err: error.message }, 'redis'),
  });
  // Every queue and many a chore says that Redis is full, several times a second.
  const onError = (error: Error, what: string, facts: Readonly<Record<string, unknown>> = {}): void =>
    isFull(error) ? warn({}, REDIS_FULL) : warn({ err: error.message, ...facts }, what);
  const settlements = settleShards(store, { funds: config.funds, connection, onError });
  const onChain = store.books?.work(store);
  const archiving = store.archives.work();
  const chores = choresOfShards(config, store);
  const added = choresOf(extensions);
  const ofShards = settlements.map(({ reconciler }, shard) => [
    ...(chores[shard] ?? []),
    ...added.map(({ name, everyMs, open }) => ({
      name,
      everyMs,
      run: open(store, store.shards[shard] as ShardParts),
    })),
    reconciler,
  ]);
  const betweenShards = choresBetween(store, (from, to) => {
    metrics.brokenChannel(from, to);
    log.error({ from, to }, 'a shard lost collateral that it had sent to another one: it is there twice');
  });
  const schedule = await startSchedule({
    connection,
    chores: [...choresOverShards(ofShards), ...betweenShards, ...(onChain?.chores ?? [])],
    now: clock.now,
    goesOn: config.shards > 1,
    onError: (error, chore) => onError(error, 'chore', { chore }),
  });
  // A job of a lost match finds nothing to do. This chore finds matches whose jobs were lost, without waiting for its schedule.
  settlements.forEach(({ reconciler }, shard) => {
    store.shards[shard]?.standings.onEpoch(() => {
      reconciler.run().catch((error: unknown) => warn({ err: String(error) }, 'reconciling'));
    });
  });
  const eventLoop = watchEventLoop();
  const queues = createQueueCounts(
    connection,
    (error) => log.debug({ err: error.message }, 'queues'),
    store.queueNames,
  );
  observe('worker', { ...store, config, eventLoop, queues });
  metrics.sample(() => [
    { name: 'exchange_relaying', value: settlements.filter(({ isRelaying }) => isRelaying()).length },
  ]);
  if (onChain) metrics.sample(onChain.samples);
  const { metricsPort, metricsHost } = config;
  const served =
    metricsPort === null
      ? null
      : await serveMetrics(metricsPort, metricsHost, {
          expose: metrics.expose,
          readiness: () => readinessOf(store),
          stuck: () => stuckOf(standings.refusedForMs()),
        });
  log.info({ network: config.network, metricsPort: served?.port }, 'worker is running');
  return {
    async stop() {
      for (const part of [eventLoop, clock, standings]) part.stop();
      await Promise.all([
        schedule.stop(),
        ...settlements.map((settlement) => settlement.stop()),
        archiving.stop(),
        queues.stop(),
        served?.stop(),
        onChain?.stop(),
      ]);
      disconnect(connection);
      closeStore(store);
    },
  };
}
