import { operatorProblem } from '../config/chain';
import type { Config } from '../config/load';
import { ConfigError } from '../config/report';
import { startArchiving } from '../jobs/archive';
import { createChores } from '../jobs/chores';
import { createQueueCounts } from '../jobs/queue-counts';
import { startSchedule } from '../jobs/schedule';
import { startSettlement } from '../jobs/settlement';
import type { Logger } from '../log';
import { watchEventLoop } from '../metrics/event-loop';
import { serveMetrics } from '../metrics/server';
import { createForgetting, PICK_MS } from '../store/archive/forgetting';
import { createMarketForgetting } from '../store/archive/markets';
import { dropOldMonths } from '../store/archive/retention';
import { openSource } from '../store/archive/source';
import { createCandleWriter } from '../store/candles/writer';
import { unreadable } from '../store/health/layout';
import { createAgenda } from '../store/markets/agenda';
import { createLease } from '../store/outbox/lease';
import { createOutbox } from '../store/outbox/outbox';
import { causeOf } from '../store/redis/causes';
import { connect, disconnect } from '../store/redis/connection';
import { createRaisedNonces } from '../store/verbs/invalidate';
import type { Running } from './app';
import { observerSamples, spentSamples } from './chain-samples';
import { workOnChain } from './chain-work';
import { observe } from './observe';
import { checkStanding } from './standing';
import { closeStore, createStore, type Store } from './store';

/** Returns the reason why a worker cannot work now. */
const problemOf = ({ health }: Store): Promise<string | null> =>
  health().then(({ layout }) => unreadable(layout), causeOf);

function beginArchiving({ archiveKeepMonths: months }: Config, store: Store, log: Logger) {
  const { archive, redis, run, keys, clock } = store;
  if (!archive) return null;
  const forgetting = createForgetting({ redis, run, keys, archive });
  const { commit } = forgetting;
  // Entries of streams are named by whole milliseconds.
  const now = (): number => Math.floor(clock.now());
  const markets = createMarketForgetting({ redis, run, keys, now, commit });
  return startArchiving({
    forgetting,
    async upkeep(token) {
      await markets.forgetEnded(token);
      const rows = await dropOldMonths(archive, months, now());
      if (rows > 0) log.info({ rows, months }, 'months of the archive were dropped for their age');
    },
    openSource: () => openSource({ redis, keys, now, keepMs: PICK_MS }),
    onError: (error) => log.warn({ err: error.message }, 'archive'),
  });
}

/** Starts a worker, which does the scheduled work. Any number of workers may run. */
export async function startWorker(config: Config, log: Logger): Promise<Running> {
  const wrong = config.chain === null ? null : operatorProblem(config.chain);
  if (wrong !== null) throw new ConfigError([wrong]);
  const store = await createStore(config, log);
  await checkStanding(config, store);
  const outbox = createOutbox(store);
  const connection = connect({
    urls: config.redisUrls,
    tlsCa: config.redisTlsCa,
    blocking: true,
    onError: (error) => log.warn({ err: error.message }, 'redis'),
  });
  const settlement = startSettlement({
    ...store,
    funds: config.funds,
    relayLease: createLease(store, 'settlement', store.keys.relayLease),
    connection,
    onError: (error, what) => log.warn({ err: error.message }, what),
  });
  const onChain = config.chain && workOnChain(config, config.chain, store, log);
  const chores = createChores({
    ...store,
    markets: store.ownMarkets,
    agenda: createAgenda(store),
    outbox,
    candles: createCandleWriter(store),
    raisedNonces: createRaisedNonces(store),
  });
  const archiving = beginArchiving(config, store, log);
  const schedule = await startSchedule({
    connection,
    chores: [...chores, settlement.reconciler, ...(onChain?.chores ?? [])],
    now: store.clock.now,
    onError: (error, chore) => log.warn({ err: error.message, chore }, 'chore'),
  });
  // A job of a lost match finds nothing to do. This chore finds matches whose jobs were lost, without waiting for its schedule.
  store.standings.onEpoch(() => {
    settlement.reconciler.run().catch((error: unknown) => log.warn({ err: String(error) }, 'reconciling'));
  });
  const eventLoop = watchEventLoop();
  const queues = createQueueCounts(connection, (error) => log.debug({ err: error.message }, 'queues'));
  observe('worker', { ...store, config, eventLoop, queues });
  if (onChain)
    store.metrics.sample(() => [...observerSamples(onChain.observed()), ...spentSamples(onChain.spent())]);
  const { metricsPort } = config;
  const asked = { expose: store.metrics.expose, problem: () => problemOf(store) };
  const metrics = metricsPort === null ? null : await serveMetrics(metricsPort, asked);
  log.info({ network: config.network, metricsPort: metrics?.port }, 'worker is running');
  return {
    async stop() {
      for (const part of [eventLoop, store.clock, store.standings]) part.stop();
      await Promise.all([
        schedule.stop(),
        settlement.stop(),
        archiving?.stop(),
        queues.stop(),
        metrics?.stop(),
        onChain?.stop(),
      ]);
      disconnect(connection);
      closeStore(store);
    },
  };
}
