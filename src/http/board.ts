import type { RequestHandler } from 'express';
import { Refusal } from '../exchange/errors';
import { checkAdmin, isSame } from './bearer';

const BASIC = /^Basic +([A-Za-z0-9+/]+=*)$/i;
const USER = 'admin';

/** Lets the operator pass, by the bearer of the admin routes or, for a browser, as user `admin` with the same token. */
export function boardGuard(adminToken: string): RequestHandler {
  return (request, response, next) => {
    response.setHeader('WWW-Authenticate', 'Basic realm="exchange", charset="UTF-8"');
    const basic = BASIC.exec(request.headers.authorization ?? '')?.[1];
    if (basic === undefined) checkAdmin(request, adminToken);
    else if (!isSame(Buffer.from(basic, 'base64').toString('utf8'), `${USER}:${adminToken}`)) {
      throw new Refusal('UNAUTHORIZED', 'user or password is wrong');
    }
    // A browser sends its password along whatever page asked it to.
    if (request.method !== 'GET' && request.headers['sec-fetch-site'] === 'cross-site') {
      throw new Refusal('FORBIDDEN', 'another site asked for this');
    }
    response.removeHeader('WWW-Authenticate');
    next();
  };
}
