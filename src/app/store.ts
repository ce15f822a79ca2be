import { checksumAddress } from '../auth/address';
import { binaryMarketIds } from '../chain/ctf';
import { examineWalletNodes } from '../chain/examine';
import type { Config } from '../config/load';
import { ConfigError } from '../config/report';
import type { MarketId } from '../exchange/market';
import { chainScale } from '../exchange/order';
import { micro } from '../exchange/units';
import { openArchives } from '../extensions/archive/open';
import { openBooks } from '../extensions/chain/books';
import { queuesOf } from '../jobs/queues';
import type { Logger } from '../log';
import { createMetrics, type Metrics } from '../metrics/metrics';
import { otherFundsSeen } from '../store/chain/funds';
import type { Check } from '../store/health/doctor';
import type { DurabilityChecks } from '../store/health/durability';
import { createHealth, type Health, runProbe } from '../store/health/health';
import { examineWatched } from '../store/health/watched';
import { createMarkets, type Markets } from '../store/markets/markets';
import type { BroadcastReads } from '../store/outbox/update-log';
import { hostsOf } from '../store/redis/address';
import { type Clock, createClock } from '../store/redis/clock';
import { connect, disconnect, ready } from '../store/redis/connection';
import { createKeys, type Keys } from '../store/redis/keys';
import { ReplicatedRedis, unableToConfirm } from '../store/redis/replicated';
import { createScripts, type RedisClient, type RunScript, scriptSources } from '../store/redis/scripts';
import { openShard, type ShardParts, type SharedParts } from '../store/shard';
import { partOf } from '../store/shards/directory';
import type { Silences } from '../store/shards/doctor';
import { type BetweenShards, openOverShards } from '../store/shards/exchange';
import { healthOverShards } from '../store/shards/health';
import { createShardWatch } from '../store/shards/shard-watch';
import { createEngine, type Engine } from '../store/verbs/engine';
import { auditChecksOf, type ChainBooks, choresOf, chosenExtensions, readersOf } from './extensions';

const REDIS_WAIT_MS = 10_000;
/** Short, because a person is waiting. */
const OPERATOR_WAIT_MS = 3_000;

/** Tells an operator how to fix a Redis that does not respond. */
const adviceOf = ({ redisGiven }: Config): string =>
  redisGiven ? 'start it, or correct REDIS_URL' : 'set REDIS_URL to the Redis that has the exchange';

async function openConnection(
  config: Config,
  log: Logger,
  waitMs: number,
  replicas = 0,
): Promise<RedisClient> {
  const redis = connect({
    urls: config.redisUrls,
    tlsCa: config.redisTlsCa,
    replicas,
    onError: (error) => log.warn({ err: error.message }, 'redis'),
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
  return redis;
}

type Closing = Pick<Store, 'redis' | 'waiting' | 'archives' | 'books' | 'shardWatch'>;

/** Ends the connections to what is stored; nothing waits for an answer any more. */
export function closeStore({ redis, waiting, archives, books, shardWatch }: Closing): void {
  shardWatch.stop();
  books?.stop();
  disconnect(redis);
  if (waiting) disconnect(waiting.redis);
  archives.stop();
}

interface Verbs {
  readonly engine: Engine;
  readonly markets: Markets;
  /** The markets of Redis; those of `markets` may first have to be on a chain. */
  readonly ownMarkets: Markets;
}

/** Everything that is made of shards: the parts of the only one, or of several as one exchange. */
interface ExchangeParts extends Verbs, Omit<ShardParts, 'standings' | 'broadcasts'> {
  readonly standings: DurabilityChecks;
  readonly broadcasts: BroadcastReads;
  /** Null with paper funds. */
  readonly books: ChainBooks | null;
  /** The keys of the shard that has the market. */
  readonly keysOf: (id: MarketId) => Promise<Keys>;
  /** What operators see of the shards; null with one. */
  readonly shardOf: (id: MarketId) => Promise<number | null>;
  /** Null with one shard. */
  readonly betweenShards: BetweenShards | null;
  /** Each shard by itself, for those who work for one at a time. */
  readonly shards: readonly (ShardParts & Verbs)[];
  readonly health: () => Promise<Health>;
}

interface Opened extends Omit<SharedParts, 'archive'> {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly parts: readonly ShardParts[];
  /** The connection and the scripts for what waits for replicas; null with one shard. */
  readonly waiting: { readonly redis: RedisClient; readonly run: RunScript } | null;
}

const openMarkets = (config: Config, engine: Engine, clock: Clock): Markets =>
  createMarkets({
    engine,
    clock,
    ctfIds: (oracle, questionId) =>
      binaryMarketIds({ oracle, questionId, collateral: config.collateralAddress }),
    defaultOracle: checksumAddress(config.chain?.oracleAddress ?? config.exchangeAddress),
    shardCount: config.shards,
    // With funds on a chain the report to the chain waits, and the result follows it.
    resolveDelayMs: config.chain ? 0 : config.resolveDelayMs,
  });

const openHealth = (shared: Omit<SharedParts, 'archive'>, shard: ShardParts) =>
  createHealth({
    ...shared,
    keys: shard.keys,
    standings: shard.standings,
    archive: shard.archive,
  });

/** The one shard is the exchange. */
function openOne(config: Config, { log, parts, ...shared }: Opened): ExchangeParts {
  const shard = parts[0] as ShardParts;
  const books = config.chain && openBooks(config, config.chain, { ...shared, ...shard, log });
  const own = createEngine({
    ...shared,
    keys: shard.keys,
    archivedReads: shard.archivedReads,
    makersMax: config.matchMakersMax,
    chain: books?.placing ?? null,
  });
  const engine = books?.engine(own) ?? own;
  const ownMarkets = openMarkets(config, engine, shared.clock);
  const markets = books?.markets(ownMarkets) ?? ownMarkets;
  const whole = { ...shard, engine, markets, ownMarkets, reads: books?.reads ?? shard.reads };
  return {
    ...whole,
    books,
    keysOf: async () => shard.keys,
    shardOf: async () => null,
    betweenShards: null,
    shards: [whole],
    health: openHealth(shared, shard),
  };
}

/** The shards as one exchange. Routes call the parts over all of them, and the parts of the first for what only it has. */
function openSeveral(config: Config, { parts, metrics, ...shared }: Opened): ExchangeParts {
  const first = parts[0] as ShardParts;
  const { engines, ...over } = openOverShards(
    config,
    { ...shared, onSent: metrics.transferred, onPull: metrics.pulled },
    parts,
  );
  const { directory } = over.betweenShards;
  const markets = openMarkets(config, over.engine, shared.clock);
  const shards = parts.map((part, shard) => {
    const engine = engines[shard] as Engine;
    const ownMarkets = openMarkets(config, engine, shared.clock);
    return { ...part, engine, markets: ownMarkets, ownMarkets };
  });
  return {
    ...first,
    ...over,
    markets,
    ownMarkets: markets,
    shards,
    books: null,
    shardOf: directory.shardOf,
    keysOf: async (id) => (await partOf(directory, parts, id)).keys,
    health: healthOverShards(
      parts.map((part) => openHealth(shared, part)),
      over.standings,
    ),
  };
}

/** With several shards, a connection for what waits for replicas (src/store/verbs/channels.ts). */
async function openWaiting(config: Config, log: Logger, waitMs: number, beside: RedisClient) {
  if (config.shards === 1) return null;
  return openConnection(config, log, waitMs).catch((error: Error) => {
    disconnect(beside);
    throw error;
  });
}

/** The parts that web and worker share: the store on one connection, or on several that wait for replicas. */
export async function createStore(config: Config, log: Logger, waitMs = REDIS_WAIT_MS) {
  const extensions = chosenExtensions(config);
  const redis = await openConnection(config, log, waitMs, config.replicas);
  const nodes = await openWaiting(config, log, waitMs, redis);
  const metrics = createMetrics();
  const scriptsOn = (client: RedisClient): RunScript =>
    createScripts(client, scriptSources(config.funds), metrics.script);
  const run = scriptsOn(redis);
  const waiting = nodes && { redis: nodes, run: scriptsOn(nodes) };
  const clock = createClock(() => runProbe(run, createKeys()));
  const grantMicro = config.grantOn === 'sign-in' ? micro(0) : config.paperGrantMicro;
  const scale = chainScale(config.collateralDecimals);
  const readers = readersOf(extensions);
  const shared = {
    config,
    redis,
    run,
    clock,
    scale,
    grantMicro,
    readers,
    auditChecks: auditChecksOf(extensions),
    checksum: checksumAddress,
  };
  const keysOfShards = Array.from({ length: config.shards }, (_, shard) => createKeys(shard));
  const archives = openArchives(config, { redis, run, clock, log, readers, shards: keysOfShards });
  const parts = archives.shards.map((archive, shard) =>
    // The time of the exchange is that of its first shard.
    openShard(
      { ...shared, archive, ...(shard > 0 && { clock: { now: clock.now, observe() {} } }) },
      createKeys(shard),
    ),
  );
  const store = (parts.length === 1 ? openOne : openSeveral)(config, {
    ...shared,
    log,
    metrics,
    parts,
    waiting,
  });
  const { standings } = store;
  standings.onEpoch((epoch, before) =>
    log.error({ epoch, before }, 'the store has a new epoch: what it answered before may be missing'),
  );
  return {
    ...store,
    archives,
    /** What an operator should know of; each check that is not ok needs attention. */
    watched: async (): Promise<readonly Check[]> => [
      ...(await examineWatched(redis, keysOfShards, readers, clock.now())),
      ...(store.books?.watched() ?? []),
    ],
    redis,
    run,
    waiting,
    clock,
    metrics,
    scale,
    readers,
    /** The queues of all jobs. */
    queueNames: queuesOf(
      config.shards,
      choresOf(extensions).map(({ name }) => name),
    ),
    shardWatch: createShardWatch({ redis, keys: createKeys(), count: config.shards }),
  };
}

export type Store = Awaited<ReturnType<typeof createStore>>;

/** The store alone, for commands that an operator runs (src/cli/). */
export async function openStore(config: Config, log: Logger) {
  // Without the wait for replicas: the doctor and the repairs work while none is there.
  const store = await createStore({ ...config, replicas: 0 }, log, OPERATOR_WAIT_MS);
  // The doctor explains a Redis that runs no scripts.
  await store.clock.measure().catch(() => undefined);
  return {
    ...store,
    config,
    otherFunds: () => otherFundsSeen(config, store),
    examineExtensions: async (silences: Silences): Promise<readonly Check[]> => {
      const found = chosenExtensions(config).map((extension) => extension.examine?.(store, silences) ?? []);
      return (await Promise.all(found)).flat();
    },
    examineFunds: (): Promise<readonly Check[]> => store.books?.examine() ?? examineWalletNodes(config),
    close: () => closeStore(store),
  };
}
