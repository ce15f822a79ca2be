import type { IncomingMessage, Server } from 'node:http';
import type { Logger } from '../log';

/** The number of requests that are checked; a proxy in front shows in the first ones. */
const LOOKED_AT = 10_000;

/**
 * Warns once when a proxy names its clients (X-Forwarded-For) and TRUST_PROXY ignores it: all clients then share the limits
 * of one address, and only ten of them can sign in within a minute.
 */
export function noticeProxy(server: Server, log: Logger): void {
  // The socket server calls the listeners of requests from its own list, so a listener cannot be removed.
  let left = LOOKED_AT;
  server.on('request', ({ headers }: IncomingMessage) => {
    if (left === 0) return;
    left--;
    if (headers['x-forwarded-for'] === undefined) return;
    left = 0;
    log.warn(WARNING);
  });
}

const WARNING =
  'a request came with X-Forwarded-For, and TRUST_PROXY is off: if a proxy of yours sends it, all its clients share the limits of one address; set TRUST_PROXY to the number of proxies in front';
