import type { RequestHandler } from 'express';
import { Refusal } from '../exchange/errors';

/** For every method that a path does not have: METHOD_NOT_ALLOWED, and which it has; to OPTIONS only the latter. */
export const otherMethods =
  (allow: string): RequestHandler =>
  (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method !== 'OPTIONS') {
      throw new Refusal(
        'METHOD_NOT_ALLOWED',
        `${request.method} is not supported here; the Allow header lists the methods`,
      );
    }
    response.statusCode = 204;
    response.end();
  };
