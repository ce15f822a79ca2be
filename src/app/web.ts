import path from 'node:path';
import { createAccess } from '../auth/access';
import { KEYS_MAX } from '../auth/api-keys';
import { createOrderVerifier } from '../auth/order-signature';
import type { Backend } from '../auth/recovery';
import { openWalletSignatures } from '../chain/wallet-signature';
import { type Config, webConfig } from '../config/load';
import { clientAddress } from '../http/guard/client-address';
import { createPace, noPace } from '../http/guard/request-pacing';
import { createShedding } from '../http/guard/shedding';
import { createHttp, type Http } from '../http/http';
import { loadFiles } from '../http/server/static-files';
import { createQueueCounts } from '../jobs/queue-counts';
import type { Logger } from '../log';
import { watchEventLoop } from '../metrics/event-loop';
import { createRealtime } from '../realtime/realtime';
import { noteResolveDelay } from '../store/markets/resolve-delay';
import { createKeyStore } from '../store/people/api-keys';
import { createNonceStore } from '../store/people/nonces';
import { createSessionStore } from '../store/people/sessions';
import { SOCKET_LIMITS } from '../wire/limits';
import { apiOf } from './extensions';
import { observe, observeWeb } from './metrics';
import { PROGRAM, type Running } from './process';
import { runStartupChecks } from './startup-checks';
import { createStore } from './store';

/** A web process and the port it listens on. */
export interface Web extends Running {
  readonly port: number;
  readonly endpoints: Http['endpoints'];
  drain(): void;
}

/** `backend` verifies signatures in place of the fastest that works; benchmarks set it. */
export interface WebOptions {
  readonly backend?: Backend;
}

/** The files of the page that shows the interface, which `npm run build` makes; the path is right both from src/app and from dist/app. */
const DOCS_FOLDER = path.join(__dirname, '../../dist/docs');

/** Starts a stateless web replica; resolves when it listens. Rejects when Redis does not respond or the port is taken. */
export async function startWeb(given: Config, log: Logger, options: WebOptions = {}): Promise<Web> {
  const config = webConfig(given);
  if (config !== given) log.warn('web ignores OPERATOR_KEYS and ORACLE_KEY: give keys to workers only');
  const store = await createStore(config, log);
  await runStartupChecks(store);
  await noteResolveDelay(store, config.resolveDelayMs);
  const { redis, run, clock, metrics, extensions, durability, operations } = store;
  const verifier = await createOrderVerifier({
    name: config.eip712Name,
    chainId: config.chainId,
    verifyingContract: config.exchangeAddress,
    otherContracts: [config.collateralAddress, config.conditionalTokensAddress],
    contractsSign: config.walletRpcUrls.length > 0,
    ...options,
  });
  const eventLoop = watchEventLoop();
  const queues = createQueueCounts(
    redis,
    (error) => log.debug({ err: error.message }, 'queues'),
    store.queues,
  );
  const walletSignatures = openWalletSignatures(config, { log, onChecked: metrics.walletSignature });
  const access = createAccess({
    config,
    sessionStore: createSessionStore(store),
    keyStore: createKeyStore({ redis, run, most: KEYS_MAX }),
    burntNonces: createNonceStore(store),
    walletSignatures,
    nowMs: clock.now,
    // When a session or key ends, its sockets are closed on every replica at once.
    onOver: (sid) => realtime.endSession(sid),
  });
  const realtime = createRealtime({ ...store, ...access });
  const shedding = createShedding(eventLoop.delayMs);
  const parts = extensions.flatMap(({ web }) => web?.({ store, replicas: realtime.replicas }) ?? []);
  const http = createHttp({
    ...store,
    ...access,
    api: apiOf(extensions),
    parts,
    walletSignatures,
    shedding,
    arrivedAt: eventLoop.arrivedAt,
    onModeChange: realtime.modeChanged,
    observer: metrics,
    exposeMetrics: metrics.expose,
    docs: loadFiles(DOCS_FOLDER),
    program: PROGRAM,
    verifier,
  });
  observe('web', store, { eventLoop, queues });
  observeWeb(metrics, verifier.backend, () => ({ ...realtime.stats(), inFlight: shedding.inFlight() }));
  durability.onEpoch(realtime.newEpoch);
  const pace = config.rateLimit ? createPace(SOCKET_LIMITS.pace) : noPace;
  realtime.attach(http.server, { addressOf: clientAddress, pace }, http.performOrder);
  try {
    await operations.serve();
    const port = await http.listen(config.port, config.host ?? undefined);
    realtime.start();
    log.info({ port, network: config.network, verification: verifier.backend }, 'web is listening');
    return {
      port,
      endpoints: http.endpoints,
      drain: http.drain,
      async stop(graceMs) {
        await realtime.stop(graceMs);
        await http.stop(graceMs);
        await Promise.all([queues.stop(), ...parts.map((part) => part.stop?.())]);
        walletSignatures?.stop();
        eventLoop.stop();
        store.close();
      },
    };
  } catch (error) {
    await realtime.stop(0);
    store.close();
    throw error;
  }
}
