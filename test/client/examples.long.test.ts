import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Deployment, type Process, startDeployment } from '../support/deployment';
import { isAlive, ROOT, type Started, startNode, startProgram } from '../support/processes';
import { ADMIN_TOKEN } from '../support/settings';
import { openMarket } from '../support/trader';
import { until } from '../support/waiting';

const SAYS_MS_MAX = 240_000;
const FOLDER = path.join(ROOT, 'examples');
/** Debian's packages are for Debian's Python; another one may come first on the PATH. */
const python = ['python3', '/usr/bin/python3'].find(
  (command) => spawnSync(command, ['-c', 'import socketio, websocket']).status === 0,
);
/** Skipped only without the packages. */
const ifPython = python ? test : test.skip;

let deployment: Deployment;
let web: Process;
let slug: string;
let running: Started[] = [];

beforeAll(async () => {
  deployment = await startDeployment();
  web = await deployment.web();
  ({ slug } = await openMarket(web.client, ADMIN_TOKEN, {
    question: 'Do the examples run?',
    tickSize: '0.01',
    minOrderSize: '1',
  }));
});
afterEach(() => {
  for (const { child } of running) child.kill('SIGKILL');
  running = [];
});
afterAll(() => deployment.stop());

function run(file: string, ...args: string[]): Started {
  const program = path.join(FOLDER, file);
  const env = { BASE_URL: web.url };
  const started = file.endsWith('.py')
    ? startProgram(python ?? '', [program, ...args], env)
    : startNode([program, ...args], env);
  running.push(started);
  return started;
}

const says = (one: Started, what: RegExp): Promise<void> =>
  until(`${what}`, () => what.test(one.stdout()), {
    patienceMs: SAYS_MS_MAX,
    isLost: () => !isAlive(one.child.pid ?? 0),
    explain: () => one.stdout() + one.stderr(),
  });

async function interrupt(one: Started): Promise<void> {
  one.child.kill('SIGINT');
  expect({ exit: await one.exited, stderr: one.stderr() }).toEqual({ exit: 0, stderr: '' });
}

test('each example begins with two lines that explain how to run it', () => {
  const files = readdirSync(FOLDER);
  expect(files.length).toBeGreaterThanOrEqual(4);
  for (const file of files) {
    const [first = '', second = ''] = readFileSync(path.join(FOLDER, file), 'utf8').split('\n');
    expect([file, first]).toEqual([file, expect.stringMatching(/^(\/\/|#) [A-Z].*\.$/)]);
    expect([file, second]).toEqual([file, expect.stringContaining(`npm start`)]);
    expect(second).toContain(`examples/${file}`);
  }
});

test('a maker quotes, a taker takes, a watcher sees both, and all stop on Ctrl-C', async () => {
  const watcher = run('book-watcher.mjs', slug, 'no');
  const maker = run('market-maker.mjs', slug, '0.55');
  await says(maker, /6 of 6 quotes rest around 0\.55/);
  await says(watcher, /Do the examples run\? No, sequence \d+\n +50 +0\.44 \| 0\.46 +50\n/);
  const taker = run('taker.mjs', slug);
  await says(taker, /bought \d+(\.\d+)? (Yes|No) at 0\.\d+: FILLED/);
  await says(maker, /traded \d+(\.\d+)? as MAKER/);
  await says(watcher, /trade: BUY \d+/);
  await says(taker, /sold \d+(\.\d+)? (Yes|No) at/);
  await interrupt(taker);
  expect(taker.stdout()).toMatch(/leaves with \d+/);
  await interrupt(maker);
  expect(maker.stdout()).toMatch(/cancelled \d+ quotes/);
  const { body } = await web.client.get(`/markets/${slug}/orderbook`);
  expect([body.bids, body.asks]).toEqual([[], []]);
  await interrupt(watcher);
});

test('the script of docs/use/client.md works as described', async () => {
  const script = /```js\n([\s\S]*?)```/.exec(
    readFileSync(path.join(ROOT, 'docs/use/client.md'), 'utf8'),
  )?.[1];
  // In the project's folder, because its imports need it.
  const started = startNode(['--input-type=module', '-e', script ?? ''], { BASE_URL: web.url });
  running.push(started);
  expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
  expect(started.stdout().trim().split('\n')).toEqual([
    'OPEN 10',
    'live in step',
    'CANCELLED by USER',
    'no such price',
    'INSUFFICIENT_BALANCE 10',
  ]);
});

ifPython('the watcher in Python keeps the same book', async () => {
  const watcher = run('book_watcher.py', slug);
  await says(watcher, /Do the examples run\? Yes, sequence/);
  const maker = run('market-maker.mjs', slug, '0.4');
  await says(watcher, /bids: 50 @ 0\.39 {2}50 @ 0\.38 {2}50 @ 0\.37\n {2}asks: 50 @ 0\.41/);
  await interrupt(maker);
  await interrupt(watcher);
  expect(watcher.stdout()).not.toContain('checksum');
});
