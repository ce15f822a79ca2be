import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Running } from '../../src/app/process';
import { startWorker } from '../../src/app/worker';
import { loadRecovery } from '../../src/auth/recovery';
import { loadConfig } from '../../src/config/load';
import { createLogger } from '../../src/log';
import { LAYOUT } from '../../src/store/health/layout';
import { ROOT } from '../support/processes';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../support/trader';
import { eventually, sleep } from '../support/waiting';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** The package has no types; it throws on invalid YAML. */
const { load: parseYaml } = require('js-yaml') as {
  load(text: string): { groups: { rules: Rule[] }[] };
};

let exchange: WebReplicas;
let worker: Running;
let workerUrl: string;
let market: Market;
let alice: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas();
  const lines: string[] = [];
  const config = loadConfig({
    NODE_ENV: 'test',
    REDIS_URL: exchange.redis.url,
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
  });
  worker = await startWorker(config, createLogger(config, 'worker', { write: (line) => lines.push(line) }));
  workerUrl = `http://127.0.0.1:${/"metricsPort":(\d+)/.exec(lines.join(''))?.[1]}`;
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  alice = createTrader(exchange.client, await domainOf(exchange.client));
});
afterAll(async () => {
  await worker.stop(1_000);
  await exchange.stop();
});

/** Series and their values; scrapes within a second get the same text. */
async function scrape(url = exchange.client.url): Promise<Map<string, number>> {
  await sleep(1_100);
  const response = await fetch(`${url}/metrics`);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

async function namesOf(url: string): Promise<Set<string>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1] ?? ''));
}

const file = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
/** Names of metrics in an expression, without the suffixes that Prometheus adds for histograms. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/\b(?:exchange|process|nodejs)_[a-z0-9_]+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  );

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}
interface Panel {
  readonly type: string;
  readonly title: string;
  readonly links?: readonly { readonly url: string }[];
  readonly fieldConfig?: {
    readonly defaults: { readonly thresholds?: { readonly steps: readonly unknown[] } };
  };
  readonly targets?: readonly { readonly expr: string }[];
}
const panelsOf = (): readonly Panel[] =>
  (JSON.parse(file('docs/deploy/grafana.json')) as { panels: Panel[] }).panels;

test('the table has every metric of a live process, and no other', async () => {
  const told = [...file('docs/run/metrics.md').matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map((match) => match[1]);
  const live = new Set([...(await namesOf(exchange.client.url)), ...(await namesOf(workerUrl))]);
  expect(told.sort()).toEqual([...live].sort());
});

test('every metric of the alert rules exists', async () => {
  const { groups } = parseYaml(file('docs/deploy/alerts.yml'));
  const live = await namesOf(exchange.client.url);
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(10);
  for (const { alert, expr, annotations } of rules) {
    expect(annotations.summary).not.toBe('');
    // Prometheus itself adds this series about each process.
    if (/^up\{/.test(expr)) continue;
    const names = namesIn(expr);
    expect([alert, names.length > 0, names.filter((name) => !live.has(name))]).toEqual([alert, true, []]);
  }
});

test('every metric of the dashboard exists, and the dashboard shows every metric', async () => {
  const live = await namesOf(exchange.client.url);
  const shown = panelsOf().flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr)));
  expect(shown.filter((name) => !live.has(name))).toEqual([]);
  expect([...live].filter((name) => name.startsWith('exchange_') && !shown.includes(name))).toEqual([]);
});

test('the dashboard has its rows, six figures with thresholds first, and links to sections of the runbook', () => {
  const panels = panelsOf();
  const rows = panels.filter(({ type }) => type === 'row').map(({ title }) => title);
  expect(rows).toEqual(['Now', 'Orders', 'Money', 'Jobs', 'Redis', 'Chain', 'Processes']);
  const figures = panels.slice(1, 7);
  expect(figures.map(({ type }) => type)).toEqual(Array(6).fill('stat'));
  for (const { links, fieldConfig } of figures) {
    expect(links).toHaveLength(1);
    expect(fieldConfig?.defaults.thresholds?.steps.length).toBeGreaterThan(1);
  }
  const sections = [...file('docs/run/runbook.md').matchAll(/^##+ (.+)$/gm)].map(
    ([, title]) => `\${runbook}#${title?.toLowerCase().replaceAll(' ', '-')}`,
  );
  const linked = panels.flatMap(({ links = [] }) => links.map(({ url }) => url));
  expect(linked.length).toBeGreaterThan(20);
  expect(linked.filter((url) => !sections.includes(url))).toEqual([]);
});

test('orders are counted by their result, without names', async () => {
  const bid = { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 } as const;
  const order = await alice.order(market, bid);
  const submissions = `/markets/${market.id}/orders`;
  for (const orderType of ['GTC', 'GTC', 'IOC'])
    await exchange.client.post(submissions, { body: { order, orderType } });
  await alice.submit(market, { ...bid, pips: 4_001 });
  await alice.submit(market, { ...bid, side: 'SELL' });
  await exchange.client.post(`${submissions}?dryRun=true`, {
    body: { order: await alice.order(market, bid) },
  });
  await exchange.client.get('/nowhere');
  const series = await scrape();
  const orders = (result: string, code: string): number | undefined =>
    series.get(`exchange_orders_total{result="${result}",code="${code}"}`);
  expect([orders('accepted', 'OPEN'), orders('replayed', 'OPEN')]).toEqual([1, 1]);
  expect([orders('refused', 'DUPLICATE_ORDER'), orders('refused', 'INVALID_TICK')]).toEqual([1, 1]);
  expect(orders('refused', 'INSUFFICIENT_BALANCE')).toBe(1);
  expect(series.get('exchange_refusals_total{code="NOT_FOUND"}')).toBe(1);
  const route = 'route="POST /markets/{id}/orders"';
  expect(series.get(`exchange_http_request_seconds_count{${route},status="2xx"}`)).toBe(3);
  expect(series.get(`exchange_http_request_seconds_count{${route},status="4xx"}`)).toBe(3);
  expect(series.get('exchange_script_seconds_count{verb="place_order"}')).toBeGreaterThanOrEqual(4);
  expect(series.get(`exchange_verification_backend{backend="${loadRecovery().backend}"}`)).toBe(1);
  const text = [...series.keys()].join('\n');
  for (const named of [market.id, alice.address, order.signature]) {
    expect(text.toLowerCase()).not.toContain(named.toLowerCase());
  }
  expect(series.size).toBeLessThan(1_000);
});

test('trades, their value and the mode are shown', async () => {
  const bob = createTrader(exchange.client, await domainOf(exchange.client));
  const before = await scrape();
  expect(before.get('exchange_mode')).toBe(0);
  await alice.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100 });
  await alice.submit(market, { side: 'BUY', outcome: 1, pips: 3_500, lots: 200 });
  const bid = { side: 'BUY', outcome: 0, pips: 6_500, lots: 300 } as const;
  const order = await bob.order(market, bid);
  const submissions = `/markets/${market.id}/orders`;
  await exchange.client.post(`${submissions}?dryRun=true`, { body: { order } });
  for (let sent = 0; sent < 2; sent++) await exchange.client.post(submissions, { body: { order } });
  const series = await scrape();
  const risen = (name: string): number => (series.get(name) ?? 0) - (before.get(name) ?? 0);
  expect(risen('exchange_trades_total')).toBe(2);
  expect(risen('exchange_volume_total')).toBeCloseTo(0.6 + 2 * 0.65, 9);
  await exchange.client.call('PUT', '/admin/mode', { token: ADMIN_TOKEN, body: { mode: 'CANCEL_ONLY' } });
  expect((await scrape()).get('exchange_mode')).toBe(1);
  await exchange.client.call('PUT', '/admin/mode', { token: ADMIN_TOKEN, body: { mode: 'NORMAL' } });
});

test('the worker serves the metrics of its own scripts on a separate port', async () => {
  await eventually(
    () => scrape(workerUrl),
    (series) =>
      expect(series.get('exchange_script_seconds_count{verb="expire_orders"}') ?? 0).toBeGreaterThan(0),
  );
  expect((await fetch(`${workerUrl}/livez`)).status).toBe(200);
  // With one shard the answer names none.
  const ready = await fetch(`${workerUrl}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', layout: LAYOUT }]);
  expect((await fetch(`${workerUrl}/config`)).status).toBe(404);
});

test('the metrics show the entries that readers of the outbox have not processed', async () => {
  await eventually(scrape, (before) =>
    expect(before.get('exchange_outbox_unprocessed{reader="settlement"}')).toBe(0),
  );
  await worker.stop(1_000);
  for (let i = 1; i <= 5; i++) {
    await alice.submit(market, { side: 'BUY', outcome: 0, pips: 4_000 + 100 * i, lots: 100 });
  }
  await eventually(scrape, (after) => {
    expect(after.get('exchange_outbox_unprocessed{reader="settlement"}')).toBe(5);
    expect(after.get('exchange_outbox_lag_seconds{reader="settlement"}')).toBeGreaterThan(0);
    // There was no request for a wallet's books since.
    expect(after.get('exchange_outbox_unprocessed{reader="journal"}')).toBe(5);
    expect(after.get('exchange_outbox_unprocessed{reader="broadcast"}')).toBe(0);
    expect(after.get('exchange_broadcast_lag_sequences')).toBe(0);
  });
});

test('without Redis the process still shows what it knows, and no other values', async () => {
  await exchange.redis.stop();
  const series = await eventually(scrape, (found) => expect(found.get('exchange_redis_up')).toBe(0));
  expect(series.has('exchange_outbox_length')).toBe(false);
  expect(series.has('exchange_jobs{queue="settlement",state="failed"}')).toBe(false);
  expect(series.get('exchange_sockets')).toBe(0);
});
