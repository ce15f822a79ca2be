import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { hostsOf, isCluster, nodesOf, sentinelsOf, speaksTls } from './address';
import { causeOf, causeOfNode, SILENT } from './causes';
import { connectByName, isDemoted } from './demotion';
import { ReplicatedRedis } from './replicated';
import './timeouts';
import type { RedisClient } from './scripts';
import { trusted } from './trusted';

/**
 * Connections to Redis. A command client answers or fails within COMMAND_TIMEOUT_MS. While disconnected it queues nothing,
 * and it repeats nothing by itself, because only the caller knows whether a repetition is safe.
 */
const COMMAND_TIMEOUT_MS = 2_000;
/** A connection that is silent while replies are due is closed: a peer may vanish without a word. */
const SILENCE_MAX_MS = 2_500;
const CONNECT_TIMEOUT_MS = 2_000;
/** The time between two attempts to be notified by a Sentinel that is away. */
const SENTINEL_EVERY_MS = 5_000;
/** The time that a connection has to close by itself. */
const DISCONNECT_TIMEOUT_MS = 200;
const RECONNECT_STEP_MS = 50;
const RECONNECT_MAX_MS = 1_000;
/** The time between two looks of a client at the slots of its cluster. A look takes some 10 ms of the processor. */
const SLOTS_EVERY_MS = 1_000;

const reconnect = (attempt: number): number => Math.min(attempt * RECONNECT_STEP_MS, RECONNECT_MAX_MS);

export interface ConnectionOptions {
  /** One URL, the nodes of a cluster, or the Sentinels of a primary. */
  readonly urls: readonly string[];
  /** PEM, for rediss://: the CA of the servers, or their own certificates. */
  readonly tlsCa?: string | null;
  /** BullMQ's workers block on their connection: no time-out, and commands wait for Redis to come back. */
  readonly blocking?: boolean;
  /** A client for commands resolves them when as many replicas have confirmed them (replicated.ts); 0 on a cluster. */
  readonly replicas?: number;
  /** On a cluster: takes part in sharded publish and subscribe. */
  readonly subscriber?: boolean;
  readonly onError?: (error: Error) => void;
}

export function connect({
  urls,
  tlsCa = null,
  blocking = false,
  subscriber = false,
  replicas = 0,
  onError = () => {},
}: ConnectionOptions): RedisClient {
  if (urls.length === 0) throw new Error('no Redis address');
  const client = isCluster(urls)
    ? clusterOf(urls, { blocking, subscriber, tlsCa })
    : replicas > 0 && !blocking
      ? replicatedOf(urls, { replicas, tlsCa, onError })
      : redisOf(urls, blocking ? Redis : GatheringRedis, { blocking, tlsCa, isNotified: !blocking });
  client.on('error', onError);
  return client;
}

/** The connections that take turns: while one waits for replicas, the others send. */
const LANES = 4;

function replicatedOf(
  urls: readonly string[],
  { replicas, tlsCa, onError }: Required<Pick<ConnectionOptions, 'replicas' | 'tlsCa' | 'onError'>>,
): ReplicatedRedis {
  const client = redisOf(urls, ReplicatedRedis, { blocking: false, tlsCa });
  const options = { blocking: false, tlsCa, isFollowed: true };
  const lanes = Array.from({ length: LANES }, (_, lane) =>
    redisOf(urls, GatheringRedis, { ...options, isNotified: lane === 0 }),
  );
  for (const lane of lanes) lane.on('error', onError);
  client.useLanes(lanes, replicas);
  return client;
}

interface ServerOptions {
  readonly blocking: boolean;
  readonly tlsCa: string | null;
  /** Whether the other connections to the same name follow when this one reaches another primary. */
  readonly isFollowed?: boolean;
  /** Sentinels notify this connection when they have replaced the primary, and the others of this process follow it. */
  readonly isNotified?: boolean;
}

interface RedisClass<T> {
  new (url: string, options: RedisOptions): T;
  new (options: RedisOptions): T;
}

function redisOf<T extends Redis>(
  urls: readonly string[],
  Client: RedisClass<T>,
  { blocking, tlsCa, isFollowed = false, isNotified = false }: ServerOptions,
): T {
  const [url = ''] = urls;
  const name = hostsOf(urls).join(',');
  const tls = tlsOf(url, tlsCa);
  const sentinels = sentinelsOf(urls, tls.tls);
  const options = { ...settings(blocking), ...tls };
  const kind = { isBlocking: blocking, isFollowed: isFollowed || (sentinels !== null && isNotified) };
  if (sentinels === null) return connectByName(name, options, kind, (own) => new Client(url, own));
  // A Sentinel that is silent is left for the next one. They replace a primary that lives on, and demote it only seconds later.
  const asking = {
    ...sentinels,
    failoverDetector: isNotified,
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    sentinelRetryStrategy: reconnect,
    sentinelReconnectStrategy: () => SENTINEL_EVERY_MS,
  };
  const client = connectByName(name, { ...options, ...asking }, kind, (own) => new Client(own));
  return isNotified ? guardNotified(client) : client;
}

/** The connections to Sentinels that notify, which ioredis 6 has for itself. */
interface Notified {
  readonly connector: {
    readonly failoverDetector: {
      readonly sentinels: readonly { readonly client: Redis }[];
      isDisconnected: boolean;
      disconnect: () => void;
    } | null;
  };
}

/**
 * ioredis prints the errors of these connections; the exchange works while some of the Sentinels are away. A notification that comes
 * while the client asks Sentinels would end it for good, so it waits until the client is ready.
 */
function guardNotified<T extends Redis>(client: T): T {
  const { connector } = client as unknown as Notified;
  return client.on('connect', () => {
    const detector = connector.failoverDetector;
    if (!detector) return;
    for (const { client: sentinel } of detector.sentinels) sentinel.on('error', () => undefined);
    detector.disconnect = () => {
      // Each of the Sentinels notifies.
      detector.isDisconnected = true;
      if (client.status === 'ready') client.disconnect(true);
      else client.once('ready', () => client.disconnect(true));
    };
  });
}

const tlsOf = (url: string, tlsCa: string | null) =>
  speaksTls(url) ? { tls: tlsCa === null ? {} : trusted(tlsCa) } : {};

/**
 * Holds writes to Redis until all requests that arrived together were processed, so that their commands leave in one
 * system call; a write to a socket is the most expensive part of sending a command.
 */
function createGathering(): (socket: Redis['stream'] | undefined) => void {
  let held = false;
  return (socket) => {
    if (held || !socket) return;
    held = true;
    socket.cork();
    setImmediate(() => {
      held = false;
      socket.uncork();
    });
  };
}

class GatheringRedis extends Redis {
  private readonly gather = createGathering();

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    this.gather(this.stream);
    return super.sendCommand(...args);
  }
}

function settings(blocking: boolean) {
  const shared = {
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    retryStrategy: reconnect,
    // A server that loads its data estimates the time, and ioredis would trust it for up to ten seconds.
    maxLoadingRetryTime: RECONNECT_MAX_MS,
    enableReadyCheck: true,
  };
  if (blocking) return { ...shared, maxRetriesPerRequest: null };
  return {
    ...shared,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_MAX_MS,
    enableOfflineQueue: false,
  };
}

/**
 * Cluster for commands. It connects to a node at the first command for it. Until then the commands wait in the node's own
 * queue, at most COMMAND_TIMEOUT_MS, and have not left this process. Without that queue every second command of a process
 * that starts, or that has just learnt of a node, would fail. The cluster's own queue, which has no time-out, is not used.
 */
class CommandCluster extends Cluster {
  override sendCommand(...args: Parameters<Cluster['sendCommand']>): unknown {
    const [command] = args;
    // The client asks for the slots before it is ready.
    if (this.status === 'ready' || command.name === 'cluster') return super.sendCommand(...args);
    command.reject(new Error("Cluster isn't ready"));
    return command.promise;
  }

  /** Between two attempts the client asks any node, so its last error may only mean that this was the wrong node. */
  override handleError(...[error, tries, handlers]: Parameters<Cluster['handleError']>): void {
    const latest: { value?: unknown; tryAgain?: Error } = tries;
    if (error.message.startsWith('TRYAGAIN')) latest.tryAgain = error;
    const maxRedirections = (last: Error) => handlers.maxRedirections(latest.tryAgain ?? last);
    super.handleError(error, tries, { ...handlers, maxRedirections });
  }
}

/**
 * A command that was answered, also with a time-out, is not sent any more: neither from the queue of a node that is being
 * connected, nor because a late reply points to another node. Before a command for a moving slot the client sends ASKING
 * and ignores its reply; the loss of that reply must not end the process.
 */
function guardNode(node: Redis): void {
  const send = node.sendCommand.bind(node);
  const gather = createGathering();
  node.sendCommand = (command, stream) => {
    if (command.isSettled && !stream) return command.promise;
    if (command.name === 'asking') command.promise.catch(() => undefined);
    gather(node.stream);
    return send(command, stream);
  };
}

/** The nodes share user, password and TLS, which come from the first address. */
function clusterOf(
  urls: readonly string[],
  { blocking, subscriber, tlsCa }: Required<Pick<ConnectionOptions, 'blocking' | 'subscriber' | 'tlsCa'>>,
): Cluster {
  const [seed = ''] = urls;
  const { username, password } = new URL(seed);
  const { connectTimeout, maxRetriesPerRequest } = settings(blocking);
  const options = {
    clusterRetryStrategy: reconnect,
    shardedSubscribers: subscriber,
    redisOptions: {
      connectTimeout,
      maxRetriesPerRequest,
      // The node leaves the pool, and a name that was moved meanwhile is resolved again.
      reconnectOnError: isDemoted,
      ...(!blocking && { commandTimeout: COMMAND_TIMEOUT_MS, socketTimeout: SILENCE_MAX_MS }),
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...tlsOf(seed, tlsCa),
    },
  };
  // A command answered with MOVED, ASK, TRYAGAIN or CLUSTERDOWN has not run: it is sent again, up to 16 times within
  // the command's time-out. A command whose connection closed may have run, and is not sent again: that is what 0 says.
  const client = blocking
    ? new Cluster(nodesOf(urls), options)
    : new CommandCluster(nodesOf(urls), { ...options, retryDelayOnFailover: 0 });
  client.on('+node', guardNode);
  return lookingSeldom(askingAnyMaster(client));
}

/**
 * The client looks at all slots behind every command that is answered with MOVED. While a master is away, that is every command
 * for it: some 40 looks a second, which took two thirds of the rate of the other shards. Such a command goes where the answer
 * points, and one that is sent again asks any node, so neither waits for a look.
 */
function lookingSeldom(client: Cluster): Cluster {
  const look = client.refreshSlotsCache.bind(client);
  let timer: NodeJS.Timeout | undefined;
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  function lookNow(done?: Parameters<typeof look>[0]): void {
    clearTimeout(timer);
    timer = undefined;
    lookedAtMs = performance.now();
    look(done);
  }

  client.refreshSlotsCache = (done) => {
    const waitMs = lookedAtMs + SLOTS_EVERY_MS - performance.now();
    if (client.status !== 'ready' || waitMs <= 0) return lookNow(done);
    timer ??= setTimeout(lookNow, waitMs).unref();
    if (done) process.nextTick(done);
  };
  return client;
}

type Callback = (error: Error | null, text?: string) => void;

/**
 * A new connection asks for the state of the cluster before it is ready, and then BullMQ asks it for the version of Redis. The client
 * asks one node at random, and a blocking one waits without end: a silent node would hold up the queues of all others.
 */
function askingAnyMaster(client: Cluster): Cluster {
  const duplicate = client.duplicate.bind(client);
  const cluster = client.cluster.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const anyMaster = <T>(ask: (node: Redis) => Promise<T>): Promise<T> =>
    Promise.any(client.nodes('master').map(ask));
  return Object.assign(client, {
    info: () => anyMaster((node) => node.info()),
    cluster(...args: unknown[]) {
      const [about, callback] = args;
      if (about !== 'INFO' || typeof callback !== 'function') return cluster(...args);
      const done = callback as Callback;
      return anyMaster((node) => node.cluster('INFO')).then((text) => done(null, String(text)), done);
    },
    duplicate: (...options: Parameters<Cluster['duplicate']>) =>
      lookingSeldom(askingAnyMaster(duplicate(...options))),
  });
}

/** Resolves once commands can be sent; rejects after `limitMs`, with the errors met meanwhile. */
export async function ready(client: RedisClient, limitMs: number): Promise<void> {
  if (client instanceof ReplicatedRedis)
    await Promise.all(client.connections().map((lane) => ready(lane, limitMs)));
  if (client.status === 'ready') return;
  let cause = '';
  /** By host and port, in a cluster. */
  const nodes = new Map<string, string>();
  await new Promise<void>((resolve, reject) => {
    const done = (error?: Error) => {
      clearTimeout(timer);
      client.off('ready', onReady).off('error', onError).off('close', onClose).off('node error', onNode);
      error ? reject(error) : resolve();
    };
    const onReady = () => done();
    const onError = (error: Error) => {
      cause = `: ${causeOf(error)}`;
    };
    const onClose = () => {
      cause ||= `: ${SILENT}`;
    };
    const onNode = (error: Error, node: string) => void nodes.set(node, causeOfNode(error));
    const late = () => {
      const each = [...nodes].map(([node, why]) => `${node}: ${why}`).join(', ');
      done(new Error(`did not answer within ${limitMs} ms${each ? `: ${each}` : cause}`));
    };
    const timer = setTimeout(late, limitMs);
    client.on('error', onError).on('close', onClose).on('node error', onNode);
    client.once('ready', onReady);
  });
}

/** Sent to a client that is closed here in any state, because ioredis reports nothing for a client that was reconnecting. */
export const ENDED = 'ended';

/** Ends a connection without waiting for replies that may never come. */
export function disconnect(client: RedisClient): void {
  client.disconnect();
  client.emit(ENDED);
}
