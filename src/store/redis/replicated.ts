import { Redis } from 'ioredis';
import { reconnect } from './demotion';

/**
 * DURABILITY=replicated: a reply counts once replicas have on their disks what was written before it. Replication is one ordered
 * stream, so one wait behind the commands of a turn of the event loop answers for all of them, reads too.
 */

/** The time that replicas have to receive, and then to have on their disks, what is waited for. */
const CONFIRM_MS = 500;
/**
 * The server waits for the last write of the connection that asks. A message without a receiver is a write of the replication
 * stream, and takes neither a key nor disk, also while Redis is full. docs/deploy/redis-acl.conf allows channels of this name.
 */
const CHANNEL = 'socket.io:confirm';

/** Too few replicas have confirmed in time. What was sent may have been done, and may be lost at a failover. */
export class NotReplicated extends Error {
  constructor(why: string) {
    super(`Too few replicas have confirmed what was written: ${why}`);
    this.name = 'NotReplicated';
  }
}

/**
 * Resolves when this many replicas, and the server itself, have on their disks everything that this connection has read or written so
 * far. WAIT makes the replicas report at once; they would report their disks only once a second. After a failure the connection is made
 * again: it resolves its name once more, and nothing waits behind it.
 */
export async function confirm(redis: Redis, replicas: number): Promise<void> {
  const { stream } = redis;
  const barrier = Redis.prototype.pipeline.call(redis) as ReturnType<Redis['pipeline']>;
  const replies = await barrier
    .publish(CHANNEL, '')
    .wait(replicas, CONFIRM_MS)
    .call('WAITAOF', 1, replicas, CONFIRM_MS)
    .exec();
  const failed = replies?.find(([error]) => error !== null)?.[0];
  const [own, others] = (replies?.[2]?.[1] ?? [0, 0]) as [number, number];
  // A command that waits for its connection would be sent to another server than the one that was read.
  if (!failed && own >= 1 && others >= replicas && redis.stream === stream) return;
  if (redis.stream === stream) reconnect(redis);
  throw new NotReplicated(
    failed?.message ?? `${others} of ${replicas} had it on their disks within ${CONFIRM_MS} ms`,
  );
}

/** Why this server cannot confirm anything, whatever replicas it has; null when it can. */
export async function unableToConfirm(redis: Redis): Promise<string | null> {
  const asking = Redis.prototype.pipeline.call(redis) as ReturnType<Redis['pipeline']>;
  const replies = await asking.info('server').call('WAITAOF', 1, 0, CONFIRM_MS).exec();
  const [info, kept] = replies ?? [];
  const message = kept?.[0]?.message ?? '';
  if (/unknown command/i.test(message)) {
    const version = /^redis_version:(\S+)/m.exec(String(info?.[1]))?.[1] ?? 'unknown';
    return `needs Redis 7.2 or Valkey, and this is Redis ${version}`;
  }
  return /appendonly|NOPERM/.test(message) ? `cannot be kept: ${message}` : null;
}

interface Lane {
  readonly redis: Redis;
  /** The turns that wait on it. */
  turns: number;
}

/** The commands of one turn of the event loop. */
interface Turn {
  readonly lane: Lane;
  readonly confirmed: Promise<void>;
}

type Exec = () => Promise<[Error | null, unknown][] | null>;

/**
 * Sends the commands of a turn over one of its lanes, with the wait behind them, and resolves them when they are confirmed. A wait
 * holds up the commands behind it on its connection, so the next turn takes another lane. Pipelines, and the commands before it is
 * ready, go over its own connection.
 */
export class ReplicatedRedis extends Redis {
  private turn: Turn | null = null;
  private lanes: readonly Lane[] = [];
  private replicas = 1;

  /** Takes turns on `lanes`; this many replicas confirm. */
  useLanes(lanes: readonly Redis[], replicas: number): void {
    this.lanes = lanes.map((redis) => ({ redis, turns: 0 }));
    this.replicas = replicas;
    confirmPipelines(this, replicas);
  }

  /** The connections that it needs. */
  connections(): readonly Redis[] {
    return this.lanes.map(({ redis }) => redis);
  }

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const [command, stream] = args;
    if (stream || this.status !== 'ready') return super.sendCommand(...args);
    this.turn ??= this.begin();
    if (this.turn === null) {
      command.reject(new NotReplicated('no connection is open'));
      return command.promise;
    }
    const { lane, confirmed } = this.turn;
    const reply = lane.redis.sendCommand(command) as Promise<unknown>;
    return Promise.all([reply, confirmed]).then(([value]) => value);
  }

  /** Null while no lane is open. */
  private begin(): Turn | null {
    // One that is being closed is ready until its socket has ended.
    const open = this.lanes.filter(({ redis }) => redis.status === 'ready' && redis.stream.writable);
    const lane = open.reduce<Lane | undefined>(
      (least, each) => (least && least.turns <= each.turns ? least : each),
      undefined,
    );
    if (!lane) return null;
    lane.turns++;
    const confirmed = new Promise<void>((resolve, reject) => {
      // Before the socket is uncorked (GatheringRedis), so that the wait leaves with the commands.
      setImmediate(() => {
        this.turn = null;
        confirm(lane.redis, this.replicas)
          .finally(() => lane.turns--)
          .then(resolve, reject);
      });
    });
    // Each command of the turn reports it.
    confirmed.catch(() => undefined);
    return { lane, confirmed };
  }

  override disconnect(isReconnecting = false): void {
    super.disconnect(isReconnecting);
    if (!isReconnecting) for (const { redis } of this.lanes) redis.disconnect();
  }
}

/** Pipelines of this client resolve when they are confirmed. */
function confirmPipelines(redis: Redis, replicas: number): void {
  const behind = <T extends { exec: Exec }>(pipeline: T): T => {
    const exec: Exec = pipeline.exec.bind(pipeline);
    return Object.assign(pipeline, {
      async exec() {
        const replies = await exec();
        await confirm(redis, replicas);
        return replies;
      },
    });
  };
  const [pipeline, multi] = [redis.pipeline.bind(redis), redis.multi.bind(redis)];
  Object.assign(redis, { pipeline: () => behind(pipeline()), multi: () => behind(multi()) });
}
