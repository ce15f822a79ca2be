import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunningRedis, StartRedisOptions } from '../../src/local/redis';
import { openLink, startTestRedis } from './redis';
import { sleep, until } from './waiting';

/** A Redis that can be killed and restarts on its port with the data of its folder. */
export interface DurableRedis {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  /** Its data is here. */
  readonly folder: string;
  isUp(): boolean;
  /** Resolves when the running one has ended for any reason. */
  gone(): Promise<void>;
  /** SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
  /** Resolves when it accepts commands again; with other settings, only this time. */
  revive(settings?: StartRedisOptions['settings']): Promise<void>;
  /** Sends one inline command on a separate connection. */
  ask(command: string): Promise<string>;
  /** Resolves when a replica has everything that was written before. */
  copied(): Promise<void>;
  /** Resolves when this replica has the data of its first copy in its file, too: killed before, it would come back empty. */
  written(): Promise<void>;
  stop(): Promise<void>;
}

const TRIES_MAX = 100;
const PAUSE_MS = 100;

export async function startDurableRedis({
  settings = [],
  ...options
}: StartRedisOptions & { readonly folder?: string } = {}): Promise<DurableRedis> {
  const folder = options.folder ?? mkdtempSync(path.join(tmpdir(), 'exchange-durable-'));
  const start = (port: number, more: NonNullable<StartRedisOptions['settings']>): Promise<RunningRedis> =>
    startTestRedis({
      ...options,
      ...(port === 0 ? {} : { port }),
      settings: [...settings, ['dir', folder], ...more],
    });
  const ended = new WeakSet<RunningRedis>();
  const run = async (port: number, more: typeof settings = []): Promise<RunningRedis> => {
    const started = await start(port, more);
    void started.exited.then(() => ended.add(started));
    return started;
  };
  let redis = await run(0);
  const { port, url } = redis;
  return {
    port,
    url,
    folder,
    get pid() {
      return redis.pid;
    },
    isUp: () => !ended.has(redis),
    async gone() {
      await redis.exited;
    },
    async kill() {
      if (!ended.has(redis)) process.kill(redis.pid, 'SIGKILL');
      await redis.exited;
    },
    async revive(more) {
      for (let tries = 1; ; tries++) {
        try {
          redis = await run(port, more);
          return;
        } catch (error) {
          // A connection of another process may have the port for a moment.
          if (tries === TRIES_MAX || !String(error).includes('is taken')) throw error;
          await sleep(PAUSE_MS);
        }
      }
    },
    async ask(command) {
      const link = await openLink(port);
      try {
        return await link.ask(command);
      } finally {
        link.close();
      }
    },
    async copied() {
      const link = await openLink(port);
      try {
        // WAIT counts the copies of what its own connection wrote, and of everything before that.
        await link.ask('SET copied 1');
        await link.ask('DEL copied');
        if ((await link.ask('WAIT 1 60000')) !== '1') throw new Error('no replica has the last write');
      } finally {
        link.close();
      }
    },
    async written() {
      const link = await openLink(port);
      try {
        await until('the copied data are in the file', async () => {
          const info = await link.ask('INFO persistence');
          return ['in_progress', 'scheduled'].every((name) => info.includes(`aof_rewrite_${name}:0`));
        });
      } finally {
        link.close();
      }
    },
    async stop() {
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
