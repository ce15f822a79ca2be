import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express';
import { Refusal } from '../../exchange/errors';
import { PACE } from '../../wire/limits';
import { PATHS } from '../../wire/paths';
import type { HttpDeps } from '../context';
import type { AnyEndpoint } from '../endpoint';
import { clientAddress } from '../guard/client-address';
import { createOperatorAddresses, type Visitor } from '../guard/operator-addresses';
import { createPace, noPace, type Pace } from '../guard/request-pacing';
import { idFor, REQUEST_ID, requestIdOf, sendProblem } from './answer';
import { type CommonHeaders, createCommonHeaders } from './common-headers';
import { type DispatchDeps, dispatch } from './dispatch';
import { docsPage } from './docs-page';
import { ClientGone, logFailure, refusalOf } from './failures';
import { createResponseClass, type HeldResponse } from './held-response';
import { admit, createRequestClass, type MeteredRequest } from './metered-request';
import { createRouting, type Handler, otherMethods, type Route } from './routing';

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
  app.use(PATHS.docs, docsPage(deps.docs));
  const { limiter, gate } = dispatchDeps;
  for (const part of deps.parts) part.pages?.(app, { limiter, gate });
  app.use((request) => {
    throw new Refusal(
      'NOT_FOUND',
      `there is no resource at ${request.path.slice(0, 100)}; GET /openapi.json lists the paths`,
    );
  });
  const answerError = errorAnswers(deps);
  app.use(asMiddleware(answerError));
  const serving = {
    app,
    answerError,
    setCommonHeaders: createCommonHeaders(deps),
    checkOperatorAddress: createOperatorAddresses(deps.config),
    handlerOf: createRouting(routesOf(endpoints, deps, dispatchDeps)),
  };
  return withOwnPrototypes(serving, deps.config.rateLimit ? createPace(PACE) : noPace);
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
    rest: rest(group, config.adminTokens !== null),
  }));
}

/** Without an operator token the operators' paths do not even list their methods. */
function rest(group: readonly AnyEndpoint[], withAdmin: boolean): Handler {
  if (!withAdmin && group.some(({ bearer }) => bearer === 'admin')) {
    return () => {
      throw new Refusal('NOT_FOUND');
    };
  }
  const methods = group.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return otherMethods([...methods, 'OPTIONS'].join(', '));
}

/** The only answer to what is thrown. */
type AnswerError = (error: unknown, request: Request, response: Response) => void;

function errorAnswers({ log, observer }: HttpDeps): AnswerError {
  return (error, request, response) => {
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

/** Express knows it by its four parameters. */
const asMiddleware =
  (answerError: AnswerError): ErrorRequestHandler =>
  (error, request, response, _next) =>
    answerError(error, request, response);

interface Serving {
  readonly app: Express;
  readonly setCommonHeaders: CommonHeaders;
  readonly checkOperatorAddress: (visitor: Visitor) => void;
  readonly handlerOf: ReturnType<typeof createRouting>;
  readonly answerError: AnswerError;
}

/**
 * Parsers read these in different ways: a rule of a proxy in front would judge another path than the one that is served. RFC 3986
 * allows none of them in a target.
 */
const AMBIGUOUS = /[#\\]|[^!-~]/;
const NOT_AMBIGUOUS = 'the request target must consist of visible ASCII characters without # and \\';

type OwnRequest = Request & MeteredRequest;
type OwnResponse = Response & HeldResponse;

/**
 * Express serves the pages. Endpoints do without its router, whose layers took 3 microseconds of each order. Express would not
 * serve a target that it cannot parse, and its own answer would be HTML.
 */
function listenerOf(serving: Serving, pace: Pace): RequestListener {
  const { app, setCommonHeaders, checkOperatorAddress, handlerOf, answerError } = serving;
  const refuseTarget = (
    request: Request,
    response: Response,
    detail = 'the request target must be a path that starts with /',
  ): void => {
    if (response.headersSent) return;
    response.setHeader(REQUEST_ID, idFor(request));
    response.setHeader('Connection', 'close');
    sendProblem(response, new Refusal('INVALID_REQUEST', detail));
  };
  async function serve(request: OwnRequest, response: OwnResponse): Promise<void> {
    if (AMBIGUOUS.test(request.url)) return refuseTarget(request, response, NOT_AMBIGUOUS);
    if (!hasPath(request)) return refuseTarget(request, response);
    try {
      setCommonHeaders(request, response);
      checkOperatorAddress(request);
      const handle = handlerOf(request);
      if (handle) return await handle(request, response);
      response.release();
      app(request, response, () => refuseTarget(request, response));
    } catch (error) {
      answerError(error, request, response);
    }
  }
  return (asked, answer) => {
    const [request, response] = [asked as OwnRequest, answer as OwnResponse];
    admit(pace, clientAddress(request), request, response, () => {
      // An answer that cannot be written ends its connection, not the process.
      serve(request, response).catch(() => response.destroy());
    });
  };
}

/** Express's path of a target that is no path is null, or an error. */
function hasPath(request: Request): boolean {
  try {
    return (request.path ?? null) !== null;
  } catch {
    return false;
  }
}

/**
 * Express replaces the prototypes of every request and response by its own, which discards V8's optimizations for them. It
 * leaves objects that are created with those prototypes unchanged, which halves Express's share of a request.
 */
function withOwnPrototypes(serving: Serving, pace: Pace): Application {
  const { app } = serving;
  const [OwnRequest, OwnResponse] = [createRequestClass(), createResponseClass()];
  Object.setPrototypeOf(OwnRequest.prototype, app.request);
  Object.setPrototypeOf(OwnResponse.prototype, app.response);
  app.request = OwnRequest.prototype as unknown as Express['request'];
  app.response = OwnResponse.prototype as unknown as Express['response'];
  return {
    handler: listenerOf(serving, pace),
    pace,
    IncomingMessage: OwnRequest,
    ServerResponse: OwnResponse,
  };
}
