import type { RunningRedis } from '../../src/local/redis';
import { type Client, createClient } from './client';
import { portOf, START_MS, type Started, startNode } from './processes';
import { startTestRedis } from './redis';
import { ENVIRONMENT } from './settings';
import { until } from './waiting';

const { isStale } = require('../../scripts/build.js') as { isStale(): boolean };

/** A built process of the Procfile, as an operator runs it. */
export interface Process extends Started {
  readonly url: string;
  readonly client: Client;
}

export interface Deployment {
  readonly redis: RunningRedis;
  /** `redisUrl` for another address than this deployment's own Redis. */
  web(env?: Record<string, string>): Promise<Process>;
  worker(): Promise<Started>;
  stop(): Promise<void>;
}

/** dist/web.js and dist/worker.js on their own Redis. */
export async function startDeployment(): Promise<Deployment> {
  if (isStale()) throw new Error('dist is older than the sources: npm run build');
  const redis = await startTestRedis();
  const started: Started[] = [];
  const start = (file: string, env: Record<string, string>): Started => {
    const process_ = startNode([file], { ...ENVIRONMENT, REDIS_URL: redis.url, ...env });
    started.push(process_);
    return process_;
  };
  return {
    redis,
    web: async (env = {}) => {
      const child = start('dist/web.js', { PORT: '0', ...env });
      const url = `http://127.0.0.1:${await portOf(child)}`;
      return { ...child, url, client: createClient(url) };
    },
    worker: async () => {
      const child = start('dist/worker.js', {});
      await until('worker runs', () => child.stdout().includes('worker is running'), {
        patienceMs: START_MS,
      });
      return child;
    },
    stop: async () => {
      for (const { child } of started) child.kill('SIGKILL');
      await Promise.all(started.map(({ exited }) => exited));
      await redis.stop();
    },
  };
}
