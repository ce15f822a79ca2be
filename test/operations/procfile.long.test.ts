import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasOpenssl, issueCertificates, startTlsFront, type TlsFront } from '../support/certificates';
import { createClient } from '../support/client';
import { portOf, ROOT, type Started, startProgram } from '../support/processes';
import { startTestRedis } from '../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, openMarket } from '../support/trader';
import { until } from '../support/waiting';

const { isStale } = require('../../scripts/build.js') as { isStale(): boolean };

/** As a platform deploys: a built copy with the production dependencies, and the lines of the Procfile, started by a shell. */
const INSTALL_MS_MAX = 600_000;
const SETTLED_MS_MAX = 240_000;
const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', '.cache', '.git']);

const folder = mkdtempSync(path.join(tmpdir(), 'exchange-procfile-'));
const running: Started[] = [];
let redis: Awaited<ReturnType<typeof startTestRedis>>;
let front: TlsFront;
let env: Record<string, string>;

beforeAll(async () => {
  if (!hasOpenssl) return;
  if (isStale()) throw new Error('dist is older than the sources: npm run build');
  for (const name of readdirSync(ROOT).filter((one) => !LEFT_OUT.has(one))) {
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  const installed = spawnSync('npm', ['ci', '--omit=dev', '--prefer-offline', '--fetch-retries=5'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([installed.status, installed.status === 0 ? '' : installed.stderr]).toEqual([0, '']);
  redis = await startTestRedis({
    appendonly: 'always',
    settings: [
      ['requirepass', 'rented'],
      ['maxmemory-policy', 'noeviction'],
    ],
  });
  const { ca, server } = issueCertificates(mkdtempSync(path.join(folder, 'certificates-')));
  front = await startTlsFront(redis.port, server);
  env = {
    ...ENVIRONMENT,
    NODE_ENV: 'production',
    TRUST_PROXY: '1',
    REDIS_URL: `rediss://:rented@127.0.0.1:${front.port}`,
    REDIS_TLS_CA: ca,
  };
}, INSTALL_MS_MAX);
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await front?.stop();
  await redis?.stop();
  rmSync(folder, { recursive: true });
});

/** `web: exec node dist/web.js` and its like, by their names. */
const lines = new Map(
  readFileSync(path.join(ROOT, 'Procfile'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(': ') as [string, string]),
);

function start(name: string): Started {
  const started = startProgram('env', ['-C', folder, 'sh', '-c', lines.get(name) ?? ''], env);
  running.push(started);
  return started;
}

(hasOpenssl ? test : test.skip)(
  'a build without the development dependencies says which command installs them',
  () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/build.js'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([
      1,
      'the build needs the development dependencies: run npm ci --include=dev\n',
    ]);
  },
);

(hasOpenssl ? test : test.skip)(
  'the lines of the Procfile trade and settle on production dependencies and a Redis behind a private CA, and end by the signal',
  async () => {
    expect([...lines.keys()]).toEqual(['web', 'worker']);
    expect(existsSync(path.join(folder, 'node_modules/jest'))).toBe(false);
    const [web, worker] = [start('web'), start('worker')];
    const client = createClient(`http://127.0.0.1:${await portOf(web)}`);
    const told = { explain: () => web.stderr() + worker.stderr(), patienceMs: SETTLED_MS_MAX };
    await until('web is ready', async () => (await client.get('/readyz')).status === 200, told);
    const market = await openMarket(client, ADMIN_TOKEN);
    const { domain } = (await client.get('/config')).body.eip712;
    const buy = (outcome: 0 | 1) =>
      createTrader(client, domain).submit(market, { side: 'BUY', outcome, pips: 5_000, lots: 100 });
    const [resting, taken] = [await buy(0), await buy(1)];
    expect([resting.body.status, taken.body.status]).toEqual(['OPEN', 'FILLED']);
    await until(
      'the worker has settled the trade',
      async () => {
        const { body } = await client.get(`/orders/${taken.body.orderHash}`);
        return body.fills?.[0]?.settlementStatus === 'CONFIRMED';
      },
      told,
    );
    for (const page of ['/', '/docs', '/openapi.json']) {
      expect([page, (await client.get(page)).status]).toEqual([page, 200]);
    }
    for (const one of [web, worker]) one.child.kill('SIGTERM');
    expect([await web.exited, await worker.exited]).toEqual([0, 0]);
  },
  2 * SETTLED_MS_MAX,
);
