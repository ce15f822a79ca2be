import { BlockList, isIP } from 'node:net';
import type { Config } from '../../config/load';
import { Refusal } from '../../exchange/errors';

/** What Express calls these names in `trust proxy`. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** The console, the admin routes with Bull Board, and the metrics. */
const OPERATOR_PATH = /^\/(?:admin|metrics|operate)(?:[/.]|$)/;

export interface Visitor {
  readonly path: string;
  readonly ip?: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

/**
 * Refuses the operators' paths with NOT_FOUND for a client whose address is not one of OPERATOR_ADDRESSES, whatever stands in
 * front of this process. Where no proxy is trusted, a forwarded request has no address that could be trusted either.
 */
export function createOperatorAddresses({
  operatorAddresses,
  trustProxy,
}: Pick<Config, 'operatorAddresses' | 'trustProxy'>): (visitor: Visitor) => void {
  if (operatorAddresses === 'any') return () => undefined;
  const allowed = listOf(operatorAddresses);
  return ({ path, ip = '', headers }) => {
    if (!OPERATOR_PATH.test(path)) return;
    const isForwarded = trustProxy === false && headers['x-forwarded-for'] !== undefined;
    if (isForwarded || !allowed(ip)) throw new Refusal('NOT_FOUND');
  };
}

function listOf(entries: readonly string[]): (ip: string) => boolean {
  const list = new BlockList();
  for (const entry of entries.flatMap((name) => NAMED[name] ?? [name])) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return (ip) => {
    const address = ip.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}
