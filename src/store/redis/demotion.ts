import type { Cluster, Redis, RedisOptions } from 'ioredis';

/**
 * A failover may move the name of a Redis to another server while the former primary lives on as its replica. Redis closes no
 * connection then, so a client would stay with a server that refuses every write.
 */

/** What a server answers that has become a replica, or that loads the data of its new primary. */
const DEMOTED = /^(READONLY|MASTERDOWN|LOADING|UNBLOCKED)\b/;

export const isDemoted = (error: unknown): boolean => error instanceof Error && DEMOTED.test(error.message);

/** Makes a connection again, unless it is being made: a client that was asking Sentinels would end for good (ioredis 6). */
export function reconnect(client: Redis | Cluster): void {
  if (client.status !== 'connecting') client.disconnect(true);
}

/** `new Redis` takes no unknown mapping of replies. */
type Options = Omit<RedisOptions, 'replyMapping'>;

/** The least time between two looks at what a name leads to. */
const LOOK_EVERY_MS = 1_000;
const LOOK_TIMEOUT_MS = 2_000;

/** What a name leads to: the connections of this process, and the run of the server that the latest of them reached. */
interface Place {
  readonly open: Set<Redis>;
  run: string | null;
}

const places = new Map<string, Place>();

/**
 * Connects to one server. When a connection for commands meets a demoted server, a new one shows what the name leads to now. When that is
 * another server, which is a primary, all connections of this process to the name connect again, idle and blocked ones too; until then the
 * replica goes on serving reads. A blocked connection looks at nothing itself: every process has one for commands that writes.
 */
export function connectByName<T extends Redis>(
  name: string,
  options: Options,
  { isBlocking, isFollowed }: Kind,
  make: (options: Options) => T,
): T {
  const place = places.get(name) ?? { open: new Set(), run: null };
  places.set(name, place);
  const { open } = place;
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    if (performance.now() - lookedAtMs < LOOK_EVERY_MS) return;
    lookedAtMs = performance.now();
    const [now, here] = await Promise.all([primaryAt(options, make), runOf(client).catch(() => null)]);
    if (now !== null && here !== null && now !== here) for (const each of open) again(each);
  }

  /** A primary that was cut off keeps its other connections, so they follow one that has reached another primary. */
  async function follow(): Promise<void> {
    const run = await primaryRunOf(client).catch(() => null);
    if (run === null || run === place.run) return;
    const isAnother = place.run !== null;
    place.run = run;
    if (isAnother) for (const each of open) if (each !== client) again(each);
  }

  function again(each: Redis): void {
    if (each.status === 'end') open.delete(each);
    else if (each.status === 'ready') reconnect(each);
  }

  function note<U extends Redis>(each: U): U {
    open.add(each);
    each.once('end', () => open.delete(each));
    // BullMQ makes its blocking connections by this.
    const duplicate = each.duplicate.bind(each);
    return Object.assign(each, { duplicate: (more?: Partial<RedisOptions>) => note(duplicate(more)) });
  }

  function reconnectOnError(error: Error): boolean {
    if (isDemoted(error)) void look();
    return false;
  }

  const client = note<T>(make(isBlocking ? options : { ...options, reconnectOnError }));
  if (isFollowed) client.on('ready', () => void follow());
  return client;
}

interface Kind {
  readonly isBlocking: boolean;
  /** Whether the other connections to the name follow this one to another primary. */
  readonly isFollowed: boolean;
}

/** Names this run of the server. */
const runOf = async (client: Redis): Promise<string | null> =>
  /^run_id:(\w+)/m.exec(await client.info('server'))?.[1] ?? null;

/** Null when it accepts no writes. */
const primaryRunOf = async (client: Redis): Promise<string | null> =>
  /^role:master/m.test(await client.info('replication')) ? runOf(client) : null;

/** The run of the server that a new connection reaches; null when it accepts no writes, or does not answer. */
async function primaryAt(options: Options, make: (options: Options) => Redis): Promise<string | null> {
  const probe = make({
    ...options,
    lazyConnect: true,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    maxRetriesPerRequest: 0,
    commandTimeout: LOOK_TIMEOUT_MS,
  });
  probe.on('error', () => undefined);
  try {
    await probe.connect();
    return await primaryRunOf(probe);
  } catch {
    return null;
  } finally {
    probe.disconnect();
  }
}
