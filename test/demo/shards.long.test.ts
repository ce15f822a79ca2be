import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createClient } from 'ctf-exchange-client';
import { demoMarkets } from '../../src/demo/markets';
import { DEMO_START_MS, type Demo, startDemo } from '../support/demo';
import { ROOT, startNode, startProgram } from '../support/processes';
import { until } from '../support/waiting';

/** `SHARDS=4 npm start` shows the demo of `npm start`: its markets, their past, its story, its bots and their comments. */
const SHARDS = '4';
const PATIENCE_MS = 120_000;
/** A day in buckets of five minutes, without those that the bots have not traded in. */
const DAY_BUCKETS_MIN = 280;
const slugs = demoMarkets(new Date()).map(({ body }) => body.slug);
let demo: Demo;
let adminToken: string;

beforeAll(async () => {
  demo = await startDemo({ SHARDS });
  adminToken = new URL(demo.operatorUrl).hash.slice(1);
}, DEMO_START_MS);
afterAll(() => demo?.stop());

const client = () => createClient({ baseUrl: demo.url });
const inTime = (what: string, holds: () => Promise<boolean>): Promise<void> =>
  until(what, holds, { patienceMs: PATIENCE_MS });

test('every market of the demo has its day of prices', async () => {
  await inTime(
    'the past is written',
    async () => (await client().priceHistory(slugs.at(-1) ?? '', '1d')).candles.length >= DAY_BUCKETS_MIN,
  );
  for (const slug of slugs)
    expect((await client().priceHistory(slug, '1d')).candles.length).toBeGreaterThanOrEqual(DAY_BUCKETS_MIN);
});

test('one market of the story has paid, and one is paused', async () => {
  const statusOf = async (slug: string) => (await client().market(slug)).status;
  await inTime('the story is told', async () => (await statusOf('demo-rain-at-noon')) === 'PAUSED');
  expect(await statusOf('demo-two-and-two')).toBe('RESOLVED');
});

test('the bots quote and trade in every market, and talk in the first', async () => {
  for (const slug of slugs)
    await inTime(`${slug} has two sides and trades`, async () => {
      const { bestBid, bestAsk } = await client().market(slug);
      return bestBid !== null && bestAsk !== null && (await client().trades(slug)).data.length > 0;
    });
  const { id } = await client().market(slugs[0] ?? '');
  await inTime('the bots have talked', async () => (await client().comments(id)).data.length > 3);
});

test('the examples run against a demo that has run for a while', async () => {
  const run = (...args: string[]) => startNode(args, { BASE_URL: demo.url });
  const page = readFileSync(path.join(ROOT, 'docs/use/client.md'), 'utf8');
  const script = run('--input-type=module', '-e', /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
  const examples: readonly (readonly [string, RegExp])[] = [
    ['book-watcher.mjs', /sequence \d+\n/],
    ['market-maker.mjs', /[1-6] of 6 quotes rest around/],
    ['taker.mjs', /bought \d+(\.\d+)? .* at 0\.\d+: FILLED/],
  ];
  const running = examples.map(([file, what]) => ({ what, one: run(path.join(ROOT, 'examples', file)) }));
  try {
    expect({ exit: await script.exited, stderr: script.stderr() }).toEqual({ exit: 0, stderr: '' });
    expect(script.stdout()).toContain('CANCELLED by USER');
    for (const { one, what } of running)
      await until(`${what}`, () => what.test(one.stdout()), {
        patienceMs: PATIENCE_MS,
        isLost: () => one.child.exitCode !== null,
        explain: () => one.stdout() + one.stderr(),
      });
    for (const { one } of running) one.child.kill('SIGINT');
    for (const { one } of running)
      expect({ exit: await one.exited, stderr: one.stderr() }).toEqual({ exit: 0, stderr: '' });
  } finally {
    for (const { one } of [...running, { one: script }]) one.child.kill('SIGKILL');
  }
});

test('the command that the banner shows finds four shards, and the audit finds no difference', async () => {
  expect(demo.doctor).toMatch(/^REDIS_URL=\S+ SHARDS=4 npm run -s cli -- doctor$/);
  const doctor = startProgram('bash', ['-c', demo.doctor], {});
  await doctor.exited;
  expect(doctor.stdout()).toMatch(/^ok +shards +4$/m);
  const answer = await fetch(`${demo.url}/admin/audit`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  expect(await answer.json()).toMatchObject({ ok: true, differences: [] });
  const listed = await fetch(`${demo.url}/config`);
  expect(await listed.json()).toMatchObject({ shards: 4 });
});
