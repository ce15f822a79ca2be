import type { RequestHandler } from 'express';
import { Refusal } from '../exchange/errors';

/** Answers methods that a path does not have with METHOD_NOT_ALLOWED and the list of its methods; OPTIONS with the list. */
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
