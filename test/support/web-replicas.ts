import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startWeb, type Web } from '../../src/app/web';
import { type Environment, loadConfig } from '../../src/config/load';
import { micro } from '../../src/exchange/units';
import { createLogger } from '../../src/log';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { createEngine } from '../../src/store/verbs/engine';
import { type Client, createClient } from './client';
import { startDurableRedis } from './durable-redis';
import { portOf, type Started, startScript } from './processes';
import { ADMIN_TOKEN, ENVIRONMENT } from './settings';
import { stopAll } from './stopping';
import { type OpenMarket, openMarket } from './trader';
import { READY_MS, sleep, until } from './waiting';

const GRANT = '1000000';
const STOP_MS = 2_000;

/** A web process, seen from outside. */
export interface RunningWeb {
  readonly url: string;
  readonly client: Client;
  stop(): Promise<void>;
}
/** Within the test's process. */
export interface Replica extends RunningWeb {
  readonly web: Web;
  readonly port: number;
}
/** In a process of its own, started from the sources. */
export interface ReplicaProcess extends RunningWeb {
  readonly started: Started;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

export interface WebReplicasOptions {
  /** The number at the beginning; default 1. With 0, `replicas` is empty and there is no `client`. */
  readonly replicas?: number;
  readonly env?: Environment;
  /** Redis writes every command to disk before it answers, so that `restartRedis` restores it. */
  readonly durable?: boolean;
}
export type WebReplicas = Awaited<ReturnType<typeof startWebReplicas>>;

/** One replica within the test's process, on the Redis of `env`. */
export async function startReplica(env: Environment, logged: string[] = []): Promise<Replica> {
  const config = loadConfig({ ...ENVIRONMENT, PAPER_GRANT: GRANT, LOG_LEVEL: 'debug', ...env });
  const web = await startWeb(
    config,
    createLogger(config, 'web', { write: (line: string) => logged.push(line) }),
  );
  const url = `http://127.0.0.1:${web.port}`;
  return { web, port: web.port, url, client: createClient(url), stop: () => web.stop(STOP_MS) };
}

/** Web replicas on their own Redis, and direct access of the test to the stored data. */
export async function startWebReplicas({
  replicas: count = 1,
  env: more = {},
  durable = false,
}: WebReplicasOptions = {}) {
  const redis = await startDurableRedis({ appendonly: durable ? 'always' : 'no' });
  const env = { ...ENVIRONMENT, PAPER_GRANT: GRANT, REDIS_URL: redis.url, ...more };
  const logged: string[] = [];
  const copies: string[] = [];
  const running = new Set<RunningWeb>();
  const processes: Started[] = [];
  const own = connect({ urls: [redis.url] });
  const run = createScripts(own);
  const engine = createEngine({ run, grantMicro: micro(Number(GRANT) * 1_000_000), makersMax: 500 });

  const tracked = <T extends RunningWeb>(one: T): T => {
    running.add(one);
    return one;
  };
  async function replica(its: Environment = {}): Promise<Replica> {
    const started = await startReplica({ ...env, ...its }, logged);
    const one: Replica = tracked({
      ...started,
      stop: async () => {
        running.delete(one);
        await started.stop();
      },
    });
    return one;
  }

  async function replicaProcess(before: readonly string[] = []): Promise<ReplicaProcess> {
    const started = startScript("require('./src/web.ts')", env as Record<string, string>, before);
    processes.push(started);
    const url = `http://127.0.0.1:${await portOf(started)}`;
    const end = async (signal: NodeJS.Signals): Promise<void> => {
      running.delete(one);
      started.child.kill(signal);
      await started.exited;
    };
    const [stop, kill] = [() => end('SIGTERM'), () => end('SIGKILL')];
    const one: ReplicaProcess = tracked({ started, url, client: createClient(url), stop, kill });
    return one;
  }

  const stop = async (): Promise<void> => {
    try {
      await stopAll(...[...running].map((one) => one.stop));
    } finally {
      for (const { child } of processes) child.kill('SIGKILL');
      disconnect(own);
      await redis.stop();
      for (const copy of copies) rmSync(copy, { recursive: true, force: true });
    }
  };
  const replicas: Replica[] = [];
  try {
    await ready(own, READY_MS);
    for (let i = 0; i < count; i++) replicas.push(await replica());
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    redis,
    /** The variables of its processes. */
    env,
    replicas: replicas as [Replica, ...Replica[]],
    /** Every line that replicas within the test's process logged. */
    logged,
    /** The test's own connection, and an engine on it, whose orders are not signed. */
    store: { redis: own, run, keys: createKeys(), engine },
    replica,
    replicaProcess,
    stop,
    /** The client of the first replica. */
    get client(): Client {
      if (!replicas[0])
        throw new Error('this test started no replica at the beginning: use its own `client`');
      return replicas[0].client;
    },
    /** A new market, whose creation was broadcast: a socket that subscribes to it now receives later updates alone. */
    async market(at: Pick<RunningWeb, 'client'>): Promise<OpenMarket> {
      const market = await openMarket(at.client, ADMIN_TOKEN);
      const log = createKeys().updates(market.id);
      await until('the market was broadcast', async () => (await own.xlen(log)) > 0);
      return market;
    },
    /** A copy of what Redis has written so far, for `restartRedis`. */
    saved(): string {
      const copy = mkdtempSync(path.join(tmpdir(), 'exchange-saved-'));
      copies.push(copy);
      cpSync(redis.folder, copy, { recursive: true });
      return copy;
    },
    /** Kills Redis and starts it again with the data written until now or until `saved`. */
    async restartRedis(awayMs = 0, saved?: string): Promise<void> {
      await redis.kill();
      if (saved) {
        for (const name of readdirSync(redis.folder)) {
          rmSync(path.join(redis.folder, name), { recursive: true });
        }
        cpSync(saved, redis.folder, { recursive: true });
      }
      await sleep(awayMs);
      await redis.revive();
      await until('the test is connected again', () => own.status === 'ready');
    },
  };
}
