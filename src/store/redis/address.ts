import type { RedisOptions } from 'ioredis';

/** The forms of REDIS_URL, after src/config/values.ts has checked it: one server, the nodes of a cluster, or the Sentinels of a primary. */

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** redis+sentinel://host:port/<name of the primary>: every such URL of a list is one Sentinel. */
const isSentinel = (url: string): boolean => /^rediss?\+sentinel:/.test(url);

export const speaksTls = (url: string): boolean => /^rediss[:+]/.test(url);

export const isCluster = ([first = '', ...others]: readonly string[]): boolean =>
  others.length > 0 && !isSentinel(first);

/** Host and port of every server that the URLs name, without user and password. */
export const hostsOf = (urls: readonly string[]): string[] =>
  urls.map((url) => {
    const { hostname, port } = new URL(url);
    return `${hostname}:${port || (isSentinel(url) ? SENTINEL_PORT : REDIS_PORT)}`;
  });

/** The number of the database; a cluster has only 0. */
export function databaseOf(urls: readonly string[]): number {
  const [first = ''] = urls;
  if (isCluster(urls)) return 0;
  const parts = new URL(first).pathname.split('/').slice(1);
  return Number(parts[isSentinel(first) ? 1 : 0]) || 0;
}

/** Host and port of the nodes of a cluster. */
export const nodesOf = (urls: readonly string[]) =>
  urls.map((url) => {
    const { hostname, port } = new URL(url);
    return { host: hostname, port: Number(port || REDIS_PORT) };
  });

/**
 * What the client needs to ask Sentinels for the primary; null for other addresses. User and password are those of Redis;
 * the Sentinels have their own in the query, `sentinelUsername` and `sentinelPassword`. With rediss+sentinel:// both speak TLS.
 */
export function sentinelsOf(urls: readonly string[], tls: RedisOptions['tls']) {
  const [first = ''] = urls;
  if (!isSentinel(first)) return null;
  const { pathname, username, password, searchParams } = new URL(first);
  const [, name = ''] = pathname.split('/');
  const sentinels = urls.map((url) => {
    const { hostname, port } = new URL(url);
    return { host: hostname, port: Number(port || SENTINEL_PORT) };
  });
  const sentinelUsername = searchParams.get('sentinelUsername');
  const sentinelPassword = searchParams.get('sentinelPassword');
  return {
    sentinels,
    name,
    db: databaseOf(urls),
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(sentinelUsername && { sentinelUsername }),
    ...(sentinelPassword && { sentinelPassword }),
    ...(tls && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  };
}
