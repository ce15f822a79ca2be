import { connect, type Socket } from 'node:net';
import { type RunningRedis, type StartRedisOptions, startRedis } from '../../src/local/redis';
import { ownServer } from './leftovers';
import { sleep } from './waiting';

/** A replica receives the data at once, and not five seconds later, when other replicas may have come. */
const AT_ONCE = ['repl-diskless-sync-delay', '0'] as const;

/** A Redis for the test file alone: `beforeAll(startTestRedis)`, and `stop()` in `afterAll`. */
export const startTestRedis = async (options: StartRedisOptions = {}): Promise<RunningRedis> =>
  ownServer(await startRedis({ ...options, settings: [AT_ONCE, ...(options.settings ?? [])] }));

export interface TestCluster {
  /** First nodes, separated by commas, in the form of REDIS_URL. */
  readonly url: string;
  readonly nodes: readonly RunningRedis[];
  stop(): Promise<void>;
}

const SLOTS = 16_384;
const NODES_MAX = 9;
const CLUSTER_MS_MAX = 90_000;
const POLL_MS = 25;

/**
 * A real Redis Cluster of masters on loopback, with every slot served. Takes about a second. Masters go on when another is away, as
 * docs/run/cluster.md asks.
 */
export async function startTestCluster(size = 3, options: StartRedisOptions = {}): Promise<TestCluster> {
  if (size < 1 || size > NODES_MAX) throw new Error(`a cluster has 1 to ${NODES_MAX} masters`);
  const nodes: RunningRedis[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    const settings = [['cluster-require-full-coverage', 'no'] as const, ...(options.settings ?? [])];
    const start = async () => nodes.push(await startTestRedis({ ...options, settings, cluster: true }));
    const starts = await Promise.allSettled(Array.from({ length: size }, start));
    for (const one of starts) if (one.status === 'rejected') throw one.reason;
    await joinCluster(nodes);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: nodes.map((node) => node.url).join(','), nodes, stop };
}

/** A node of a cluster, as the others find it. */
export interface Member {
  readonly port: number;
  readonly busPort: number;
}

/** Makes masters of new nodes, with an equal part of the slots each, and waits until each knows that every slot is served. */
export async function joinCluster(nodes: readonly Member[]): Promise<void> {
  const links = await Promise.all(nodes.map((node) => openLink(node.port)));
  try {
    for (const [index, link] of links.entries()) {
      const from = Math.floor((SLOTS * index) / nodes.length);
      const to = Math.floor((SLOTS * (index + 1)) / nodes.length) - 1;
      await link.ask(`CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
      await link.ask(`CLUSTER ADDSLOTSRANGE ${from} ${to}`);
      for (const { port, busPort } of nodes.slice(0, index)) {
        await link.ask(`CLUSTER MEET 127.0.0.1 ${port} ${busPort}`);
      }
    }
    const giveUpAt = Date.now() + CLUSTER_MS_MAX;
    for (const link of links) {
      while (!isWhole(await link.ask('CLUSTER INFO'), nodes.length)) {
        if (Date.now() > giveUpAt) throw new Error('the test cluster did not form');
        await sleep(POLL_MS);
      }
    }
  } finally {
    for (const link of links) link.close();
  }
}

const isWhole = (info: string, size: number): boolean =>
  info.includes('cluster_state:ok') &&
  info.includes(`cluster_slots_ok:${SLOTS}`) &&
  info.includes(`cluster_size:${size}`);

export interface RedisLink {
  /** One inline command, one answer of a single part; error answers reject. */
  ask(command: string): Promise<string>;
  close(): void;
}

/** A few lines of the Redis protocol, for replies that the store's client would hide. */
export async function openLink(port: number, host = '127.0.0.1'): Promise<RedisLink> {
  const socket: Socket = connect(port, host);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const ask = (command: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = '';
      const onData = (chunk: Buffer): void => {
        text += chunk.toString('latin1');
        const [head = '', ...body] = text.split('\r\n');
        const length = head.startsWith('$') ? Number(head.slice(1)) : null;
        if (body.length === 0 || (length !== null && length >= 0 && text.length < head.length + 4 + length))
          return;
        socket.off('data', onData).off('close', onClose);
        if (head.startsWith('-')) reject(new Error(head.slice(1)));
        else resolve(length === null ? head.slice(1) : body.join('\r\n').slice(0, Math.max(length, 0)));
      };
      const onClose = (): void => reject(new Error('Redis hung up'));
      socket.on('data', onData).on('close', onClose);
      socket.write(`${command}\r\n`);
    });
  socket.on('error', () => undefined);
  return { ask, close: () => socket.destroy() };
}
