import { operatorProblem } from '../config/chain';
import type { Config } from '../config/load';
import { ConfigError } from '../config/report';
import { createChores } from '../jobs/chores';
import { choresOverShards } from '../jobs/over-shards';
import { createQueueCounts } from '../jobs/queue-counts';
import { type Chore, startSchedule } from '../jobs/schedule';
import { startSettlement } from '../jobs/settlement';
import { createShardChores } from '../jobs/shard-chores';
import type { Logger } from '../log';
import { watchEventLoop } from '../metrics/event-loop';
import { type Readiness, serveMetrics } from '../metrics/server';
import { createCandleWriter } from '../store/candles/writer';
import { stuckOf } from '../store/health/durability';
import { upOf } from '../store/health/health';
import { createAgenda } from '../store/markets/agenda';
import { createLease } from '../store/outbox/lease';
import { createOutbox } from '../store/outbox/outbox';
import { createSpread } from '../store/outbox/spread';
import { addressBytes } from '../store/records/order';
import { causeOf } from '../store/redis/causes';
import { connect, disconnect } from '../store/redis/connection';
import type { RedisClient } from '../store/redis/scripts';
import { homeOf } from '../store/redis/tags';
import { isFull } from '../store/redis/unreachable';
import type { Engine } from '../store/verbs/engine';
import { createRaisedNonces } from '../store/verbs/invalidate';
import { createShardModes } from '../store/verbs/shard-modes';
import { createTransfers } from '../store/verbs/transfers';
import type { Running } from './app';
import { beginArchiving } from './archiving';
import { observerSamples, spentSamples } from './chain-samples';
import { workOnChain } from './chain-work';
import { createLogThrottle, type Warn } from './log-throttle';
import { observe } from './observe';
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

/** Settles the matches of each shard. */
function beginSettling({ funds }: Config, store: Store, connection: RedisClient, warn: Warn) {
  const { redis, run, scale, shards } = store;
  const spread = createSpread(shards.length);
  return shards.map((parts, shard) =>
    startSettlement({
      ...parts,
      funds,
      scale,
      connection,
      relayLease: spread(createLease({ redis, run, keys: parts.keys }, 'settlement', parts.keys.relayLease)),
      shard: shards.length > 1 ? shard : null,
      onError: (error, what) =>
        isFull(error)
          ? warn({}, REDIS_FULL)
          : warn({ err: error.message, ...(shards.length > 1 ? { shard } : {}) }, what),
    }),
  );
}

/** The chores of a shard. */
function choresOf(config: Config, store: Store, shard: number): readonly Chore[] {
  const { redis, run, clock, shards, engine: whole } = store;
  const { keys, past, engine, ownMarkets, journalWriter } = shards[shard] as Store['shards'][number];
  const door = { redis, run, keys };
  const isHome = (address: string): boolean => homeOf(addressBytes(address), config.shards) === shard;
  // The home of a wallet tells its nonce to the other shards before it takes the wallet off its list.
  const invalidateAll: Engine['invalidateAll'] = (address, nonce) =>
    (isHome(address) ? whole : engine).invalidateAll(address, nonce);
  return createChores({
    clock,
    journalWriter,
    markets: ownMarkets,
    engine: shards.length > 1 ? { ...engine, invalidateAll } : engine,
    agenda: createAgenda(door),
    outbox: createOutbox(door),
    candles: createCandleWriter({ ...door, past }),
    raisedNonces: createRaisedNonces(door),
  });
}

/** The chores that several shards have together. */
function choresBetween(store: Store, log: Logger): readonly Chore[] {
  const { redis, channels, shards, metrics, finishListing } = store;
  if (finishListing === null || channels === null) return [];
  const keys = shards.map((shard) => shard.keys);
  return createShardChores({
    finishTransfers: createTransfers({ redis, channels, shards: keys }).finish,
    enforceMode: createShardModes({ redis, shards: keys, parts: shards.map(({ engine }) => engine) })
      .enforceMode,
    finishMarkets: finishListing,
    onBroken(from, to) {
      metrics.brokenChannel(from, to);
      log.error({ from, to }, 'a shard lost collateral that it had sent to another one: it is there twice');
    },
  });
}

/** Starts a worker, which does the scheduled work. Any number of workers may run. */
export async function startWorker(config: Config, log: Logger): Promise<Running> {
  const wrong = config.chain === null ? null : operatorProblem(config.chain);
  if (wrong !== null) throw new ConfigError([wrong]);
  const store = await createStore(config, log);
  await runStartupChecks(config, store);
  const warn = createLogThrottle(log);
  const connection = connect({
    urls: config.redisUrls,
    tlsCa: config.redisTlsCa,
    blocking: true,
    onError: (error) => warn({ err: error.message }, 'redis'),
  });
  const settlements = beginSettling(config, store, connection, warn);
  const onChain = config.chain && workOnChain(config, config.chain, store, log);
  const ofShards = settlements.map(({ reconciler }, shard) => [
    ...choresOf(config, store, shard),
    reconciler,
  ]);
  const archiving = beginArchiving(config, store, log);
  const schedule = await startSchedule({
    connection,
    chores: [...choresOverShards(ofShards), ...choresBetween(store, log), ...(onChain?.chores ?? [])],
    now: store.clock.now,
    goesOn: config.shards > 1,
    onError: (error, chore) =>
      // Every queue and many a chore says it, several times a second.
      isFull(error) ? warn({}, REDIS_FULL) : warn({ err: error.message, chore }, 'chore'),
  });
  // A job of a lost match finds nothing to do. This chore finds matches whose jobs were lost, without waiting for its schedule.
  store.shards.forEach(({ standings }, shard) => {
    const again = () => settlements[shard]?.reconciler.run();
    standings.onEpoch(() => {
      again()?.catch((error: unknown) => warn({ err: String(error) }, 'reconciling'));
    });
  });
  const eventLoop = watchEventLoop();
  const queues = createQueueCounts(
    connection,
    (error) => log.debug({ err: error.message }, 'queues'),
    config.shards,
  );
  observe('worker', { ...store, config, eventLoop, queues });
  store.metrics.sample(() => [
    { name: 'exchange_relaying', value: settlements.filter(({ isRelaying }) => isRelaying()).length },
  ]);
  if (onChain)
    store.metrics.sample(() => [...observerSamples(onChain.observed()), ...spentSamples(onChain.spent())]);
  const { metricsPort, metricsHost } = config;
  const asked = {
    expose: store.metrics.expose,
    readiness: () => readinessOf(store),
    stuck: () => stuckOf(store.standings.refusedForMs()),
  };
  const metrics = metricsPort === null ? null : await serveMetrics(metricsPort, metricsHost, asked);
  log.info({ network: config.network, metricsPort: metrics?.port }, 'worker is running');
  return {
    async stop() {
      for (const part of [eventLoop, store.clock, store.standings]) part.stop();
      await Promise.all([
        schedule.stop(),
        ...settlements.map((settlement) => settlement.stop()),
        archiving.stop(),
        queues.stop(),
        metrics?.stop(),
        onChain?.stop(),
      ]);
      disconnect(connection);
      closeStore(store);
    },
  };
}
