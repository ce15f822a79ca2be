import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import cors from 'cors';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import helmet, { type HelmetOptions } from 'helmet';
import { Refusal } from '../exchange/errors';
import { PACE } from '../wire/limits';
import { PATHS } from '../wire/paths';
import { idFor, REQUEST_ID, requestIdOf, sendProblem } from './answer';
import { boardGuard } from './board';
import { serveCards } from './cards';
import { clientAddress } from './client-address';
import { createDate } from './date';
import type { HttpDeps } from './deps';
import { type DispatchDeps, dispatch } from './dispatch';
import { docsPage } from './docs-page';
import type { AnyEndpoint } from './endpoint';
import { ClientGone, logFailure, refusalOf } from './failures';
import { createRequestClass, type MeteredRequest } from './metered-request';
import { otherMethods } from './methods';
import { admit, createPace, noPace, type Pace } from './pace';
import { servePage } from './page';
import { pageNotFound, servePageLinks } from './page-links';
import { recordedBoard } from './recorded';
import { createRouting, type Route } from './routing';

const EXPOSED = [
  REQUEST_ID,
  'ETag',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotent-Replayed',
  'X-Durability',
  'X-Epoch',
];
const PREFLIGHT_MAX_AGE_SEC = 600;

export interface Application {
  readonly handler: RequestListener;
  readonly pace: Pace;
  /** Classes for `http.createServer`; see `withOwnPrototypes`. */
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse<IncomingMessage>;
}

/** The endpoints behind the middleware of every request, and the one place where refusals become answers. */
export function createApplication(
  deps: HttpDeps,
  endpoints: readonly AnyEndpoint[],
  dispatchDeps: DispatchDeps,
): Application {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.set('case sensitive routing', true);
  app.set('trust proxy', trustOf(deps.config.trustProxy));
  app.use(preface(deps));
  app.use(crossOrigin(deps.config.corsOrigins));
  app.use(createRouting(routesOf(endpoints, deps, dispatchDeps)));
  servePage(app, deps.page, deps.config);
  servePageLinks(app, deps);
  serveCards(app, deps, dispatchDeps.limiter);
  app.use(PATHS.docs, docsPage(deps.docs));
  const { adminToken } = deps.config;
  if (deps.board && adminToken !== null) {
    const guard = boardGuard(adminToken, deps.config.publicBaseUrl, dispatchDeps.gate);
    app.use(PATHS.adminQueues, guard, recordedBoard(deps.actions, deps.log), deps.board);
  }
  app.use(pageNotFound(deps));
  app.use((request) => {
    throw new Refusal(
      'NOT_FOUND',
      `there is no resource at ${request.path.slice(0, 100)}; GET /openapi.json lists the paths`,
    );
  });
  app.use(answerErrors(deps));
  return withOwnPrototypes(app, deps.config.rateLimit ? createPace(PACE) : noPace);
}

/** Without TLS in front, this header would lock browsers out. */
function securityHeaders(publicBaseUrl: string): HelmetOptions {
  if (publicBaseUrl.startsWith('https:')) return {};
  const contentSecurityPolicy = { directives: { upgradeInsecureRequests: null } };
  return { strictTransportSecurity: false, contentSecurityPolicy };
}

/** Express expects a mutable list. */
const trustOf = (trust: HttpDeps['config']['trustProxy']): boolean | number | string[] =>
  typeof trust === 'object' ? [...trust] : trust;

/** Endpoints with the same path are one route. */
function routesOf(
  endpoints: readonly AnyEndpoint[],
  { config }: HttpDeps,
  dispatchDeps: DispatchDeps,
): Route[] {
  const groups = new Map<string, AnyEndpoint[]>();
  for (const endpoint of endpoints)
    groups.set(endpoint.path, [...(groups.get(endpoint.path) ?? []), endpoint]);
  return [...groups].map(([path, group]) => ({
    path,
    handlers: new Map(group.map((endpoint) => [endpoint.method, dispatch(endpoint, dispatchDeps)])),
    rest: rest(group, config.adminToken !== null),
  }));
}

/**
 * Sets the headers of every answer: the id of its request, the durability of Redis, the epoch, and restrictions for
 * browsers. It refuses requests that HTTP/1.1 says must be refused.
 */
function preface({ config, reads, standing }: HttpDeps): RequestHandler {
  const date = createDate(reads.clock);
  const secure = always(helmet(securityHeaders(config.publicBaseUrl)));
  return (request, response, next) => {
    response.setHeader(REQUEST_ID, idFor(request));
    response.setHeader('Date', date());
    response.setHeader('Cache-Control', 'no-store');
    const { durability, epoch } = standing() ?? {};
    if (durability !== undefined) response.setHeader('X-Durability', durability);
    if (epoch !== undefined) response.setHeader('X-Epoch', epoch);
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      throw new Refusal('INVALID_REQUEST', 'the Host header is missing; send it');
    }
    secure(request, response, next);
  };
}

/** Pages of other sites, according to CORS_ORIGINS. Programs and our own page send no Origin and all get the same headers. */
function crossOrigin(origins: HttpDeps['config']['corsOrigins']): RequestHandler {
  const asked = cors({
    origin: origins === '*' ? '*' : [...origins],
    exposedHeaders: EXPOSED,
    maxAge: PREFLIGHT_MAX_AGE_SEC,
    preflightContinue: true,
  });
  const unasked = always(asked);
  return (request, response, next) =>
    (request.headers.origin === undefined ? unasked : asked)(request, response, next);
}

/**
 * Middleware that answers every request without an Origin with the same headers: they are computed once, at the start,
 * because computing them for each request takes as long as reading the request.
 */
function always(middleware: RequestHandler): RequestHandler {
  const answer = new ServerResponse(new IncomingMessage(new Socket()));
  middleware(answer.req as Request, answer as Response, () => {});
  const headers = Object.entries(answer.getHeaders()).map(([name, value]) => [name, String(value)] as const);
  return (_request, response, next) => {
    for (const [name, value] of headers) response.setHeader(name, value);
    next();
  };
}

/** Without an operator token the operators' paths do not even list their methods. */
function rest(group: readonly AnyEndpoint[], withAdmin: boolean): RequestHandler {
  if (!withAdmin && group.some(({ bearer }) => bearer === 'admin')) {
    return () => {
      throw new Refusal('NOT_FOUND');
    };
  }
  const methods = group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return otherMethods([...methods, 'OPTIONS'].join(', '));
}

/** The only catch. */
function answerErrors({ log, observer }: HttpDeps): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    if (error instanceof ClientGone || response.destroyed) return;
    const refusal = refusalOf(error);
    const requestId = requestIdOf(response);
    observer.refused(refusal.code);
    logFailure(log, error, refusal, { requestId, method: request.method, path: request.path });
    if (response.headersSent) return;
    // Otherwise the unread rest of this request would be the start of the next one.
    if (!request.complete) response.setHeader('Connection', 'close');
    sendProblem(response, refusal);
  };
}

/** The router rejects a target that it cannot parse before any middleware runs; its own answer would be HTML. */
function listenerOf(app: Express, pace: Pace): RequestListener {
  const serve = (request: Request, response: Response): unknown =>
    app(request, response, () => {
      if (response.headersSent) return;
      response.setHeader(REQUEST_ID, idFor(request));
      response.setHeader('Connection', 'close');
      sendProblem(
        response,
        new Refusal('INVALID_REQUEST', 'the request target must be a path that starts with /'),
      );
    });
  return (request, response) => {
    const [asked, answer] = [request as Request & MeteredRequest, response as Response];
    admit(pace, clientAddress(asked), asked, answer, () => serve(asked, answer));
  };
}

/**
 * Express replaces the prototypes of every request and response by its own, which discards V8's optimizations for them. It
 * leaves objects that are created with those prototypes unchanged, which halves Express's share of a request.
 */
function withOwnPrototypes(app: Express, pace: Pace): Application {
  const OwnRequest = createRequestClass();
  class OwnResponse extends ServerResponse<IncomingMessage> {}
  Object.setPrototypeOf(OwnRequest.prototype, app.request);
  Object.setPrototypeOf(OwnResponse.prototype, app.response);
  app.request = OwnRequest.prototype as unknown as Express['request'];
  app.response = OwnResponse.prototype as unknown as Express['response'];
  return { handler: listenerOf(app, pace), pace, IncomingMessage: OwnRequest, ServerResponse: OwnResponse };
}
