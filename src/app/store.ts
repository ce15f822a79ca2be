import { createArchive } from '../archive/archive';
import { checksumAddress } from '../auth/address';
import { KEYS_MAX } from '../auth/api-keys';
import { binaryMarketIds } from '../chain/ctf';
import type { Config } from '../config/load';
import type { Archive } from '../exchange/archive';
import { type ChainScale, chainScale } from '../exchange/order';
import { type Micro, micro } from '../exchange/units';
import type { Logger } from '../log';
import { createMetrics } from '../metrics/metrics';
import type { Past } from '../store/archive/past';
import type { TraceClaims } from '../store/archive/trace-claims';
import { createChainRequests } from '../store/chain/requests';
import { createHealth, runProbe } from '../store/health/health';
import { createOverview } from '../store/health/overview';
import { createMarkets } from '../store/markets/markets';
import { createKeyStore } from '../store/people/api-keys';
import { createSessionStore } from '../store/people/sessions';
import type { Reads } from '../store/reads/reads';
import { type Clock, createClock } from '../store/redis/clock';
import { connect, DEFAULT_PORT, disconnect, ready } from '../store/redis/connection';
import { type ShardKeys, shardKeys } from '../store/redis/keys';
import { createScripts, type RedisClient, type RunScript, scriptSources } from '../store/redis/scripts';
import { createEngine, type Engine } from '../store/verbs/engine';
import type { ChainPlacing } from '../store/verbs/place';
import { contractsOf } from './chain';
import { openBooks, otherFundsSeen } from './chain-books';
import { examineFunds } from './chain-examine';
import { marketsOnChain, walletsOnChain } from './chain-trade';
import { openShard } from './shards';

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
        ...{ url, shard, shards },
        onError: (error) => log.warn({ err: error.message }, 'archive'),
      });

/** Ends the connections to what is stored; nothing waits for an answer any more. */
export function closeStore({ redis, shards, books }: Pick<Store, 'redis' | 'shards' | 'books'>): void {
  books?.rpc.stop();
  disconnect(redis);
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
  readonly claims: TraceClaims;
  readonly grantMicro: Micro;
  readonly placing: ChainPlacing | null;
}

/** The verbs of orders and markets; with funds on a chain, some of them are requests to the worker or to the wallet. */
function openTrade(config: Config, { redis, run, keys, clock, reads, scale, ...parts }: TradeParts) {
  const { past, claims, grantMicro, placing } = parts;
  const { chain, collateralAddress: collateral, matchMakersMax: makersMax } = config;
  const requests = createChainRequests({ redis, keys, now: clock.now });
  const own = createEngine({ run, keys, grantMicro, makersMax, past, claims, chain: placing });
  const engine: Engine =
    placing === null
      ? own
      : { ...own, ...walletsOnChain(config, { requests, reads, scale, see: placing.see }) };
  const ownMarkets = createMarkets({
    engine,
    clock,
    ctfIds: (oracle, questionId) => binaryMarketIds({ oracle, questionId, collateral }),
    defaultOracle: checksumAddress(chain?.oracleAddress ?? config.exchangeAddress),
  });
  const markets =
    chain === null
      ? ownMarkets
      : marketsOnChain(ownMarkets, {
          ...chain,
          requests,
          view: reads.view,
          contracts: contractsOf(config),
        });
  return { engine, markets, ownMarkets, chainRequests: requests };
}

/** The parts that web and worker share: the store on one connection. */
export async function createStore(config: Config, log: Logger, waitMs = REDIS_WAIT_MS) {
  const redis = await openConnection(config, log, waitMs);
  const metrics = createMetrics();
  const run = createScripts(redis, scriptSources(config.funds), metrics.script);
  const keys = shardKeys();
  const clock = createClock(() => runProbe(run, keys));
  const grantMicro = config.grantOn === 'sign-in' ? micro(0) : config.paperGrantMicro;
  const archive = openArchive(config, 0, log);
  const scale = chainScale(config.collateralDecimals);
  const shard = openShard({ config, redis, run, clock, scale, grantMicro, archive }, keys);
  const { past, claims, marketList, settlements, standings, outboxLag } = shard;
  const books =
    config.chain &&
    openBooks(config, config.chain, { redis, run, keys, scale, clock, reads: shard.reads, marketList, log });
  const reads = books?.reads ?? shard.reads;
  const trade = openTrade(config, {
    ...{ redis, run, keys, clock, reads, scale, past, claims, grantMicro },
    placing: books?.placing ?? null,
  });
  standings.onEpoch((epoch, before) =>
    log.error({ epoch, before }, 'the store has a new epoch: what it answered before may be missing'),
  );
  return {
    ...shard,
    ...trade,
    /** Each shard by itself, for those who work for one at a time. */
    shards: [{ ...shard, ...trade, reads }],
    ...{ redis, run, archive, clock, metrics, scale, books, reads },
    sessionStore: createSessionStore({ redis, run }),
    keyStore: createKeyStore({ redis, run, most: KEYS_MAX }),
    health: createHealth({ redis, run, keys, clock, standings }),
    overview: createOverview({ redis, outboxLag, settlements, standings, now: clock.now }),
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
