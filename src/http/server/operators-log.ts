import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Logger } from '../../log';
import type { Action, Actions } from '../../store/people/operator-log';
import type { AnyEndpoint, Call } from '../endpoint';
import { requestIdOf } from './answer';
import { refusalOf } from './failures';

const TEXT_MAX = 200;

/** Completes an entry with the result. */
const completed =
  (actions: Actions, log: Logger) =>
  async (action: Action, status: number, code: string | null): Promise<void> => {
    const done = { ...action, status, code };
    log.info({ ...done }, 'operator');
    // The action is done; an entry without its end does not undo it.
    await actions.note(done).catch((error: unknown) => {
      log.warn({ err: String(error), requestId: action.requestId }, 'the operators’ log was not completed');
    });
  };

/**
 * Records an operator's endpoint that changes data in the operators' log: before it runs, so that nothing is done without
 * an entry, and again with its result. Other endpoints are returned unchanged.
 */
export function withOperatorsLog(endpoint: AnyEndpoint, actions: Actions, log: Logger): AnyEndpoint {
  if (endpoint.bearer !== 'admin' || endpoint.method === 'GET') return endpoint;

  const end = completed(actions, log);
  return {
    ...endpoint,
    async handle(call) {
      const { method, path } = endpoint;
      const action = actionOf(`${method} ${path}`, call.request.path, call);
      await actions.note(action);
      try {
        const reply = await endpoint.handle(call);
        await end(action, reply.status, null);
        return reply;
      } catch (error) {
        const { status, code } = refusalOf(error);
        await end(action, status, code);
        throw error;
      }
    },
  };
}

/** The same for requests that other pages of operators send. */
export function logPageActions(actions: Actions, log: Logger): RequestHandler {
  const end = completed(actions, log);
  return async (request, response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next();
    const path = request.baseUrl + request.path;
    const entry = (): Action =>
      actionOf(`${request.method} ${request.baseUrl}`, path, { request, response, body: request.body });
    const action = entry();
    await actions.note(action);
    // The page has read the body by then.
    response.once('close', () => void end({ ...entry(), id: action.id }, response.statusCode, null));
    next();
  };
}

export type RecordedRequest = Pick<Call<unknown>, 'request' | 'response' | 'body'>;

/** The entry of a request, before its result is known. */
export function actionOf(action: string, path: string, { request, response, body }: RecordedRequest): Action {
  return {
    id: randomUUID(),
    requestId: requestIdOf(response),
    action,
    path: path.slice(0, TEXT_MAX),
    body: shortened(body),
    address: request.ip ?? '',
    agent: request.headers['user-agent']?.slice(0, TEXT_MAX) ?? null,
    status: null,
    code: null,
  };
}

/** The members of a body, which are texts, numbers and lists of them. */
function shortened(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return {};
  const short = (value: unknown): unknown =>
    typeof value === 'string' && value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value;
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, short(value)]));
}
