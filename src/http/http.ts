import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, type HttpDeps, type RouteDeps } from './context';
import type { AnyEndpoint } from './endpoint';
import { warnOfProxy } from './guard/client-address';
import { createLimiter, noLimiter } from './guard/limiter';
import { createNewcomers, noNewcomers } from './guard/newcomers';
import { createOperatorGate } from './guard/operator-gate';
import { createCachedAnswers } from './markets/cached-answers';
import { createCancels } from './orders/cancels';
import { createSocketOrders, type PerformOrder } from './orders/socket-orders';
import { createSubmit } from './orders/submit';
import { adminEndpoints } from './routes/admin';
import { authEndpoints } from './routes/auth';
import { bookEndpoints } from './routes/books';
import { cancelEndpoints } from './routes/cancels';
import { logEndpoints } from './routes/log';
import { marketEndpoints } from './routes/markets';
import { meEndpoints } from './routes/me';
import { orderReadEndpoints } from './routes/order-reads';
import { orderEndpoints } from './routes/orders';
import { settlementEndpoints } from './routes/settlements';
import { systemEndpoints } from './routes/system';
import { createApplication } from './server/application';
import { withOperatorsLog } from './server/operators-log';
import { guardTransport } from './server/transport';

export interface Http {
  readonly server: Server;
  /** The list of endpoints, for tests that compare it with the documentation. */
  readonly endpoints: readonly AnyEndpoint[];
  /** Serves the order messages of sockets. */
  readonly performOrder: PerformOrder;
  /** The port to listen on; 0 takes any free port. */
  listen(port: number, host?: string): Promise<number>;
  /** Answers /readyz with 503 from now on; everything else works as before. */
  drain(): void;
  /** Accepts no more connections, lets requests in progress finish, and closes the rest after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

const HEADERS_MAX_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 15_000;
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than a load balancer keeps an idle connection, so that this side never closes one on which a request arrives. */
const KEEP_ALIVE_MS = 95_000;

/** The HTTP side of a web process. */
export function createHttp(deps: HttpDeps): Http {
  const limiter = deps.config.rateLimit ? createLimiter(deps) : noLimiter;
  const state = { draining: false };
  const newcomers = deps.config.rateLimit
    ? createNewcomers({ limiter, isKnown: deps.joining.isKnown })
    : noNewcomers;
  const endpoints = createEndpoints({ ...deps, limiter, newcomers, isDraining: () => state.draining });
  const { api, sessions, shedding, observer, arrivedAt, log } = deps;
  const serving = { api, limiter, sessions, shedding, observer, arrivedAt };
  const application = createApplication(deps, endpoints, {
    ...serving,
    gate: createOperatorGate({ limiter, log, adminTokens: deps.config.adminTokens }),
  });
  const server = createServer(
    {
      IncomingMessage: application.IncomingMessage,
      ServerResponse: application.ServerResponse,
      maxHeaderSize: HEADERS_MAX_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Node's own answer to a missing Host has no body, so the application answers it.
      requireHostHeader: false,
    },
    application.handler,
  );
  if (deps.config.trustProxy === false && deps.config.rateLimit) warnOfProxy(server, deps.log);
  guardTransport(server, application.pace, deps.config.trustProxy !== false);
  // An unknown Expect is no reason to refuse; without a listener Node answers 417 by itself.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));

  return {
    server,
    endpoints,
    performOrder: createSocketOrders(endpoints, { ...serving, log, nowMs: deps.reads.clock }),
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve((server.address() as AddressInfo).port);
        });
      }),
    drain: () => {
      state.draining = true;
    },
    stop: (graceMs) => {
      state.draining = true;
      return stopServer(server, graceMs);
    },
  };
}

async function stopServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  // A connection that is idle between two requests would keep the server open. It becomes idle when its answer is sent.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

/** Every operation of the core and the extensions. */
function createEndpoints(deps: RouteDeps): AnyEndpoint[] {
  const context = createContext(deps);
  const submit = createSubmit(context);
  const cancels = createCancels(context);
  const cached = createCachedAnswers(context);
  return [
    ...orderEndpoints(context, submit),
    ...orderReadEndpoints(context, cached),
    ...cancelEndpoints(context, cancels),
    ...bookEndpoints(context, cached),
    ...marketEndpoints(context, cached),
    ...meEndpoints(context),
    ...authEndpoints(context),
    ...adminEndpoints(context),
    ...settlementEndpoints(context),
    ...systemEndpoints(context),
    ...logEndpoints(context),
    ...deps.parts.flatMap((part) => part.routes?.(context, cached) ?? []),
  ].map((endpoint) => withOperatorsLog(endpoint, deps.actions, deps.log));
}
