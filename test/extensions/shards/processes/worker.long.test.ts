import { Redis } from 'ioredis';
import { type Started, startScript } from '../../../support/processes';
import { ADMIN_TOKEN, ENVIRONMENT } from '../../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../../support/trader';
import { until } from '../../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../../support/web-replicas';

/** Two real workers of four shards on one Redis: what is traded in any shard is settled, also after one of them is killed. */
const SHARDS = 4;
const WORKERS = 2;
const asAdmin = { token: ADMIN_TOKEN };
let exchange: WebReplicas;
let client: Awaited<ReturnType<WebReplicas['replicaProcess']>>['client'];
let markets: Market[];
let [alice, bob]: Trader[] = [];
const workers: Started[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, env: { SHARDS: String(SHARDS) } });
  ({ client } = await exchange.replicaProcess());
  const env = { ...ENVIRONMENT, NODE_ENV: 'test', LOG_LEVEL: 'info', METRICS_PORT: '0' };
  for (let i = 0; i < WORKERS; i++)
    workers.push(
      startScript("require('./src/worker.ts')", {
        ...(env as Record<string, string>),
        REDIS_URL: exchange.redis.url,
        SHARDS: String(SHARDS),
      }),
    );
  const domain = await domainOf(client);
  [alice, bob] = [createTrader(client, domain), createTrader(client, domain)];
  markets = [];
  for (let shard = 0; shard < SHARDS; shard++)
    markets.push(await openMarket(client, ADMIN_TOKEN, { question: `Of shard ${shard}?`, shard }));
  await until('the workers run', () => workers.every(({ stdout }) => stdout().includes('worker is running')));
});
afterAll(async () => {
  for (const { child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.map(({ exited }) => exited));
  await exchange.stop();
});

/** One match in each shard. */
async function trade(): Promise<void> {
  for (const market of markets) {
    await (alice as Trader).submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 100 });
    const taken = await (bob as Trader).submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100 });
    expect(taken.body.status).toBe('FILLED');
  }
}
const settled = async (count: number): Promise<void> => {
  const confirmed = async () => (await client.get('/admin/settlements?status=CONFIRMED', asAdmin)).body.data;
  await until(`${count} are settled`, async () => (await confirmed())?.length === count, {
    patienceMs: 60_000,
    explain: () => workers.map(({ stdout }) => stdout()).join('\n'),
  });
};

test('every match of every shard is settled once, also while one of two workers is killed', async () => {
  await trade();
  await settled(SHARDS);
  workers[0]?.child.kill('SIGKILL');
  await trade();
  await settled(2 * SHARDS);
  const audit = await client.get('/admin/audit', asAdmin);
  expect(audit.body.differences).toEqual([]);
}, 120_000);

test('the board shows every queue, and the gauges name the shards', async () => {
  const { body } = await client.get('/admin/queues/api/queues', asAdmin);
  const link = new Redis(exchange.redis.url);
  const stored = (await link.keys('{j*}:*:meta')).map((key) => key.split(':')[1]).sort();
  link.disconnect();
  expect(body.queues.map(({ name }: { name: string }) => name).sort()).toEqual(stored);
  const port = /"metricsPort":(\d+)/.exec(workers[1]?.stdout() ?? '')?.[1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  for (let shard = 0; shard < SHARDS; shard++)
    expect(text).toContain(`exchange_settlements_unconfirmed{shard="${shard}"} 0`);
  expect(text).toContain('exchange_jobs{queue="settlement-3",state="failed"} 0');
});

test('a worker that receives SIGTERM stops with status 0', async () => {
  workers[1]?.child.kill('SIGTERM');
  expect(await workers[1]?.exited).toBe(0);
});

test('a process with another number of shards ends with 78 and says which number it needs', async () => {
  const env = { ...ENVIRONMENT, REDIS_URL: exchange.redis.url, PORT: '0', NODE_ENV: 'test' };
  for (const program of ['web', 'worker']) {
    const { exited, stderr } = startScript(`require('./src/${program}.ts')`, env as Record<string, string>);
    expect(await exited).toBe(78);
    expect(stderr()).toContain('SHARDS');
    expect(stderr()).toContain('must be 4, the number of shards of this exchange: set SHARDS=4');
  }
});
