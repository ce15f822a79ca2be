import type { IncomingMessage, Server } from 'node:http';
import { isIP } from 'node:net';
import { createRecent } from '../../exchange/recent';
import type { Logger } from '../../log';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
const GROUPS = 8;
/** The smallest IPv6 network that a provider assigns to a customer; all its addresses count as one client. */
const NETWORK_GROUPS = 4;
/** Keys of recent addresses, because every request needs one. The longest text of an address with a port is a little shorter. */
const known = createRecent<string>(1_000);
const KNOWN_LENGTH_MAX = 64;

/**
 * The address that a limit by IP counts: an IPv4 address, or the /64 network of an IPv6 one. `ip` is Express's, which
 * trusts X-Forwarded-For as far as TRUST_PROXY says. A text that is no address is not trusted.
 */
export function clientAddress(request: AddressedRequest): string {
  request.addressKey ??= known.get(request.ip ?? '') ?? keyOf(request.ip, request.socket.remoteAddress);
  return request.addressKey;
}

/** Caches the address of a request, because several limits use it and Express reads the headers each time. */
export interface AddressedRequest {
  readonly ip?: string | undefined;
  readonly socket: { readonly remoteAddress?: string | undefined };
  addressKey?: string | undefined;
}

function keyOf(ip = '', peer = ''): string {
  const own = addressKey(ip);
  if (own === null) return addressKey(peer) ?? 'unknown';
  if (ip.length <= KNOWN_LENGTH_MAX) known.put(ip, own);
  return own;
}

/** Null for a text that is no address; some proxies add the port. */
export function addressKey(text: string): string | null {
  const match = WITH_PORT.exec(text);
  const address = (match?.[1] ?? match?.[2] ?? text).replace(/%.*$/, '').replace(MAPPED, '$1');
  const version = isIP(address);
  if (version === 0) return null;
  return version === 4 ? address : `${networkOf(address)}::/64`;
}

function networkOf(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? 0 : tail.split(':').length;
  const zeros = tail === undefined ? 0 : GROUPS - groups.length - behind;
  const all = [
    ...groups,
    ...Array.from({ length: Math.max(0, zeros) }, () => '0'),
    ...(tail?.split(':') ?? []),
  ];
  return all
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** The number of requests that are checked; a proxy in front shows in the first ones. */
const LOOKED_AT = 10_000;

/**
 * Warns once when a proxy names its clients (X-Forwarded-For) and TRUST_PROXY ignores it: all clients then share the limits
 * of one address, and only ten of them can sign in within a minute.
 */
export function warnOfProxy(server: Server, log: Logger): void {
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
