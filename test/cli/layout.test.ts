import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { loadConfig } from '../../src/config/load';
import { writeBackup } from '../../src/extensions/backup/store/backup';
import type { RunningRedis } from '../../src/local/redis';
import { LAYOUT } from '../../src/store/health/layout';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts, scriptSources } from '../../src/store/redis/scripts';
import { startTestRedis } from '../support/redis';
import { createShell } from './shell';

let server: RunningRedis;
let redis: Redis;
let folder: string;
const { layout: KEY } = createKeys();

beforeAll(async () => {
  server = await startTestRedis();
  redis = new Redis(server.url);
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-layout-'));
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('the doctor shows the layout of the data, and fails when a newer program is needed', async () => {
  await redis.hset(KEY, { layout: LAYOUT, oldest: 1 });
  const fit = await createShell(server.url).exchange('doctor');
  expect(fit.out).toMatch(
    new RegExp(`^ok +layout +the data has layout ${LAYOUT}, .*this program has ${LAYOUT}$`, 'm'),
  );
  await redis.hset(KEY, { layout: LAYOUT + 2, oldest: LAYOUT + 1 });
  const unfit = await createShell(server.url).exchange('doctor');
  expect(unfit.code).toBe(1);
  expect(unfit.out).toMatch(new RegExp(`^fail +layout +.*${LAYOUT + 2}.*${LAYOUT + 1} or newer`, 'm'));
});

test('a backup contains the layout of the data, and one that needs a newer program is not restored', async () => {
  const shell = createShell(server.url);
  const [old, newer] = [path.join(folder, 'old'), path.join(folder, 'newer')];
  await redis.del(KEY);
  expect((await shell.exchange('backup', old, '--halt')).code).toBe(0);
  expect(await shell.json('restore', old, '--verify-only')).toMatchObject({ layout: 1, oldestLayout: 1 });
  expect((await shell.exchange('mode', 'HALTED')).code).toBe(0);
  await redis.hset(KEY, { layout: LAYOUT + 2, oldest: LAYOUT + 1 });
  // Every other command refuses such data.
  for (const words of [['mode', 'NORMAL'], ['audit'], ['markets', 'list'], ['backup', newer, '--halt']]) {
    const refused = await shell.exchange(...words);
    expect([words, refused.code, refused.out]).toEqual([words, 78, '']);
    expect(refused.err).toMatch(/^error: the data has layout/);
  }
  await writeNewer(newer);
  const { code, err } = await shell.exchange('restore', newer, '--force', '--yes');
  expect(code).toBe(3);
  expect(err).toContain(`layout ${LAYOUT + 2}`);
  // No data was deleted.
  expect(await redis.hget(KEY, 'layout')).toBe(String(LAYOUT + 2));
  expect((await shell.exchange('restore', old, '--force', '--yes')).code).toBe(0);
  expect(await redis.exists(KEY)).toBe(0);
});

/** As a newer program would. */
async function writeNewer(file: string): Promise<void> {
  const { chainId, exchangeAddress } = loadConfig({ NODE_ENV: 'test', REDIS_URL: server.url });
  const options = {
    redis,
    run: createScripts(redis, scriptSources()),
    shards: [{ keys: createKeys(), archive: null }],
    now: Date.now,
    chainId,
    exchange: exchangeAddress,
  };
  await writeBackup(options, file);
}
