import { checksumAddress } from '../auth/address';
import { binaryMarketIds } from '../chain/ctf';
import { examineWalletNodes } from '../chain/examine-nodes';
import type { Config } from '../config/load';
import { ConfigError } from '../config/report';
import type { ChainScale } from '../exchange/order';
import { chainScale } from '../exchange/order';
import { micro } from '../exchange/units';
import { type QueueName, queuesOf } from '../jobs/queues';
import { createLogThrottle, type Logger } from '../log';
import { createMetrics, type Metrics } from '../metrics/metrics';
import type { Exchange, OpenExchange } from '../store/exchange';
import { runProbe } from '../store/health/health';
import { NO_ARCHIVE } from '../store/lists/archived-reads';
import { exchangeOn } from '../store/on-redis';
import { hostsOf } from '../store/redis/address';
import { logTextOf } from '../store/redis/causes';
import { createClock, type MeasuredClock } from '../store/redis/clock';
import { connect, disconnect, ready } from '../store/redis/connection';
import { createKeys, type Keys } from '../store/redis/keys';
import { ReplicatedRedis, unableToConfirm } from '../store/redis/replicated';
import { createScripts, type RedisClient, type RunScript, scriptSources } from '../store/redis/scripts';
import { chosenExtensions, type Extension, readersOf } from './extensions';
import type { Connection, Host } from './host';

const REDIS_WAIT_MS = 10_000;
/** Short, because a person is waiting. */
const OPERATOR_WAIT_MS = 3_000;

/** The exchange that a process has opened, and what it is opened on. */
export interface Store extends Exchange {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The extensions that EXTENSIONS and the other variables choose. */
  readonly extensions: readonly Extension[];
  readonly redis: RedisClient;
  readonly run: RunScript;
  /** The keys of the first partition, which also holds what the exchange has only once, such as names and the mode. */
  readonly keys: Keys;
  readonly clock: MeasuredClock;
  readonly scale: ChainScale;
  /** The readers of the outbox. */
  readonly readers: readonly string[];
  /** The queues of all jobs. */
  readonly queues: readonly QueueName[];
  /** Ends the connections; call it when nothing waits for an answer any more. */
  close(): void;
}

/** How an operator repairs a Redis that does not respond. */
const adviceOf = ({ redisGiven }: Config): string =>
  redisGiven ? 'start it, or correct REDIS_URL' : 'set REDIS_URL to the Redis that has the exchange';

async function openConnection(
  { config, log, metrics }: Pick<Host, 'config' | 'log' | 'metrics'>,
  waitMs: number,
  replicas = 0,
): Promise<Connection> {
  const warn = createLogThrottle(log);
  const redis = connect({
    urls: config.redisUrls,
    tlsCa: config.redisTlsCa,
    replicas,
    onError: (error) => warn({ err: logTextOf(error) }, 'redis'),
  });
  await ready(redis, waitMs).catch((error: Error) => {
    disconnect(redis);
    throw new Error(`Redis at ${hostsOf(config.redisUrls).join(', ')} ${error.message}; ${adviceOf(config)}`);
  });
  if (redis instanceof ReplicatedRedis) {
    const problem = await unableToConfirm(redis);
    if (problem !== null) {
      disconnect(redis);
      throw new ConfigError([{ variable: 'DURABILITY', given: 'replicated', problem }]);
    }
  }
  const run = createScripts(redis, scriptSources(config.funds), metrics.script);
  return { redis, run, close: () => disconnect(redis) };
}

/** Opens the exchange of a process: that on one Redis, wrapped by every extension. */
export async function createStore(config: Config, log: Logger, waitMs = REDIS_WAIT_MS): Promise<Store> {
  const extensions = chosenExtensions(config);
  const metrics = createMetrics();
  const host: Host = { config, log, metrics, connect: () => openConnection(host, waitMs) };
  const { redis, run, close } = await openConnection(host, waitMs, config.replicas);
  const keys = createKeys();
  const clock = createClock(() => runProbe(run, keys));
  const scale = chainScale(config.collateralDecimals);
  const readers = readersOf(extensions);
  const open = extensions.reduce<OpenExchange>((inner, { wrap }) => wrap?.(inner, host) ?? inner, exchangeOn);
  const exchange = await open({
    config,
    redis,
    run,
    keys,
    number: 0,
    count: 1,
    clock,
    scale,
    checksum: checksumAddress,
    grantMicro: config.grantOn === 'sign-in' ? micro(0) : config.paperGrantMicro,
    readers,
    auditChecks: extensions.flatMap(({ auditChecks }) => auditChecks ?? []),
    archive: NO_ARCHIVE,
    placing: null,
    ctfIds: (oracle, questionId) =>
      binaryMarketIds({ oracle, questionId, collateral: config.collateralAddress }),
    defaultOracle: checksumAddress(config.exchangeAddress),
    resolveDelayMs: config.resolveDelayMs,
    nodes: {
      examine: () => examineWalletNodes(config),
      contradiction: async () => (await examineWalletNodes(config))[0] ?? null,
    },
  }).catch((error: unknown) => {
    close();
    throw error;
  });
  exchange.durability.onEpoch((epoch, before) =>
    log.error({ epoch, before }, 'the store has a new epoch: what it answered before may be missing'),
  );
  return {
    ...exchange,
    config,
    log,
    metrics,
    extensions,
    redis,
    run,
    keys,
    clock,
    scale,
    readers,
    queues: queuesOf(
      exchange.partitions.length,
      extensions.flatMap(({ chores = [] }) => chores.map(({ name }) => name)),
      extensions.flatMap(({ queues }) => queues?.(config) ?? []),
    ),
    close() {
      exchange.operations.stop();
      clock.stop();
      close();
    },
  };
}

/** The same for a command that an operator runs (src/cli/). */
export async function openStore(config: Config, log: Logger): Promise<Store> {
  // Without the wait for replicas: the doctor and the repairs work while none is there.
  const store = await createStore({ ...config, replicas: 0 }, log, OPERATOR_WAIT_MS);
  // The doctor explains a Redis that runs no scripts.
  await store.clock.measure().catch(() => undefined);
  return { ...store, config };
}
