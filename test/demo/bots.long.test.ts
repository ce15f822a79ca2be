import { createClient } from 'ctf-exchange-client';
import { type Demo, startDemo } from '../../src/demo/demo';
import { demoMarkets, openDemoMarkets } from '../../src/demo/markets';
import { freePort } from '../../src/local/ports';
import { ADMIN_TOKEN } from '../support/settings';
import { sleep, until } from '../support/waiting';
import { type RunningWeb, startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** A slow machine trades slowly. */
const PATIENCE_MS = 200_000;
const POLL_MS = 250;

let exchange: WebReplicas;
let web: RunningWeb;
let demo: Demo;
const told: string[] = [];
const slugs = demoMarkets(new Date()).map(({ body }) => body.slug);

beforeAll(async () => {
  exchange = await startWebReplicas({
    replicas: 0,
    durable: true,
    env: { RATE_LIMIT: 'on', PAPER_GRANT: '10000', PORT: String(await freePort()) },
  });
  web = await exchange.replica();
  await openDemoMarkets(web.url, ADMIN_TOKEN, demoMarkets(new Date()));
  demo = await startDemo({ baseUrl: web.url, say: (line) => told.push(line), pace: 4 });
  demo.failed.catch((error: Error) => told.push(`${error.stack}`));
});
afterAll(async () => {
  await demo?.stop();
  await exchange?.stop();
});

const client = () => createClient({ baseUrl: web.url });

const inTime = (what: string, holds: () => Promise<boolean>): Promise<void> =>
  until(what, holds, { patienceMs: PATIENCE_MS, pollMs: POLL_MS, explain: () => told.join('; ') });

const sequences = (): Promise<number[]> =>
  Promise.all(slugs.map(async (slug) => (await client().market(slug)).sequence));

test('all books have two sides, close to each other, and move', async () => {
  await inTime('two sides', async () => {
    const markets = await Promise.all(slugs.map((slug) => client().market(slug)));
    return markets.every(({ bestBid, bestAsk }) => bestBid !== null && bestAsk !== null);
  });
  const before = await sequences();
  await inTime('all have moved', async () =>
    (await sequences()).every((sequence, i) => sequence > (before[i] ?? 0) + 5),
  );
  for (const slug of slugs)
    await inTime(`the two sides of ${slug} are close`, async () => {
      const { spread } = await client().market(slug);
      return spread !== null && Number(spread) < 0.1;
    });
});

test('sets are minted, merged and change hands', async () => {
  const seen = new Set<string>();
  await inTime('all kinds of matches', async () => {
    for (const slug of slugs) {
      for (const { matchType } of (await client().trades(slug)).data) seen.add(matchType);
    }
    return seen.size === 3;
  });
});

test('the bots continue after a restart of web', async () => {
  await web.stop();
  await sleep(1_000);
  web = await exchange.replica();
  const before = await sequences();
  await inTime('all go on', async () =>
    (await sequences()).every((sequence, i) => sequence > (before[i] ?? 0)),
  );
});

test('the bots reported nothing but the restart', () => {
  const outage = /^(NETWORK|TIMEOUT|OUTCOME_UNKNOWN|UNAVAILABLE|HTTP_503)/;
  expect(told.filter((line) => !outage.test(line))).toEqual([]);
});

test('the trades of the bots add up', async () => {
  await inTime('a hundred orders were checked', async () => {
    const { body } = await web.client.get('/admin/audit', { token: ADMIN_TOKEN });
    expect(body).toMatchObject({ ok: true, differences: [] });
    return body.checked.orders > 100;
  });
});

test('when the demo stops, its orders are cancelled', async () => {
  await demo.stop();
  for (const slug of slugs) {
    const { bids, asks } = await client().orderbook(slug);
    expect([slug, bids, asks]).toEqual([slug, [], []]);
  }
});
