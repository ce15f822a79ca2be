import path from 'node:path';
import { checksumAddress } from './auth/address';
import { createOrderVerifier } from './auth/order-signature';
import type { Backend } from './auth/recovery';
import { createSessions } from './auth/sessions';
import { createSignIn } from './auth/siwe';
import { createTokens } from './auth/tokens';
import { binaryMarketIds } from './chain/ctf';
import { type Config, ConfigError } from './config';
import { chainScale } from './exchange/order';
import { loadPage } from './http/page';
import { createHttp, type Http } from './http/server';
import { createShedding } from './http/shedding';
import { createBoard } from './jobs/board';
import { createChores } from './jobs/chores';
import { createQueueCounts } from './jobs/queue-counts';
import { startSchedule } from './jobs/schedule';
import { startSettlement } from './jobs/settlement';
import type { Logger } from './log';
import { watchEventLoop } from './metrics/event-loop';
import { createMetrics } from './metrics/metrics';
import { serveMetrics } from './metrics/server';
import { observe, observeWeb } from './observe';
import { createRealtime } from './realtime/realtime';
import { createActions } from './store/actions';
import { createAgenda } from './store/agenda';
import { createAudit } from './store/audit/audit';
import { watchBacklog } from './store/backlog';
import { createCandleWriter } from './store/candle-writer';
import { createClock } from './store/clock';
import { createComments } from './store/comments';
import { connect, disconnect, ready } from './store/connection';
import { createEngine } from './store/engine';
import { createHealth } from './store/health';
import { createHistory } from './store/history';
import { createRaisedNonces } from './store/invalidate';
import { createJournal } from './store/journal';
import { createJournalReads } from './store/journal-reads';
import { shardKeys } from './store/keys';
import { createMarketList } from './store/market-list';
import { createMarkets } from './store/markets';
import { createMatches } from './store/matches';
import { createNonceStore } from './store/nonces';
import { createOutbox } from './store/outbox';
import { createOutboxLag } from './store/outbox-lag';
import { createProfiles } from './store/profiles';
import { createReads } from './store/reads';
import { createScripts, scriptSources } from './store/scripts';
import { createSessionStore } from './store/sessions';
import { createSettlements } from './store/settlements';
import { createStandings, weaknessOf } from './store/standing';
import { PATHS } from './wire/paths';

/** Something that was started and can be stopped; stopping twice is stopping once. */
export interface Running {
  /** Fails /readyz and serves on, so that a load balancer turns away before `stop`. */
  drain?(): void;
  stop(graceMs: number): Promise<void>;
}

/** A web process and the port it listens on. */
export interface Web extends Running {
  readonly port: number;
  readonly endpoints: Http['endpoints'];
  drain(): void;
}

/** For benchmarks: verify with this backend instead of the fastest that works. */
export interface WebOptions {
  readonly backend?: Backend;
}

const REDIS_WAIT_MS = 10_000;
/** A person waits. */
const OPERATOR_WAIT_MS = 3_000;
/** What `npm run build` made of src/page, for the sources and the build alike. */
const PAGE_FOLDER = path.join(__dirname, '../dist/page');

/** What web and worker share: the store on one connection. */
export async function createStore(config: Config, log: Logger, waitMs = REDIS_WAIT_MS) {
  const redis = connect({
    urls: config.redisUrls,
    onError: (error) => log.warn({ err: error.message }, 'redis'),
  });
  await ready(redis, waitMs).catch((error: unknown) => {
    disconnect(redis);
    throw error;
  });
  const metrics = createMetrics();
  const run = createScripts(redis, scriptSources(), metrics.script);
  const keys = shardKeys();
  const clock = createClock();
  const grantMicro = config.paperGrantMicro;
  const engine = createEngine({ run, keys, grantMicro, makersMax: config.matchMakersMax });
  const history = createHistory({ redis, run, keys });
  const reads = createReads({ redis, run, keys, clock, grantMicro, history });
  const markets = createMarkets({
    engine,
    clock,
    ctfIds: (oracle, questionId) =>
      binaryMarketIds({ oracle, questionId, collateral: config.collateralAddress }),
    defaultOracle: checksumAddress(config.exchangeAddress),
  });
  const settlements = createSettlements({ redis, run, keys });
  const actions = createActions({ run, keys });
  const matches = createMatches({ redis, run, keys, settlements });
  const journalWriter = createJournal({ redis, run, keys, matches });
  const journal = createJournalReads({ redis, keys, journal: journalWriter, matches, settlements });
  const standings = createStandings({ redis, run, keys });
  standings.onEpoch((epoch, before) =>
    log.error({ epoch, before }, 'the store has a new epoch: what it answered before may be missing'),
  );
  const health = createHealth({ redis, run, keys, clock, standings });
  const outboxLag = createOutboxLag({ redis, keys, now: clock.now });
  const scale = chainScale(config.collateralDecimals);
  const audit = createAudit({ redis, run, keys, scale });
  return {
    redis,
    run,
    keys,
    clock,
    engine,
    history,
    reads,
    markets,
    settlements,
    matches,
    journalWriter,
    journal,
    marketList: createMarketList({ redis, keys, clock, history, view: reads.view }),
    profiles: createProfiles({ redis, run, keys }),
    comments: createComments({ run, keys }),
    actions,
    health,
    metrics,
    outboxLag,
    standings,
    scale,
    audit,
  };
}

/** Production keeps what it answered, or does not start. */
async function checkStanding(config: Config, { redis, standings }: Store): Promise<void> {
  const weakness = weaknessOf(await standings.refresh());
  standings.start();
  if (config.nodeEnv !== 'production' || config.allowWeakDurability || weakness === null) return;
  standings.stop();
  disconnect(redis);
  throw new ConfigError([
    { variable: 'REDIS_URL', given: '(hidden)', problem: `${weakness}, or ALLOW_WEAK_DURABILITY=1` },
  ]);
}

type Store = Awaited<ReturnType<typeof createStore>>;

/** A stateless web replica, listening when it resolves. Rejects when Redis does not answer or the port is taken. */
export async function startWeb(config: Config, log: Logger, options: WebOptions = {}): Promise<Web> {
  const store = await createStore(config, log);
  await checkStanding(config, store);
  const { redis, run, metrics, standings } = store;
  const verifier = await createOrderVerifier({
    name: config.eip712Name,
    chainId: config.chainId,
    verifyingContract: config.exchangeAddress,
    otherContracts: [config.collateralAddress, config.conditionalTokensAddress],
    ...options,
  });
  const tokens = createTokens({
    secrets: config.jwtSecrets,
    issuer: config.publicBaseUrl,
    audience: `chain:${config.chainId}`,
  });
  const board =
    config.adminToken === null
      ? null
      : createBoard({
          connection: redis,
          basePath: PATHS.adminQueues,
          onError: (error) => log.warn({ err: error.message }, 'board'),
        });
  const eventLoop = watchEventLoop();
  const queues = createQueueCounts(redis, (error) => log.debug({ err: error.message }, 'queues'));
  const realtime = createRealtime({
    ...store,
    config,
    log,
    sessions: createSessions({ tokens, store: createSessionStore({ redis, run }) }),
  });
  const shedding = createShedding(eventLoop.delayMs);
  const backlog = watchBacklog(store.outboxLag);
  const http = createHttp({
    ...store,
    shedding,
    isBacklogged: backlog.isTooLong,
    standing: standings.current,
    observer: metrics,
    metrics: metrics.expose,
    board: board?.handler ?? null,
    page: config.serveUi ? loadPage(PAGE_FOLDER) : new Map(),
    config,
    log,
    verifier,
    sessions: realtime.sessions,
    signIn: createSignIn({
      domain: new URL(config.publicBaseUrl).host,
      uri: config.publicBaseUrl,
      chainId: config.chainId,
      nonces: createNonceStore({ run }),
    }),
  });
  observe('web', { ...store, config, eventLoop, queues });
  observeWeb(metrics, verifier.backend, () => ({ ...realtime.stats(), inFlight: shedding.inFlight() }));
  standings.onEpoch(realtime.newEpoch);
  realtime.attach(http.server);
  const stop = async (graceMs: number) => {
    await realtime.stop(graceMs);
    await http.stop(graceMs);
    await Promise.all([board?.stop(), queues.stop()]);
    for (const part of [eventLoop, backlog, standings]) part.stop();
    disconnect(redis);
  };
  try {
    const port = await http.listen(config.port);
    realtime.start();
    backlog.start();
    log.info({ port, network: config.network, verification: verifier.backend }, 'web is listening');
    return { port, endpoints: http.endpoints, drain: http.drain, stop };
  } catch (error) {
    await realtime.stop(0);
    disconnect(redis);
    throw error;
  }
}

/** A worker: what is done by the clock. Any number may run. */
export async function startWorker(config: Config, log: Logger): Promise<Running> {
  const store = await createStore(config, log);
  await checkStanding(config, store);
  const outbox = createOutbox(store);
  const connection = connect({
    urls: config.redisUrls,
    blocking: true,
    onError: (error) => log.warn({ err: error.message }, 'redis'),
  });
  const settlement = startSettlement({
    ...store,
    connection,
    onError: (error, what) => log.warn({ err: error.message }, what),
  });
  const chores = createChores({
    ...store,
    agenda: createAgenda(store),
    outbox,
    candles: createCandleWriter(store),
    raisedNonces: createRaisedNonces(store),
  });
  const schedule = await startSchedule({
    connection,
    chores: [...chores, settlement.reconciler],
    onError: (error, chore) => log.warn({ err: error.message, chore }, 'chore'),
  });
  // Jobs of matches that are gone find nothing; matches whose jobs are gone are found here, without waiting for the clock.
  store.standings.onEpoch(() => {
    settlement.reconciler.run().catch((error: unknown) => log.warn({ err: String(error) }, 'reconciling'));
  });
  const eventLoop = watchEventLoop();
  const queues = createQueueCounts(connection, (error) => log.debug({ err: error.message }, 'queues'));
  observe('worker', { ...store, config, eventLoop, queues });
  const { metricsPort } = config;
  const metrics = metricsPort === null ? null : await serveMetrics(metricsPort, store.metrics.expose);
  log.info({ network: config.network, metricsPort: metrics?.port }, 'worker is running');
  return {
    async stop() {
      eventLoop.stop();
      store.standings.stop();
      await Promise.all([schedule.stop(), settlement.stop(), queues.stop(), metrics?.stop()]);
      disconnect(connection);
      disconnect(store.redis);
    },
  };
}

/** The store by itself, for what an operator does by hand (src/cli/). */
export async function openStore(config: Config, log: Logger) {
  const store = await createStore(config, log, OPERATOR_WAIT_MS);
  return { ...store, config, close: () => disconnect(store.redis) };
}

/** Counts the candles of every market anew from its matches, while the exchange goes on. */
export async function rebuildHistory(config: Config, log: Logger): Promise<void> {
  const store = await createStore(config, log);
  try {
    const candles = createCandleWriter(store);
    for (const market of await candles.markets()) {
      log.info({ market, matches: await candles.rebuild(market) }, 'history rebuilt');
    }
  } finally {
    disconnect(store.redis);
  }
}
