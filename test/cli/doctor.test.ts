import { stripVTControlCharacters } from 'node:util';
import { Redis } from 'ioredis';
import { freePort } from '../../src/local/ports';
import type { RunningRedis } from '../../src/local/redis';
import type { Check } from '../../src/store/health/doctor';
import { startTestRedis } from '../support/redis';
import { ENVIRONMENT } from '../support/settings';
import { createShell } from './shell';

let server: RunningRedis;
let redis: Redis;
beforeAll(async () => {
  server = await startTestRedis({ appendonly: 'always', settings: [['maxmemory', '1gb']] });
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const PRODUCTION = {
  NODE_ENV: 'production',
  JWT_SECRET: ENVIRONMENT.JWT_SECRET,
  PUBLIC_BASE_URL: 'https://exchange.test',
  TRUST_PROXY: '1',
};

async function verdicts(env = {}): Promise<Record<string, string>> {
  const { checks } = await createShell(server.url, env).json('doctor');
  return Object.fromEntries((checks as Check[]).map(({ name, verdict }) => [name, verdict]));
}

/** Runs with a changed setting of Redis, and restores it. */
async function having<T>(name: string, value: string, look: () => Promise<T>): Promise<T> {
  const [, before = ''] = (await redis.config('GET', name)) as string[];
  await redis.config('SET', name, value);
  try {
    return await look();
  } finally {
    await redis.config('SET', name, before);
  }
}

test('doctor passes a suitable Redis', async () => {
  const { code, out, err } = await createShell(server.url, PRODUCTION).exchange('doctor');
  expect([code, err]).toEqual([0, '']);
  const lines = out.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(11);
  for (const line of lines) expect(line).toMatch(/^(ok |warn +round trip)/);
  expect(out).toMatch(/^ok +connections +\d+ of 10000, .* room for 17\d\d more web processes$/m);
});

test('on a terminal the verdicts have colours, and JSON has none', async () => {
  const plain = await createShell(server.url).exchange('doctor');
  const shell = createShell(server.url, {}, true);
  const { out } = await shell.exchange('doctor');
  expect(out).toContain('\x1b[32mok\x1b[39m');
  expect(stripVTControlCharacters(out).split('\n').length).toBe(plain.out.split('\n').length);
  expect((await shell.exchange('doctor', '--json')).out).not.toContain('\x1b');
});

test('doctor names unfit settings, and fails in production', async () => {
  const weak = await having('appendfsync', 'everysec', () => Promise.all([verdicts(), verdicts(PRODUCTION)]));
  expect(weak.map(({ durability }) => durability)).toEqual(['warn', 'fail']);
  const without = await having('appendonly', 'no', () => createShell(server.url).exchange('doctor'));
  expect(without.out).toMatch(
    /^warn +durability +.*: appendonly is no; set appendonly yes and appendfsync always$/m,
  );
  const hasty = await having('appendfsync', 'no', () => createShell(server.url).exchange('doctor'));
  expect(hasty.out).toMatch(/^warn +durability +.*: appendfsync is no; set appendfsync always$/m);
  const evicting = await having('maxmemory-policy', 'allkeys-lru', () =>
    createShell(server.url).exchange('doctor'),
  );
  expect(evicting.code).toBe(1);
  expect(evicting.out).toMatch(/^fail {2}eviction .*allkeys-lru.*noeviction$/m);
  expect((await having('maxmemory', '0', () => verdicts())).memory).toBe('warn');
  expect((await having('aof-load-truncated', 'yes', () => verdicts(PRODUCTION)))['aof-load-truncated']).toBe(
    'fail',
  );
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  expect((await having('maxmemory', String(Math.round(used * 1.02)), () => verdicts())).memory).toBe('fail');
  expect((await having('maxmemory', String(used * 4), () => verdicts())).memory).toBe('ok');
  expect((await having('maxclients', '2', () => verdicts())).connections).toBe('fail');

  await redis.set('{x0}:restoring', '2026-11-21T12:00:00.000Z');
  await redis.set('{x0}:mode', '1');
  await redis.hset('{x0}:sum', 'failed', 3);
  const unwell = await verdicts();
  expect(unwell).toMatchObject({ restore: 'fail', mode: 'warn', settlement: 'warn' });
  await redis.set('{x0}:notice', '1the operator waits for a disk');
  const said = await createShell(server.url).exchange('doctor');
  expect(said.out).toMatch(/^warn +mode +CANCEL_ONLY: the operator waits for a disk$/m);
  await redis.del('{x0}:restoring', '{x0}:mode', '{x0}:notice', '{x0}:sum');
});

test('an audit of a full Redis says so', async () => {
  const { exchange, json } = createShell(server.url);
  const { id } = await json('markets', 'create', 'Full?');
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  const { code, err } = await having('maxmemory', String(Math.round(used / 2)), () => exchange('audit'));
  expect([code, err]).toEqual([
    3,
    expect.stringMatching(/^error: UNAVAILABLE: Redis is full, .* raise maxmemory/),
  ]);
  await json('markets', 'close', id, '--yes');
});

test('doctor refuses a replica', async () => {
  await redis.replicaof('127.0.0.1', 1);
  try {
    const { code, out } = await createShell(server.url).exchange('doctor');
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^fail {2}role +slave: the exchange needs the master$/m),
    ]);
  } finally {
    await redis.replicaof('NO', 'ONE');
  }
});

test('doctor names open markets that accept dust, because dust can use up the makers that one order may meet', async () => {
  const { exchange, json } = createShell(server.url);
  const create = (question: string, ...options: string[]) => json('markets', 'create', question, ...options);
  await create('How much at least?');
  await create('Not open yet?', '--draft', '--min-order-size', '0.01');
  expect((await verdicts()).dust).toBe('ok');
  const { id } = await create('How little?', '--min-order-size', '0.01');
  const { code, out } = await exchange('doctor');
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(
      new RegExp(`^warn +dust +${id}: .* MATCH_MAKERS_MAX and .*; .* minOrderSize 1$`, 'm'),
    ),
  ]);
  await json('markets', 'close', id, '--yes');
  expect((await verdicts()).dust).toBe('ok');
});

test('doctor reports entries and trades that are dated ahead of Redis', async () => {
  expect((await verdicts()).dates).toBe('ok');
  await redis.xadd('{x0}:out', `${Date.now() + 86_400_000}-0`, 'e', 'x');
  try {
    const { code, out } = await createShell(server.url).exchange('doctor');
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^fail {2}dates +the outbox is dated 86\d\d\d s/m),
    ]);
  } finally {
    await redis.del('{x0}:out');
  }
});

test('doctor and the commands of the archive say why PostgreSQL does not answer', async () => {
  const port = await freePort();
  const { exchange, json } = createShell(server.url, {
    ARCHIVE_URL: `postgres://exchange:not-to-be-told@127.0.0.1:${port}/exchange`,
  });
  const { checks } = await json('doctor');
  const detail = `connect ECONNREFUSED 127.0.0.1:${port}: records that are over stay in Redis`;
  expect(checks).toContainEqual({ name: 'archive', verdict: 'fail', detail });
  for (const command of ['status', 'verify']) {
    const { code, out, err } = await exchange('archive', command);
    const why = `error: UNAVAILABLE: the archive did not respond; retry shortly (connect ECONNREFUSED 127.0.0.1:${port})\n`;
    expect([command, code, out, err]).toEqual([command, 3, '', why]);
  }
});
