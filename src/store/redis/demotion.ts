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

/** What a name leads to: the connections of this process, each with the run of the server that it has reached, and the latest such run. */
interface Place {
  readonly open: Map<Redis, string | null>;
  run: string | null;
}

/** What ioredis 6 calls for itself with the INFO that shows whether a new connection is ready. */
interface Checking {
  readonly connector: { check: (info: Readonly<Partial<Record<string, string>>>) => boolean };
}

const places = new Map<string, Place>();

/**
 * Connects to one server. When a connection for commands meets a demoted server, a new one shows what the name leads to now. When that is
 * another server, which is a primary, all connections of this process that have not reached it connect again, idle and blocked ones too;
 * until then the replica goes on serving reads. A blocked connection looks at nothing itself: every process has one for commands that writes.
 */
export function connectByName<T extends Redis>(
  name: string,
  options: Options,
  { isBlocking, isFollowed }: Kind,
  make: (options: Options) => T,
): T {
  const place = places.get(name) ?? { open: new Map(), run: null };
  places.set(name, place);
  const { open } = place;
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    if (performance.now() - lookedAtMs < LOOK_EVERY_MS) return;
    lookedAtMs = performance.now();
    const now = await primaryAt(options, make);
    const here = open.get(client) ?? null;
    if (now !== null && here !== null && now !== here) leaveFor(now);
  }

  /** A primary that was cut off keeps its other connections, so they follow one that has reached another primary. */
  function follow(run: string): void {
    const isAnother = place.run !== null && place.run !== run;
    place.run = run;
    if (isAnother) leaveFor(run);
  }

  function leaveFor(run: string): void {
    for (const [each, reached] of open) if (reached !== run) again(each);
  }

  function again(each: Redis): void {
    if (each.status === 'end') open.delete(each);
    else if (each.status === 'ready') reconnect(each);
  }

  function note<U extends Redis>(each: U): U {
    open.set(each, null);
    each.once('end', () => open.delete(each));
    const { connector } = each as Redis as unknown as Checking;
    const check = connector.check.bind(connector);
    connector.check = (info) => {
      const { run_id: run = null, role } = info;
      open.set(each, run);
      const isRight = check(info);
      if (isRight && isFollowed && each === (client as Redis) && role === 'master' && run !== null)
        follow(run);
      return isRight;
    };
    // BullMQ makes its blocking connections by this.
    const duplicate = each.duplicate.bind(each);
    return Object.assign(each, { duplicate: (more?: Partial<RedisOptions>) => note(duplicate(more)) });
  }

  function reconnectOnError(error: Error): boolean {
    if (isDemoted(error)) void look();
    return false;
  }

  const client: T = note(make(isBlocking ? options : { ...options, reconnectOnError }));
  return client;
}

interface Kind {
  readonly isBlocking: boolean;
  /** Whether the other connections to the name follow this one to another primary. */
  readonly isFollowed: boolean;
}

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
    const info = await probe.info();
    return (/^role:master/m.test(info) && /^run_id:(\w+)/m.exec(info)?.[1]) || null;
  } catch {
    return null;
  } finally {
    probe.disconnect();
  }
}
