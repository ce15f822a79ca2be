import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Client, createClient } from '../support/client';
import { startDurableRedis } from '../support/durable-redis';
import { portOf, ROOT, type Started, startNode } from '../support/processes';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, type OpenMarket, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { forgive } from '../support/watch';

/**
 * A rolling upgrade: an earlier version and this one on one Redis, with the processes of both. The earlier one is the
 * last tag, or the commit that first named a layout; UPGRADE_FROM names another.
 * UPGRADE_ROUNDS makes it trade longer.
 */
const FIRST_LAYOUT = 'd9a1c52';
const ROUNDS = Number(process.env.UPGRADE_ROUNDS ?? 40);

const START_MS = 120_000;

const git = (...args: string[]) => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
const tag = git('describe', '--tags', '--abbrev=0', 'HEAD^').stdout?.trim();
const EARLIER = process.env.UPGRADE_FROM ?? (tag || FIRST_LAYOUT);
/** A copy of the project without its history cannot build an earlier version. */
const hasHistory = git('cat-file', '-e', `${EARLIER}^{commit}`).status === 0;

const folder = mkdtempSync(path.join(tmpdir(), 'exchange-earlier-'));
const running: Started[] = [];
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ exited }) => exited));
  rmSync(folder, { recursive: true, force: true });
});

/** The earlier sources, built with the present packages. */
function buildEarlier(): void {
  const archive = execFileSync('git', ['archive', EARLIER], { cwd: ROOT, maxBuffer: 200_000_000 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  execFileSync(process.execPath, ['scripts/build.js', '--unchecked'], { cwd: folder, stdio: 'pipe' });
}

interface Version {
  readonly name: string;
  readonly client: Client;
  /** What a command of its command line says. */
  readonly run: (...command: string[]) => Promise<string>;
  /** Ends its processes. */
  readonly stop: () => Promise<unknown>;
}

async function startVersion(name: string, root: string, redisUrl: string): Promise<Version> {
  const env = { ...ENVIRONMENT, REDIS_URL: redisUrl, PAPER_GRANT: '1000000' };
  const start = (file: string): Started => {
    const started = startNode([path.join(root, 'dist', file)], env);
    running.push(started);
    return started;
  };
  const [web, worker] = [start('web.js'), start('worker.js')];
  await until(`the worker of ${name} works`, () => worker.stdout().includes('worker is running'), {
    patienceMs: START_MS,
    explain: worker.stderr,
  });
  return {
    name,
    client: createClient(`http://127.0.0.1:${await portOf(web)}`),
    run: async (...command) => {
      const cli = startNode([path.join(root, 'dist/cli.js'), ...command], env);
      await cli.exited;
      return cli.stdout();
    },
    stop: () => {
      for (const { child } of [web, worker]) child.kill('SIGTERM');
      return Promise.all([web.exited, worker.exited]);
    },
  };
}

/** One signs in at the earlier version and one at this, in turn: a rests, b takes half of it, a cancels the other half. */
async function trade(market: OpenMarket, a: Trader, b: Trader, pips: number): Promise<string[]> {
  const rested = await a.submit(market, { side: 'BUY', outcome: 0, pips, lots: 200 });
  const taken = await b.submit(market, { side: 'BUY', outcome: 1, pips: 10_000 - pips, lots: 100 });
  expect([rested.body.status, taken.body.status]).toEqual(['OPEN', 'FILLED']);
  const cancelled = await a.post(`/orders/${rested.body.orderHash}/cancel`);
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'CANCELLED']);
  return [rested.body.orderHash, taken.body.orderHash];
}

(hasHistory ? test : test.skip)(
  `this version and ${EARLIER} trade side by side on one Redis, and the audit finds no difference (left out without that commit)`,
  async () => {
    buildEarlier();
    const redis = await startDurableRedis({ appendonly: 'always' });
    try {
      const earlier = await startVersion('the earlier version', folder, redis.url);
      const own = await startVersion('this version', ROOT, redis.url);
      const markets = [
        await openMarket(earlier.client, ADMIN_TOKEN),
        await openMarket(own.client, ADMIN_TOKEN),
      ];
      const domain = await domainOf(own.client);
      const [a, b] = [createTrader(earlier.client, domain), createTrader(own.client, domain)];
      const orders: string[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        for (const market of markets) {
          orders.push(...(await trade(market, a, b, 4_000 + 100 * (round % 20))));
          orders.push(...(await trade(market, b, a, 4_000 + 100 * (round % 20))));
        }
      }
      for (const { name, client } of [earlier, own]) {
        for (const hash of orders.slice(-20))
          expect([name, (await client.get(`/orders/${hash}`)).status]).toEqual([name, 200]);
        const sequences = await Promise.all(
          markets.map(async ({ id }) => (await client.get(`/markets/${id}/orderbook`)).body.sequence),
        );
        // A market is opened, and each round is two trades of three commands.
        expect([name, sequences]).toEqual([name, markets.map(() => 1 + ROUNDS * 6)]);
      }
      // An earlier worker keeps no holders, so they are rebuilt when it has ended, as CHANGELOG.md says. Its own audit would not know
      // the line of a grant.
      await earlier.stop();
      await own.run('journal', 'rebuild');
      expect(await own.run('audit')).toMatch(/^ok: /);
      // The earlier version answers according to its own documents.
      forgive();
    } finally {
      await redis.stop();
    }
  },
  600_000,
);
