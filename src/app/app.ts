import path from 'node:path';
import { createOrderVerifier, type OrderVerifier } from '../auth/order-signature';
import type { Backend } from '../auth/recovery';
import { operatorProblem, withoutKeys } from '../config/chain';
import type { Config } from '../config/load';
import { ConfigError, type ConfigProblem } from '../config/report';
import { createCardDrawing } from '../http/card-drawing';
import { clientAddress } from '../http/client-address';
import { createPace, noPace } from '../http/pace';
import { loadPage } from '../http/page';
import { createHttp, type Http } from '../http/server';
import { createShedding } from '../http/shedding';
import { startArchiving } from '../jobs/archive';
import { createBoard } from '../jobs/board';
import { createChores } from '../jobs/chores';
import { createQueueCounts } from '../jobs/queue-counts';
import { startSchedule } from '../jobs/schedule';
import { startSettlement } from '../jobs/settlement';
import type { Logger } from '../log';
import { watchEventLoop } from '../metrics/event-loop';
import { serveMetrics } from '../metrics/server';
import { createRealtime } from '../realtime/realtime';
import { createForgetting, PICK_MS } from '../store/archive/forgetting';
import { createMarketForgetting } from '../store/archive/markets';
import { dropOldMonths } from '../store/archive/retention';
import { openSource } from '../store/archive/source';
import { createCandleWriter } from '../store/candles/writer';
import { CONGESTED } from '../store/chain/standstill';
import { noteLayout, unreadable } from '../store/health/layout';
import { weaknessOf } from '../store/health/standing';
import { createAgenda } from '../store/markets/agenda';
import { previewEnding } from '../store/markets/ending';
import { watchBacklog } from '../store/outbox/backlog';
import { createLease } from '../store/outbox/lease';
import { createOutbox } from '../store/outbox/outbox';
import { causeOf } from '../store/redis/causes';
import { connect, disconnect } from '../store/redis/connection';
import type { RedisClient } from '../store/redis/scripts';
import { createRaisedNonces } from '../store/verbs/invalidate';
import { SOCKET_LIMITS } from '../wire/limits';
import { PATHS } from '../wire/paths';
import { createAccess } from './access';
import { chainFacts } from './chain';
import { otherFundsOf } from './chain-books';
import { wrongFunds } from './chain-examine';
import { observerSamples, spentSamples } from './chain-samples';
import { workOnChain } from './chain-work';
import { observe, observeWeb } from './observe';
import { PROGRAM } from './program';
import { closeStore, createStore, type Store } from './store';

/** A running part that can be stopped. Stopping it twice has the effect of stopping it once. */
export interface Running {
  /** Makes /readyz fail while requests are still served, so that a load balancer sends no more of them before `stop`. */
  drain?(): void;
  stop(graceMs: number): Promise<void>;
}

/** A web process and the port it listens on. */
export interface Web extends Running {
  readonly port: number;
  readonly endpoints: Http['endpoints'];
  drain(): void;
}

/** For benchmarks: verifies with this backend instead of the fastest that works. */
export interface WebOptions {
  readonly backend?: Backend;
}

/** The page that `npm run build` makes from src/page; the same folder for the sources and the build. */
const PAGE_FOLDER = path.join(__dirname, '../../dist/page');
const CARD_FONT = path.join(__dirname, '../../dist/fonts/inter-600.ttf');
/** The files of the page that shows the interface. */
const DOCS_FOLDER = path.join(__dirname, '../../dist/docs');

/** Rejects unless the clock of Redis is known, this program can read the data, and Redis is durable enough for production. */
async function checkStanding(config: Config, store: Store): Promise<void> {
  const { redis, run, keys, clock, standings } = store;
  await clock.measure();
  const refuseWith = (row: ConfigProblem): never => {
    closeStore(store);
    throw new ConfigError([row]);
  };
  const refuse = (variable: string, problem: string): never =>
    refuseWith({ variable, given: '(hidden)', problem });
  const wrong = unreadable(await noteLayout(run, keys));
  if (wrong !== null) refuse('REDIS_URL', wrong);
  if (config.archiveUrl === null && (await redis.hexists(keys.archive, 'id')) === 1)
    refuse('ARCHIVE_URL', 'is required: orders of this exchange have left Redis for an archive');
  const other = await otherFundsOf(config, store);
  if (other !== null) refuse('FUNDS', other);
  const contradicted = await wrongFunds(config, store);
  if (contradicted !== null) refuseWith(contradicted);
  const weakness = weaknessOf(await standings.refresh());
  // A match that Redis forgets may be settled on the chain all the same.
  if (config.chain !== null && weakness !== null) refuse('REDIS_URL', `${weakness}; FUNDS=chain needs that`);
  clock.start();
  standings.start();
  if (config.nodeEnv !== 'production' || config.allowWeakDurability || weakness === null) return;
  clock.stop();
  standings.stop();
  refuse('REDIS_URL', `${weakness}, or ALLOW_WEAK_DURABILITY=1`);
}

const BACKLOGGED = ['BACKLOG', 'the exchange is catching up with accepted orders; retry shortly'] as const;

const createVerifier = (config: Config, options: WebOptions): Promise<OrderVerifier> =>
  createOrderVerifier({
    name: config.eip712Name,
    chainId: config.chainId,
    verifyingContract: config.exchangeAddress,
    otherContracts: [config.collateralAddress, config.conditionalTokensAddress],
    contractsSign: config.walletRpcUrls.length > 0,
    ...options,
  });

const openBoard = (connection: RedisClient, log: Logger) =>
  createBoard({
    connection,
    basePath: PATHS.adminQueues,
    onError: (error) => log.warn({ err: error.message }, 'board'),
  });

/** Starts a stateless web replica; resolves when it listens. Rejects when Redis does not respond or the port is taken. */
export async function startWeb(given: Config, log: Logger, options: WebOptions = {}): Promise<Web> {
  const config = withoutKeys(given);
  if (config !== given) log.warn('web ignores OPERATOR_KEYS and ORACLE_KEY: give keys to workers only');
  const store = await createStore(config, log);
  await checkStanding(config, store);
  const { redis, clock, metrics, standings } = store;
  const verifier = await createVerifier(config, options);
  const board = config.adminToken === null ? null : openBoard(redis, log);
  const eventLoop = watchEventLoop();
  const queues = createQueueCounts(redis, (error) => log.debug({ err: error.message }, 'queues'));
  // When a session or key ends, its sockets are closed on every replica at once.
  const access = createAccess(config, store, log, (sid) => realtime.endSession(sid));
  const realtime = createRealtime({ ...store, ...access, config, log });
  const shedding = createShedding(eventLoop.delayMs);
  const backlog = watchBacklog(store.outboxLag);
  const congestion = store.books?.congestion;
  const http = createHttp({
    ...store,
    ...access,
    shedding,
    arrivedAt: eventLoop.arrivedAt,
    behind() {
      if (backlog.isTooLong()) return BACKLOGGED;
      return congestion?.isTooMuch() ? ['CANCEL_ONLY', CONGESTED] : null;
    },
    onModeChange: realtime.modeChanged,
    replicas: realtime.replicas,
    previewEnding: (id, outcome) => previewEnding(store, id, outcome),
    standing: standings.current,
    observer: metrics,
    metrics: metrics.expose,
    board: board?.handler ?? null,
    chain: config.chain && chainFacts(config, config.chain),
    freshen: store.books?.seeing.refresh ?? (async () => undefined),
    docs: loadPage(DOCS_FOLDER),
    program: PROGRAM,
    page: config.serveUi ? loadPage(PAGE_FOLDER) : new Map(),
    drawCard: config.serveUi ? createCardDrawing(CARD_FONT) : null,
    config,
    log,
    verifier,
  });
  observe('web', { ...store, config, eventLoop, queues });
  observeWeb(metrics, verifier.backend, () => ({ ...realtime.stats(), inFlight: shedding.inFlight() }));
  standings.onEpoch(realtime.newEpoch);
  const pace = config.rateLimit ? createPace(SOCKET_LIMITS.pace) : noPace;
  realtime.attach(http.server, { addressOf: clientAddress, pace }, http.performOrder);
  const stop = async (graceMs: number) => {
    await realtime.stop(graceMs);
    await http.stop(graceMs);
    await Promise.all([board?.stop(), queues.stop()]);
    congestion?.stop();
    for (const part of [eventLoop, backlog, clock, standings, access]) part.stop();
    closeStore(store);
  };
  try {
    const port = await http.listen(config.port);
    realtime.start();
    backlog.start();
    congestion?.start();
    log.info({ port, network: config.network, verification: verifier.backend }, 'web is listening');
    return { port, endpoints: http.endpoints, drain: http.drain, stop };
  } catch (error) {
    await realtime.stop(0);
    closeStore(store);
    throw error;
  }
}

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
