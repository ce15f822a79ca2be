import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { ZERO_ADDRESS } from '../src/exchange/order';
import { micro } from '../src/exchange/units';
import { writeBackup } from '../src/extensions/backup/store/backup';
import { restoreBackup } from '../src/extensions/backup/store/restore';
import { createKeys } from '../src/store/redis/keys';
import { createScripts } from '../src/store/redis/scripts';
import { createEngine } from '../src/store/verbs/engine';
import { startDurableRedis } from '../test/support/durable-redis';
import { batched, fill } from './engine';
import { round } from './figures';
import { type Line, lineOf } from './line';
import { type Size, sizes } from './size';

/**
 * The time until resting orders, half of them with what was signed, are in Redis again. `aof` is a restart with the append-only
 * file as Redis wrote it, `rewritten` one with the file that BGREWRITEAOF leaves, and `backup` a restore of a file of
 * `exchange backup`, without the audit behind it. Each from its first command until Redis has every key.
 */
export interface RestoreRow {
  readonly from: 'aof' | 'rewritten' | 'backup';
  readonly orders: number;
  readonly seconds: number;
  readonly megabytes: number;
}

const ORDERS = sizes(2_000, 50_000, 1_000_000);
const FILL_MS_MAX = 600_000;
const LOOK_MS = 50;

export async function benchRestore(
  redisUrl: string,
  size: Size,
  emit: (row: RestoreRow) => void,
): Promise<void> {
  const orders = Number(process.env.RESTORE_ORDERS ?? ORDERS[size]);
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-restore-'));
  const source = await startDurableRedis({
    appendonly: 'everysec',
    settings: [['auto-aof-rewrite-percentage', '0']],
  });
  const [own, target] = [new Redis(source.url), new Redis(redisUrl)];
  // The source ends twice.
  own.on('error', () => undefined);
  const row = async (
    from: RestoreRow['from'],
    bytes: number,
    restore: () => Promise<unknown>,
  ): Promise<void> => {
    const startedAt = performance.now();
    await restore();
    const seconds = (performance.now() - startedAt) / 1_000;
    emit({ from, orders, seconds: round(seconds), megabytes: round(bytes / 1e6) });
  };
  const restart = async (from: RestoreRow['from']): Promise<void> => {
    const [bytes, before] = [await sizeOf(own), await own.dbsize()];
    await source.kill();
    await row(from, bytes, () => source.revive());
    const after = await own.dbsize();
    if (after !== before) throw new Error(`${after} keys instead of ${before}`);
  };
  try {
    const engine = createEngine({
      run: createScripts(batched(own)),
      grantMicro: micro(1e14),
      makersMax: 1_000,
    });
    if (!(await fill(own, engine, orders, Date.now() + FILL_MS_MAX))) throw new Error('not filled in time');
    await restart('aof');
    await own.call('BGREWRITEAOF');
    while (!/aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0/.test(await own.info('persistence')))
      await new Promise((done) => setTimeout(done, LOOK_MS));
    await restart('rewritten');

    const facts = (redis: Redis) => ({
      redis,
      run: createScripts(redis),
      shards: [{ keys: createKeys(), archive: null }],
      chainId: 97,
      exchange: ZERO_ADDRESS,
      now: Date.now,
    });
    const file = path.join(folder, 'exchange.backup');
    await engine.setMode('HALTED');
    await writeBackup(facts(own), file);
    const how = { force: false, incomplete: false };
    await row('backup', statSync(file).size, () => restoreBackup(facts(target), file, how));
  } finally {
    own.disconnect();
    target.disconnect();
    await source.stop();
    rmSync(folder, { recursive: true });
  }
}

/** The bytes of the append-only file. */
const sizeOf = async (redis: Redis): Promise<number> =>
  Number(/^aof_current_size:(\d+)/m.exec(await redis.info('persistence'))?.[1]);

const WAYS: Readonly<Record<RestoreRow['from'], string>> = {
  aof: 'a restart with the append-only file as it was written',
  rewritten: 'a restart with a rewritten append-only file',
  backup: 'a restore of a backup',
};

export const restoreLines = (rows: readonly RestoreRow[]): Line[] =>
  rows.map(({ from, orders, seconds, megabytes }) =>
    lineOf({
      suite: 'restore',
      what: `${orders.toLocaleString('en-US')} resting orders, ${WAYS[from]} of ${megabytes} MB`,
      figure: seconds,
      unit: 's',
      options: '--full',
    }),
  );
