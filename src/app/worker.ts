import { type Config, workerConfig } from '../config/load';
import { choresOf } from '../jobs/chores';
import { choresOverPartitions } from '../jobs/over-partitions';
import { createQueueCounts } from '../jobs/queue-counts';
import { startSchedule } from '../jobs/schedule';
import { settlePartitions } from '../jobs/settlement';
import { createLogThrottle, type Logger } from '../log';
import { watchEventLoop } from '../metrics/event-loop';
import { type Readiness, serveMetrics } from '../metrics/server';
import { stuckOf } from '../store/health/durability';
import { upOf } from '../store/health/health';
import { causeOf, logTextOf } from '../store/redis/causes';
import { connect, disconnect } from '../store/redis/connection';
import { isFull } from '../store/redis/unreachable';
import { observe } from './metrics';
import type { Running } from './process';
import { runStartupChecks } from './startup-checks';
import { createStore, type Store } from './store';

const REDIS_FULL =
  'Redis is full: trades do not settle until it has memory; orders expire, markets close and what is over leaves';

/** Whether a worker can work now: as for a web process, it can while the first partition answers. */
const readinessOf = ({ health }: Store): Promise<Readiness> =>
  health().then(
    ({ problem, layout, shards }) => ({ problem, layout: layout.layout, ...upOf(shards) }),
    (error) => ({ problem: causeOf(error) }),
  );

/** Starts a worker, which does the scheduled work. Any number of workers may run. */
export async function startWorker(given: Config, log: Logger): Promise<Running> {
  const config = workerConfig(given);
  const store = await createStore(config, log);
  await runStartupChecks(store);
  const { clock, durability, metrics, extensions, partitions } = store;
  const warn = createLogThrottle(log);
  const connection = connect({
    urls: config.redisUrls,
    tlsCa: config.redisTlsCa,
    blocking: true,
    onError: (error) => warn({ err: logTextOf(error) }, 'redis'),
  });
  // Every queue and many a chore says that Redis is full, several times a second.
  const onError = (error: Error, what: string, facts: Readonly<Record<string, unknown>> = {}): void =>
    isFull(error) ? warn({}, REDIS_FULL) : warn({ err: error.message, ...facts }, what);
  const settlements = settlePartitions(store, { funds: config.funds, connection, onError });
  const parts = extensions.flatMap(({ worker }) => worker?.(store) ?? []);
  const added = extensions.flatMap(({ chores }) => chores ?? []);
  const inEach = partitions.map((partition, i) => [
    ...choresOf(store, partition),
    ...added.map(({ name, everyMs, open }) => ({ name, everyMs, run: open(store, partition) })),
    ...(settlements[i] ? [settlements[i].reconciler] : []),
  ]);
  const names = partitions.map(({ name }) => name);
  const schedule = await startSchedule({
    connection,
    chores: [...choresOverPartitions(inEach, { names }), ...parts.flatMap(({ chores }) => chores ?? [])],
    now: clock.now,
    goesOn: partitions.length > 1,
    onError: (error, chore) => onError(error, 'chore', { chore }),
  });
  // A job of a lost match finds nothing to do. This chore finds matches whose jobs were lost, without waiting for its schedule.
  settlements.forEach(({ reconciler }, i) => {
    partitions[i]?.durability.onEpoch(() => {
      reconciler.run().catch((error: unknown) => warn({ err: String(error) }, 'reconciling'));
    });
  });
  const eventLoop = watchEventLoop();
  const queues = createQueueCounts(
    connection,
    (error) => log.debug({ err: error.message }, 'queues'),
    store.queues,
  );
  observe('worker', store, { eventLoop, queues });
  metrics.sample(() => [
    { name: 'exchange_relaying', value: settlements.filter(({ isRelaying }) => isRelaying()).length },
  ]);
  for (const { samples } of parts) if (samples) metrics.sample(samples);
  const { metricsPort, metricsHost } = config;
  const served =
    metricsPort === null
      ? null
      : await serveMetrics(metricsPort, metricsHost, {
          expose: metrics.expose,
          readiness: () => readinessOf(store),
          stuck: () => stuckOf(durability.refusedForMs()),
        });
  log.info({ network: config.network, metricsPort: served?.port }, 'worker is running');
  return {
    async stop() {
      eventLoop.stop();
      await Promise.all([
        schedule.stop(),
        ...settlements.map((settlement) => settlement.stop()),
        ...parts.map((part) => part.stop?.()),
        queues.stop(),
        served?.stop(),
      ]);
      disconnect(connection);
      store.close();
    },
  };
}
