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
import { createPast, NO_PAST, type Past } from '../store/archive/past';
import { createAudit } from '../store/audit/audit';
import { createHistory } from '../store/candles/history';
import { createChainRequests } from '../store/chain/requests';
import { createHealth, runProbe } from '../store/health/health';
import { createOverview } from '../store/health/overview';
import { createStandings } from '../store/health/standing';
import { createJournal, type JournalOptions } from '../store/journal/journal';
import { createJournalReads } from '../store/journal/reads';
import { createJournalRebuild } from '../store/journal/rebuild';
import { createStoredLines } from '../store/journal/stored';
import { createMarkets } from '../store/markets/markets';
import { createAccountLogs } from '../store/outbox/account-log';
import { createOutboxLag } from '../store/outbox/lag';
import { createBroadcasts } from '../store/outbox/update-log';
import { createKeyStore } from '../store/people/api-keys';
import { createComments } from '../store/people/comments';
import { createActions } from '../store/people/operator-log';
import { createPresence } from '../store/people/presence';
import { createProfiles, joinWithoutGrant, type Profiles } from '../store/people/profiles';
import { createSessionStore } from '../store/people/sessions';
import { createKept } from '../store/reads/kept';
import { createMarketList } from '../store/reads/market-list';
import { createReads, type Reads } from '../store/reads/reads';
import { type Clock, createClock } from '../store/redis/clock';
import { connect, DEFAULT_PORT, disconnect, ready } from '../store/redis/connection';
import { type ShardKeys, shardKeys } from '../store/redis/keys';
import { createScripts, type RedisClient, type RunScript, scriptSources } from '../store/redis/scripts';
import { createMatches } from '../store/settlement/matches';
import { createSettlements, type Settlements } from '../store/settlement/settlements';
import { createEngine, type Engine } from '../store/verbs/engine';
import type { ChainPlacing } from '../store/verbs/place';
import { contractsOf } from './chain';
import { openBooks, otherFundsSeen } from './chain-books';
import { examineFunds } from './chain-examine';
import { marketsOnChain, walletsOnChain } from './chain-trade';

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

/** Both do without an archive where none is configured. */
function openArchive(
  { archiveUrl: url }: Config,
  log: Logger,
  door: Pick<Door, 'redis' | 'keys'>,
): { readonly archive: Archive | null; readonly past: Past } {
  if (url === null) return { archive: null, past: NO_PAST };
  const archive = createArchive({ url, onError: (error) => log.warn({ err: error.message }, 'archive') });
  return { archive, past: createPast({ ...door, archive }) };
}

/** Ends the connections to what is stored; nothing waits for an answer any more. */
export function closeStore({ redis, archive, books }: Pick<Store, 'redis' | 'archive' | 'books'>): void {
  books?.rpc.stop();
  disconnect(redis);
  void archive?.close().catch(() => undefined);
}

/** The connection, the scripts that run on it, and their keys. */
interface Door {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
}

function openProfiles(door: Door & { readonly clock: Clock }, { chain, grantOn, paperGrantMicro }: Config) {
  const joinGrantMicro = grantOn === 'sign-in' ? paperGrantMicro : 0;
  const profiles: Profiles = createProfiles({ ...door, joinGrantMicro });
  const { redis, keys, clock } = door;
  return chain === null ? profiles : { ...profiles, join: joinWithoutGrant(redis, keys, clock.now) };
}

/** The parts that store profiles, comments, sessions and keys. */
const createPeople = (door: Door & { readonly clock: Clock }, config: Config) => ({
  profiles: openProfiles(door, config),
  comments: createComments(door),
  presence: createPresence(door),
  sessionStore: createSessionStore(door),
  keyStore: createKeyStore({ ...door, most: KEYS_MAX }),
  actions: createActions(door),
});

interface JournalParts extends JournalOptions {
  readonly past: Past;
  readonly settlements: Settlements;
}

/** The parts that keep, read and correct journals. */
function createJournals(parts: JournalParts) {
  const journalWriter = createJournal(parts);
  const lines = createStoredLines(parts);
  return {
    journalWriter,
    journal: createJournalReads({ ...parts, lines, journal: journalWriter }),
    journalRebuild: createJournalRebuild({ ...parts, journal: journalWriter }),
  };
}

interface TradeParts extends Door {
  readonly clock: Clock;
  readonly reads: Reads;
  readonly scale: ChainScale;
  readonly past: Past;
  readonly grantMicro: Micro;
  readonly placing: ChainPlacing | null;
}

/** The verbs of orders and markets; with funds on a chain, some of them are requests to the worker or to the wallet. */
function openTrade(config: Config, { redis, run, keys, clock, reads, scale, ...parts }: TradeParts) {
  const { past, grantMicro, placing } = parts;
  const { chain, collateralAddress: collateral, matchMakersMax: makersMax } = config;
  const requests = createChainRequests({ redis, keys, now: clock.now });
  const own = createEngine({ run, keys, grantMicro, makersMax, past, chain: placing });
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
  const { funds } = config;
  const run = createScripts(redis, scriptSources(funds), metrics.script);
  const keys = shardKeys();
  const clock = createClock(() => runProbe(run, keys));
  const grantMicro = config.grantOn === 'sign-in' ? micro(0) : config.paperGrantMicro;
  const { archive, past } = openArchive(config, log, { redis, keys });
  const standings = createStandings({ redis, run, keys, promised: config.durability });
  const { doubts } = standings;
  const history = createHistory({ redis, run, keys, doubts, past });
  const kept = createKept({ redis, keys, clock, doubts });
  const paperReads = createReads({ redis, run, keys, clock, kept, doubts, grantMicro, history, past, funds });
  const scale = chainScale(config.collateralDecimals);
  const marketList = createMarketList({ redis, keys, clock, history, doubts, view: paperReads.view });
  const books =
    config.chain &&
    openBooks(config, config.chain, { redis, run, keys, scale, clock, reads: paperReads, marketList, log });
  const reads = books?.reads ?? paperReads;
  const { engine, markets, ownMarkets, chainRequests } = openTrade(config, {
    ...{ redis, run, keys, clock, reads, scale, past, grantMicro },
    placing: books?.placing ?? null,
  });
  const settlements = createSettlements({ redis, run, keys, past, funds });
  const matches = createMatches({ redis, run, keys, settlements, past, funds });
  standings.onEpoch((epoch, before) =>
    log.error({ epoch, before }, 'the store has a new epoch: what it answered before may be missing'),
  );
  const health = createHealth({ redis, run, keys, clock, standings });
  const outboxLag = createOutboxLag({ redis, keys, now: clock.now });
  return {
    redis,
    run,
    keys,
    archive,
    past,
    clock,
    engine,
    history,
    reads,
    markets,
    ownMarkets,
    chainRequests,
    books,
    settlements,
    matches,
    ...createJournals({ redis, run, keys, past, matches, settlements, doubts }),
    marketList,
    ...createPeople({ redis, run, keys, clock }, config),
    broadcasts: createBroadcasts({ redis, run, keys, past }),
    accounts: createAccountLogs({ redis, run, keys }),
    health,
    metrics,
    outboxLag,
    overview: createOverview({ redis, outboxLag, settlements, standings, now: clock.now }),
    standings,
    scale,
    audit: createAudit({ redis, run, keys, scale, past }),
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
