import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startChild } from '../../src/local/child';
import { freePort } from '../../src/local/ports';
import { findRedisProgram } from '../../src/local/redis-program';
import type { RedisClient } from '../../src/store/redis/scripts';
import { ownServer } from './leftovers';

/** The name by which the Sentinels know the primary. */
export const PRIMARY_NAME = 'exchange';

export interface Sentinels {
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

const SIZE = 3;
const QUORUM = 2;
const DOWN_AFTER_MS = 1_000;
/** The next failover waits for twice this time. */
const FAILOVER_MS_MAX = 3_000;
const STOP_MS_MAX = 4_000;
const CACHE_FOLDER = path.join(__dirname, '../../.cache/redis');

/**
 * Three Sentinels on loopback that replace the primary at `port` after a second of silence. `more` are lines of their
 * configuration, such as the password of the primary (`sentinel auth-pass`) or their own (`requirepass`).
 */
export async function startSentinels(port: number, more: readonly string[] = []): Promise<Sentinels> {
  const program = await findRedisProgram({ cacheFolder: CACHE_FOLDER });
  const start = async () => {
    const own = await freePort();
    const folder = mkdtempSync(path.join(tmpdir(), 'exchange-sentinel-'));
    // It writes what it learns into this file.
    const file = path.join(folder, 'sentinel.conf');
    const watch = [
      `sentinel monitor ${PRIMARY_NAME} 127.0.0.1 ${port} ${QUORUM}`,
      `sentinel down-after-milliseconds ${PRIMARY_NAME} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${PRIMARY_NAME} ${FAILOVER_MS_MAX}`,
    ];
    const lines = [
      'bind 127.0.0.1',
      `dir ${folder}`,
      ...watch,
      ...more.map((line) => line.replaceAll('PORT', `${own}`)),
    ];
    const isOnTls = more.some((line) => line.startsWith('tls-port'));
    writeFileSync(file, [...(isOnTls ? ['port 0'] : [`port ${own}`]), ...lines, ''].join('\n'));
    const { command, env, args } = program;
    let onWatching = (): void => undefined;
    const watching = new Promise<void>((resolve) => {
      onWatching = resolve;
    });
    const child = startChild({
      name: 'sentinel',
      command,
      args: [...args(own), file, '--sentinel'],
      env,
      folder,
      onLine: (line) => void (line.includes('+monitor') && onWatching()),
    });
    const ended = child.exited.then(() => {
      throw new Error(`a Sentinel ended: ${child.lastLines().join('\n')}`);
    });
    await Promise.race([watching, ended]);
    ended.catch(() => undefined);
    return { port: own, child: ownServer(child) };
  };
  const all = await Promise.all(Array.from({ length: SIZE }, start));
  return {
    ports: all.map((one) => one.port),
    async stop() {
      await Promise.all(all.map(({ child }) => child.stop(STOP_MS_MAX)));
    },
  };
}

/**
 * Whether each of these Sentinels knows every replica and the others. One that learns of no replica before the primary dies has none to
 * promote, and may still be the one that the others choose.
 */
export async function areInformed(sentinels: readonly RedisClient[], replicas: number): Promise<boolean> {
  const all = await Promise.all(
    sentinels.map(async (sentinel) => {
      const [listed, quorum] = await Promise.all([
        sentinel.call('SENTINEL', 'REPLICAS', PRIMARY_NAME) as Promise<string[][]>,
        sentinel.call('SENTINEL', 'CKQUORUM', PRIMARY_NAME).catch(String),
      ]);
      const known = listed.map((fields) => new Map(fields.map((name, i) => [name, fields[i + 1]])));
      const up = known.filter(
        (one) => one.get('flags') === 'slave' && one.get('master-link-status') === 'ok',
      );
      return up.length === replicas && String(quorum).startsWith('OK 3');
    }),
  );
  return all.every(Boolean);
}
