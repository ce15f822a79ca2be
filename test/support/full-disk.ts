import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findRedisProgram } from '../../src/local/redis-program';
import type { DurableRedis } from './durable-redis';
import { ROOT } from './processes';

/**
 * A disk that fills up under a Redis and is cleared again: no file of the Redis can grow, and a write beyond the limit is cut
 * short or fails, as on a full disk (with EFBIG instead of ENOSPC). It needs no rights, no mount and no disk, because it
 * limits the process (Linux, prlimit of util-linux).
 */
export interface FullDisk {
  /** For `startDurableRedis`: a server whose write beyond the limit fails without ending the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Lets a number of bytes fit; a Redis that is started from now on finds no space at all. */
  fill(redis: DurableRedis, spareBytes?: number): void;
  /** A Redis that has ended needs nothing: the next one starts with space. */
  clear(redis: DurableRedis): void;
  remove(): void;
}

export async function createFullDisk(): Promise<FullDisk> {
  const { command, env, isContainer } = await findRedisProgram({
    cacheFolder: path.join(ROOT, '.cache/redis'),
  });
  if (isContainer) throw new Error('a full disk needs a redis-server on this machine, not in a container');
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-full-disk-'));
  const full = path.join(folder, 'full');
  // The signal of a write beyond the limit would end the process if it were not ignored.
  const program = `#!/bin/sh
trap '' XFSZ
if [ -e '${full}' ]; then ulimit -S -f 0; fi
exec '${command}' "$@"
`;
  writeFileSync(path.join(folder, 'redis-server'), program, { mode: 0o755 });
  return {
    env: { ...(env as Record<string, string>), PATH: `${folder}${path.delimiter}${env.PATH}` },
    fill(redis, spareBytes = 0) {
      writeFileSync(full, '');
      limit(redis.pid, String(largestFile(redis.folder) + spareBytes));
    },
    clear(redis) {
      rmSync(full);
      if (redis.isUp()) limit(redis.pid, 'unlimited');
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The soft limit alone, so that the tests may raise it again. A process that has just ended needs none. */
function limit(pid: number, bytes: string): void {
  const { status, error, stderr } = spawnSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`]);
  if (status !== 0 && !/No such process/.test(String(stderr)))
    throw new Error(`prlimit: ${error?.message ?? stderr}`);
}

/** The append-only file in use. */
function largestFile(folder: string): number {
  const at = path.join(folder, 'appendonlydir');
  const names = existsSync(at) ? readdirSync(at) : [];
  return Math.max(0, ...names.map((name) => statSync(path.join(at, name)).size));
}
