import { createArchive } from '../archive/archive';
import { checksumAddress } from '../auth/address';
import { KEYS_MAX } from '../auth/api-keys';
import { binaryMarketIds } from '../chain/ctf';
import type { Config } from '../config/load';
import type { Archive } from '../exchange/archive';
import type { MarketId } from '../exchange/market';
import { type ChainScale, chainScale } from '../exchange/order';
import { type Micro, micro } from '../exchange/units';
import type { Logger } from '../log';
import { createMetrics, type Metrics } from '../metrics/metrics';
import { archiveHealth } from '../store/archive/answers';
import type { Past } from '../store/archive/past';
import { createChainRequests } from '../store/chain/requests';
import type { Check } from '../store/health/doctor';
import type { DurabilityChecks } from '../store/health/durability';
import { createHealth, runProbe } from '../store/health/health';
import { examineWatched } from '../store/health/watched';
import { createMarkets, type Markets } from '../store/markets/markets';
import type { BroadcastReads } from '../store/outbox/update-log';
import { createKeyStore } from '../store/people/api-keys';
import { createSessionStore } from '../store/people/sessions';
import type { Reads } from '../store/reads/reads';
import { type Clock, createClock } from '../store/redis/clock';
import { connect, DEFAULT_PORT, disconnect, ready } from '../store/redis/connection';
import { type ShardKeys, shardKeys } from '../store/redis/keys';
import { createScripts, type RedisClient, type RunScript, scriptSources } from '../store/redis/scripts';
import { type Directory, partOf } from '../store/shards/directory';
import { healthOverShards } from '../store/shards/health';
import { createShardWatch } from '../store/shards/shard-watch';
import type { Channels } from '../store/verbs/channels';
import { createEngine, type Engine } from '../store/verbs/engine';
import type { ChainPlacing } from '../store/verbs/place';
import { contractsOf } from './chain';
import { openBooks, otherFundsSeen } from './chain-books';
import { examineFunds } from './chain-examine';
import { marketsOnChain, walletsOnChain } from './chain-trade';
import { openOverShards } from './over-shards';
import { openShard, type ShardParts, type SharedParts } from './shards';

const REDIS_WAIT_MS = 10_000;
/** Short, because a person is waiting. */
const OPERATOR_WAIT_MS = 3_000;

/** The address of Redis, without user and password. */
const hostsOf = ({ redisUrls }: Config): string =>
  redisUrls
    .map((url) => new URL(url))
    .map(({ hostname, port }) => `${hostname}:${port || DEFAULT_PORT}`)
    .join(', ');

/** Tells an operator how to fix a Redis that does not respond. */
const adviceOf = ({ redisGiven }: Config): string =>
  redisGiven ? 'start it, or correct REDIS_URL' : 'set REDIS_URL to the Redis that has the exchange';

async function openConnection(config: Config, log: Logger, waitMs: number): Promise<RedisClient> {
  const redis = connect({
    urls: config.redisUrls,
    tlsCa: config.redisTlsCa,
    onError: (error) => log.warn({ err: error.message }, 'redis'),
  });
  await ready(redis, waitMs).catch((error: Error) => {
    disconnect(redis);
    throw new Error(`Redis at ${hostsOf(config)} ${error.message}; ${adviceOf(config)}`);
  });
  return redis;
}

/** Null where none is configured. */
const openArchive = ({ archiveUrl: url, shards }: Config, shard: number, log: Logger): Archive | null =>
  url === null
    ? null
    : createArchive({
        url,
        shard,
        shards,
        onError: (error) => log.warn({ err: error.message }, 'archive'),
      });

type Closing = Pick<Store, 'redis' | 'waiting' | 'shards' | 'books' | 'shardWatch'>;

/** Ends the connections to what is stored; nothing waits for an answer any more. */
export function closeStore({ redis, waiting, shards, books, shardWatch }: Closing): void {
  shardWatch.stop();
  books?.rpc.stop();
  disconnect(redis);
  if (waiting) disconnect(waiting.redis);
  for (const { archive } of shards) void archive?.close().catch(() => undefined);
}

/** The connection, the scripts that run on it, and their keys. */
interface Door {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
}

interface TradeParts extends Door {
  readonly clock: Clock;
  readonly reads: Reads;
  readonly scale: ChainScale;
  readonly past: Past;
  readonly grantMicro: Micro;
  readonly placing: ChainPlacing | null;
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

/** The verbs of orders and markets; with funds on a chain, some of them are requests to the worker or to the wallet. */
function openTrade(config: Config, { redis, run, keys, clock, reads, scale, ...parts }: TradeParts) {
  const { past, grantMicro, placing } = parts;
  const { chain, matchMakersMax: makersMax } = config;
  const requests = createChainRequests({ redis, keys, now: clock.now });
  const own = createEngine({ run, keys, grantMicro, makersMax, past, chain: placing });
  const engine: Engine =
    placing === null
      ? own
      : { ...own, ...walletsOnChain(config, { requests, reads, scale, see: placing.see }) };
  const ownMarkets = openMarkets(config, engine, clock);
  const markets =
    chain === null
      ? ownMarkets
      : marketsOnChain(ownMarkets, {
          ...chain,
          requests,
          view: reads.view,
          contracts: contractsOf(config),
          clock: clock.now,
          resolveDelayMs: config.resolveDelayMs,
        });
  return { engine, markets, ownMarkets, chainRequests: requests };
}

interface Opened extends Omit<SharedParts, 'archive'> {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly parts: readonly ShardParts[];
  /** Null with one shard. */
  readonly waiting: Pick<Door, 'redis' | 'run'> | null;
}

/** The one shard is the store. */
function openOne(config: Config, { log, parts, ...shared }: Opened) {
  const shard = parts[0] as ShardParts;
  const { redis, run, clock, scale, grantMicro } = shared;
  const { keys, past, marketList } = shard;
  const standings: DurabilityChecks = shard.standings;
  const books =
    config.chain &&
    openBooks(config, config.chain, { redis, run, keys, scale, clock, reads: shard.reads, marketList, log });
  const reads = books?.reads ?? shard.reads;
  const trade = openTrade(config, {
    redis,
    run,
    keys,
    clock,
    reads,
    scale,
    past,
    grantMicro,
    placing: books?.placing ?? null,
  });
  const keysOf = async (_: MarketId): Promise<ShardKeys> => keys;
  const shardOf = async (_: MarketId): Promise<number | null> => null;
  const broadcasts: BroadcastReads = shard.broadcasts;
  return {
    ...shard,
    ...trade,
    standings,
    books,
    reads,
    broadcasts,
    keysOf,
    shardOf,
    finishListing: null as (() => Promise<void>) | null,
    channels: null as Channels | null,
    /** Which shard has a market; null with one shard. */
    directory: null as Directory | null,
    /** Each shard by itself, for those who work for one at a time. */
    shards: [{ ...shard, ...trade, reads }],
    health: createHealth({
      redis,
      run,
      keys,
      clock,
      standings,
      archive: () => archiveHealth({ ...shard, redis }),
    }),
  };
}

/** The shards as one exchange. Routes call the parts over all of them, and the parts of the first for what only it has. */
function openSeveral(config: Config, { parts, ...shared }: Opened): ReturnType<typeof openOne> {
  const { redis, run, clock } = shared;
  const first = parts[0] as ShardParts;
  const { engines, engine, directory, listing, ...over } = openOverShards(config, shared, parts);
  const markets = openMarkets(config, engine, clock);
  const chainRequests = createChainRequests({ redis, keys: first.keys, now: clock.now });
  const shards = parts.map((part, shard) => {
    const own = engines[shard] as Engine;
    const itsMarkets = openMarkets(config, own, clock);
    return { ...part, engine: own, markets: itsMarkets, ownMarkets: itsMarkets, chainRequests };
  });
  const healths = parts.map(({ keys, standings, archive: own }) =>
    createHealth({
      redis,
      run,
      keys,
      clock,
      standings,
      archive: () => archiveHealth({ redis, keys, archive: own }),
    }),
  );
  return {
    ...first,
    ...over,
    engine,
    markets,
    ownMarkets: markets,
    chainRequests,
    shards,
    books: null,
    finishListing: listing.finish,
    directory,
    shardOf: directory.shardOf,
    keysOf: async (id) => (await partOf(directory, parts, id)).keys,
    health: healthOverShards(healths, over.standings),
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

/** The nodes of the chain that this process asks last. */
const nodesSetAside = (books: Store['books']): Check[] =>
  (books?.rpc.health() ?? []).flatMap(({ name, aside }): Check[] =>
    aside === null
      ? []
      : [{ name: `node ${name}`, verdict: 'warn', detail: `this process asks it last: ${aside}` }],
  );

/** The parts that web and worker share: the store on one connection. */
export async function createStore(config: Config, log: Logger, waitMs = REDIS_WAIT_MS) {
  const redis = await openConnection(config, log, waitMs);
  const nodes = await openWaiting(config, log, waitMs, redis);
  const metrics = createMetrics();
  const scriptsOn = (client: RedisClient): RunScript =>
    createScripts(client, scriptSources(config.funds), metrics.script);
  const run = scriptsOn(redis);
  const waiting = nodes && { redis: nodes, run: scriptsOn(nodes) };
  const clock = createClock(() => runProbe(run, shardKeys()));
  const grantMicro = config.grantOn === 'sign-in' ? micro(0) : config.paperGrantMicro;
  const scale = chainScale(config.collateralDecimals);
  const shared = { config, redis, run, clock, scale, grantMicro };
  const parts = Array.from({ length: config.shards }, (_, shard) =>
    openShard(
      // The time of the exchange is that of its first shard.
      shard === 0
        ? { ...shared, archive: openArchive(config, shard, log) }
        : { ...shared, clock: { now: clock.now, observe() {} }, archive: openArchive(config, shard, log) },
      shardKeys(shard),
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
  const keysOfShards = parts.map(({ keys }) => keys);
  return {
    ...store,
    /** What an operator should know of; each check that is not ok needs a look. */
    watched: async (): Promise<readonly Check[]> => [
      ...(await examineWatched(redis, keysOfShards, clock.now())),
      ...nodesSetAside(store.books),
    ],
    redis,
    run,
    waiting,
    clock,
    metrics,
    scale,
    shardWatch: createShardWatch({ redis, keys: shardKeys(), count: config.shards }),
    sessionStore: createSessionStore({ redis, run }),
    keyStore: createKeyStore({ redis, run, most: KEYS_MAX }),
  };
}

export type Store = Awaited<ReturnType<typeof createStore>>;

/** The store alone, for commands that an operator runs (src/cli/). */
export async function openStore(config: Config, log: Logger) {
  const store = await createStore(config, log, OPERATOR_WAIT_MS);
  // The doctor explains a Redis that runs no scripts.
  await store.clock.measure().catch(() => undefined);
  return {
    ...store,
    config,
    otherFunds: () => otherFundsSeen(config, store),
    examineFunds: () => examineFunds(config, store),
    close: () => closeStore(store),
  };
}
