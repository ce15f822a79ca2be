import { Redis, type RedisOptions } from 'ioredis';

/**
 * A failover may move the name of a Redis to another server while the former primary lives on as its replica. Redis closes no
 * connection then, so a client would stay with a server that refuses every write.
 */

/** What a server answers that has become a replica, or that loads the data of its new primary. */
const DEMOTED = /^(READONLY|MASTERDOWN|LOADING|UNBLOCKED)\b/;

export const isDemoted = (error: unknown): boolean => error instanceof Error && DEMOTED.test(error.message);

/** `new Redis` takes no unknown mapping of replies. */
type Options = Omit<RedisOptions, 'replyMapping'>;

/** The least time between two looks at what a name leads to. */
const LOOK_EVERY_MS = 1_000;
const LOOK_TIMEOUT_MS = 2_000;

/** The connections of this process by the address of their server. */
const connections = new Map<string, Set<Redis>>();

/**
 * Connects to one server. When any connection of this process to this address meets a demoted server, a new connection shows what
 * the name leads to now. All of them, idle and blocked ones too, connect again once that is a primary; until then replicas go on serving
 * reads.
 */
export function connectByName(url: string, options: Options, make: (options: Options) => Redis): Redis {
  const { host } = new URL(url);
  const open = connections.get(host) ?? new Set();
  connections.set(host, open);
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    if (performance.now() - lookedAtMs < LOOK_EVERY_MS) return;
    lookedAtMs = performance.now();
    if (await leadsToPrimary(url, options)) for (const client of open) reconnect(client);
  }

  function reconnect(client: Redis): void {
    if (client.status === 'end') open.delete(client);
    else if (client.status === 'ready') client.disconnect(true);
  }

  function note(client: Redis): Redis {
    open.add(client);
    client.once('end', () => open.delete(client));
    // BullMQ makes its blocking connections by this.
    const duplicate = client.duplicate.bind(client);
    return Object.assign(client, { duplicate: (more?: Partial<RedisOptions>) => note(duplicate(more)) });
  }

  return note(
    make({
      ...options,
      reconnectOnError(error) {
        if (isDemoted(error)) void look();
        return false;
      },
    }),
  );
}

/** Whether a new connection reaches a server that accepts writes. */
async function leadsToPrimary(url: string, options: Options): Promise<boolean> {
  const probe = new Redis(url, {
    ...options,
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    commandTimeout: LOOK_TIMEOUT_MS,
  });
  probe.on('error', () => undefined);
  try {
    await probe.connect();
    return /^role:master/m.test(await probe.info('replication'));
  } catch {
    return false;
  } finally {
    probe.disconnect();
  }
}
