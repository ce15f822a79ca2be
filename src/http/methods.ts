import { Refusal } from '../exchange/errors';
import type { Handler } from './routing';

/** Answers methods that a path does not have with METHOD_NOT_ALLOWED and the list of its methods; OPTIONS with the list. */
export const otherMethods =
  (allow: string): Handler =>
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
