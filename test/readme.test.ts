import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Deployment, type Process, startDeployment } from './support/deployment';
import { ROOT, startNode } from './support/processes';
import { ADMIN_TOKEN } from './support/settings';
import { openMarket } from './support/trader';

/** A newcomer tries the commands of the README and the programs of the first pages, so the tests run them unchanged. */
const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const FIRST_TRADE = readFileSync(path.join(ROOT, 'docs/use/first-trade.md'), 'utf8');
const QUICK_START = readFileSync(path.join(ROOT, 'docs/use/quick-start.md'), 'utf8');
const FOLDER = path.join(ROOT, '.cache', `readme-${process.pid}`);

let deployment: Deployment;
let web: Process;
beforeAll(async () => {
  deployment = await startDeployment();
  web = await deployment.web();
  await openMarket(web.client, ADMIN_TOKEN, {
    question: 'Does the first trade work?',
    // The one that the commands of the pages name.
    slug: 'ether-new-high-2027',
    minOrderSize: '1',
  });
  mkdirSync(FOLDER, { recursive: true });
});
afterAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  await deployment.stop();
});

/** Runs the first program of a page unchanged and returns its output. */
async function run(page: string, name: string): Promise<string[]> {
  const script = /```js\n([\s\S]*?)```/.exec(page)?.[1];
  if (!script) throw new Error(`${name}: the page has no script`);
  const file = path.join(FOLDER, name);
  writeFileSync(file, script);
  const started = startNode([file], { BASE_URL: web.url });
  expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
  return started.stdout().trim().split('\n');
}

test('the program of the first trade trades and cancels', async () => {
  expect(await run(FIRST_TRADE, 'trade.mjs')).toEqual([
    'Does the first trade work?',
    'bob buys 100 No at 45 cents: OPEN',
    "alice buys 40 Yes at 60 cents: FILLED at 0.55 [ 'MINT' ]",
    'bob cancels 1 order: CANCELLED 40 filled, 60 cancelled',
    'bob has 9982 and 40 No',
  ]);
});

test('the program of the quick start rests an order, replaces it and cancels it', async () => {
  expect(await run(QUICK_START, 'first-order.mjs')).toEqual([
    'OPEN 10 at 0.01',
    expect.stringMatching(/^OPEN at 0\.02 in the place of 0x[0-9a-f]{64}$/),
    'CANCELLED 10',
  ]);
});

test.each([
  ['the README', README],
  ['the quick start', QUICK_START],
])('the curl lines of %s answer', async (_name, page) => {
  const paths = [...page.matchAll(/^curl -s '?http:\/\/localhost:3000(\/[^'\s]*)'?/gm)].map(
    (match) => match[1] ?? '',
  );
  expect(paths.length).toBeGreaterThan(2);
  for (const target of paths.filter((text) => !text.startsWith('/admin'))) {
    const answer = await web.client.get(target);
    expect([target, answer.status]).toEqual([target, 200]);
  }
});

test('every file that the README links to exists', () => {
  const files = [...README.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1] ?? '');
  const local = files.filter((name) => !name.includes('://'));
  expect(local.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});
