import { startWeb, type Web } from '../../src/app/app';
import { type Environment, loadConfig } from '../../src/config/load';
import type { RunningRedis } from '../../src/local/redis';
import { createLogger } from '../../src/log';
import { type Client, createClient } from './client';
import { startTestRedis } from './redis';

export const ADMIN_TOKEN = 'admin-token-of-the-tests-0123456789';
export const JWT_SECRET = 'jwt-secret-of-the-tests-0123456789abcdef';
const STOP_MS = 2_000;

export interface Replica {
  readonly web: Web;
  readonly port: number;
  readonly client: Client;
}

/** Web replicas on one Redis of their own, as a deployment has them, within the test's process. */
export interface TestExchange {
  readonly redis: RunningRedis;
  readonly replicas: readonly [Replica, ...Replica[]];
  /** Of the first replica. */
  readonly client: Client;
  /** Every line that was logged. */
  readonly logged: string[];
  stop(): Promise<void>;
}

export interface TestExchangeOptions {
  readonly replicas?: number;
  readonly env?: Environment;
}

/** Whatever a test does not say otherwise. */
const ENVIRONMENT = {
  NODE_ENV: 'test',
  PORT: '0',
  PUBLIC_BASE_URL: 'https://exchange.test',
  JWT_SECRET: `k1:${JWT_SECRET}`,
  ADMIN_TOKEN,
  RATE_LIMIT: 'off',
  PAPER_GRANT: '1000000',
  LOG_LEVEL: 'debug',
} as const;

/** One replica on a Redis of the caller's. */
export async function startReplica(env: Environment, logged: string[] = []): Promise<Replica> {
  const config = loadConfig({ ...ENVIRONMENT, ...env });
  const log = createLogger(config, 'web', { write: (line: string) => logged.push(line) });
  const web = await startWeb(config, log);
  return { web, port: web.port, client: createClient(`http://127.0.0.1:${web.port}`) };
}

/** Rate limits are off unless `env` says otherwise. */
export async function startExchange({
  replicas = 1,
  env = {},
}: TestExchangeOptions = {}): Promise<TestExchange> {
  const redis = await startTestRedis();
  const logged: string[] = [];
  const config = loadConfig({ ...ENVIRONMENT, REDIS_URL: redis.url, ...env });
  const log = createLogger(config, 'web', { write: (line: string) => logged.push(line) });
  const started: Replica[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(({ web }) => web.stop(STOP_MS)));
    await redis.stop();
  };
  try {
    for (let i = 0; i < replicas; i++) {
      const web = await startWeb(config, log);
      started.push({ web, port: web.port, client: createClient(`http://127.0.0.1:${web.port}`) });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const [first, ...rest] = started;
  if (!first) throw new Error('no replica');
  return { redis, replicas: [first, ...rest], client: first.client, logged, stop };
}
