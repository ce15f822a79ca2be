import type { IncomingMessage, Server } from 'node:http';
import type { Logger } from '../log';

/** Requests that are looked at: a proxy in front shows in the first ones. */
const LOOKED_AT = 10_000;

/**
 * Warns once when a proxy names its clients (X-Forwarded-For) and TRUST_PROXY says not to listen: all of them then share
 * the limits of one address, and ten of them sign in a minute.
 */
export function noticeProxy(server: Server, log: Logger): void {
  // The socket server calls the listeners of requests itself, from a list of its own: one cannot be taken off again.
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
