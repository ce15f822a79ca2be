import { Redis } from 'ioredis';
import type { Running } from '../../../../src/app/process';
import { startWorker } from '../../../../src/app/worker';
import { loadConfig } from '../../../../src/config/load';
import { createLogger } from '../../../../src/log';
import type { Client } from '../../../support/client';
import { ADMIN_TOKEN, ENVIRONMENT } from '../../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../../support/trader';
import { until } from '../../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../../support/web-replicas';

/** Two workers of four shards on one Redis: what is traded in any shard is settled, also after one of them stops. The long form kills it. */
const SHARDS = 4;
const WORKERS = 2;
const STOP_MS = 2_000;
const asAdmin = { token: ADMIN_TOKEN };
let exchange: WebReplicas;
let client: Client;
let markets: Market[];
let [alice, bob]: Trader[] = [];
const logged: string[][] = [];
let workers: Running[];

beforeAll(async () => {
  exchange = await startWebReplicas({ env: { SHARDS: String(SHARDS) } });
  ({ client } = exchange);
  workers = await Promise.all(Array.from({ length: WORKERS }, startOne));
  const domain = await domainOf(client);
  [alice, bob] = [createTrader(client, domain), createTrader(client, domain)];
  markets = [];
  for (let shard = 0; shard < SHARDS; shard++)
    markets.push(await openMarket(client, ADMIN_TOKEN, { question: `Of shard ${shard}?`, shard }));
});
afterAll(async () => {
  await Promise.all((workers ?? []).map((worker) => worker.stop(STOP_MS)));
  await exchange.stop();
});

function startOne(): Promise<Running> {
  const lines: string[] = [];
  logged.push(lines);
  const config = loadConfig({
    ...ENVIRONMENT,
    NODE_ENV: 'test',
    LOG_LEVEL: 'info',
    METRICS_PORT: '0',
    REDIS_URL: exchange.redis.url,
    SHARDS: String(SHARDS),
  });
  return startWorker(config, createLogger(config, 'worker', { write: (line: string) => lines.push(line) }));
}

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
    explain: () => logged.flat().join('\n'),
  });
};

test('every match of every shard is settled once, also when one of two workers has stopped', async () => {
  await trade();
  await settled(SHARDS);
  await workers.shift()?.stop(STOP_MS);
  await trade();
  await settled(2 * SHARDS);
  const audit = await client.get('/admin/audit', asAdmin);
  expect(audit.body.differences).toEqual([]);
});

test('the board shows every queue, and the gauges name the shards', async () => {
  const { body } = await client.get('/admin/queues/api/queues', asAdmin);
  const link = new Redis(exchange.redis.url);
  const stored = (await link.keys('{j*}:*:meta')).map((key) => key.split(':')[1]).sort();
  link.disconnect();
  expect(body.queues.map(({ name }: { name: string }) => name).sort()).toEqual(stored);
  const port = /"metricsPort":(\d+)/.exec(logged[1]?.join('\n') ?? '')?.[1];
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  for (let shard = 0; shard < SHARDS; shard++)
    expect(text).toContain(`exchange_settlements_unconfirmed{shard="${shard}"} 0`);
  expect(text).toContain('exchange_jobs{queue="settlement-3",state="failed"} 0');
});
