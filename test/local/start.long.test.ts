import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../src/local/ports';
import { isAlive, ROOT, START_MS, type Started, startNode, startScript } from '../support/processes';
import { until } from '../support/waiting';

/** With npm's four, the build and the search for a Redis: 12. */
const BANNER_LINES_MAX = 5;
const READY = /The exchange is open: http:\/\/localhost:(\d+)/;
const script = (more = ''): string =>
  `require('./src/local/start.ts').start('${path.join(__dirname, 'fake')}'${more})`;

/** Each starts a web, a worker, a Redis and bots. */
let folder: string;
let running: Started[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-start-'));
  running = [];
});
afterEach(() => {
  for (const { child } of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const notes = (): string => readFileSync(path.join(folder, 'notes'), 'utf8');
const told = (name: string): Record<string, string> =>
  JSON.parse(new RegExp(`^${name} \\d+ (.*)$`, 'm').exec(notes())?.[1] ?? '{}');
const pidOf = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(notes())?.[1]);
/** A separate temporary folder, so that other tests' servers do not count. */
const leftBehind = (): string[] => readdirSync(folder).filter((name) => name !== 'notes');

function run(env: Record<string, string> = {}, replicas = 1): Started {
  const started = startScript(script(replicas === 1 ? '' : `, ${replicas}`), {
    NOTES: path.join(folder, 'notes'),
    TMPDIR: folder,
    PORT: '0',
    ...env,
  });
  running.push(started);
  return started;
}
async function runUntilReady(env: Record<string, string> = {}, replicas = 1): Promise<Started> {
  const started = run(env, replicas);
  await until('ready', () => /Ctrl-C/.test(started.stdout()) || started.child.exitCode !== null, {
    patienceMs: START_MS,
  });
  expect(started.stderr()).toBe('');
  return started;
}

describe('npm start', () => {
  test('prints its instructions in few lines, without a secret', async () => {
    const started = await runUntilReady();
    const lines = started.stdout().trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(BANNER_LINES_MAX);
    expect(lines[0]).toMatch(READY);
    expect(started.stdout()).toMatch(/curl -s 'http:\/\/localhost:\d+\/markets\?limit=3'/);
    // The replacement serves its documentation and no trading page.
    expect(started.stdout()).toMatch(/ {2}pages +http:\/\/localhost:\d+\/docs \(documentation\)\n/);
    expect(started.stdout()).not.toContain('(trading)');
    for (const secret of [told('web').ADMIN_TOKEN, told('web').JWT_SECRET]) {
      expect(secret?.length).toBeGreaterThanOrEqual(32);
      expect(started.stdout()).not.toContain(secret);
    }
  });

  test('gives web and worker the same Redis, and the secrets of web to web alone', async () => {
    const started = await runUntilReady();
    expect(told('web').REDIS_URL).toMatch(/^redis:\/\/127\.0\.0\.1:\d+$/);
    expect(told('web')).toMatchObject({ REDIS_URL: told('worker').REDIS_URL, LOG_LEVEL: 'warn' });
    expect(Object.keys(told('worker'))).toEqual(['REDIS_URL']);
    expect(started.stdout()).toContain(`; REDIS_URL=${told('web').REDIS_URL} npm run -s cli -- doctor\n`);
  });

  test('opens six markets and three of the story, and none with DEMO=0', async () => {
    await runUntilReady();
    const bodies = [...notes().matchAll(/^\/admin\/markets (.*)$/gm)].map(([, body = '{}']) =>
      JSON.parse(body),
    );
    expect(new Set(bodies.map(({ slug }) => slug)).size).toBe(9);
    for (const body of bodies) {
      // The one that has paid and the one that is paused have no closing time.
      if (body.closesAt) expect(Date.parse(body.closesAt)).toBeGreaterThan(Date.now());
      expect(body.questionId).toMatch(/^0x[0-9a-f]{64}$/);
    }
    // Their past is written before the bots start, which get no secret.
    expect(told('demo-history').REDIS_URL).toBe(told('web').REDIS_URL);
    await until('the bots have come', () => /^demo /m.test(notes()));
    expect(told('demo')).toEqual({ baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
    rmSync(path.join(folder, 'notes'));
    await runUntilReady({ DEMO: '0' });
    expect(notes()).not.toMatch(/\/admin\/markets|^demo/m);
    expect(told('web')).not.toHaveProperty('ADMIN_TOKEN');
  });

  test('passes on the variables that the user has set', async () => {
    const ADMIN_TOKEN = 'operator-token-of-a-user-0123456789';
    const PORT = String(await freePort());
    const started = await runUntilReady({ ADMIN_TOKEN, PORT, JWT_SECRET: 'j'.repeat(32), LOG_LEVEL: 'info' });
    expect(told('web')).toMatchObject({ ADMIN_TOKEN, PORT, JWT_SECRET: 'j'.repeat(32), LOG_LEVEL: 'info' });
    expect(READY.exec(started.stdout())?.[1]).toBe(PORT);
  });

  test('uses the given Redis, and starts none', async () => {
    const started = await runUntilReady({ REDIS_URL: 'redis://127.0.0.1:1' });
    expect(started.stdout()).not.toContain('REDIS_URL=');
    expect(told('worker').REDIS_URL).toBe('redis://127.0.0.1:1');
    expect(leftBehind()).toEqual([]);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    test(`ends everything on ${signal}, even sent twice`, async () => {
      const started = await runUntilReady();
      await until('the bots have come', () => /^demo /m.test(notes()));
      expect(leftBehind()).toHaveLength(1);
      started.child.kill(signal);
      started.child.kill(signal);
      expect(await started.exited).toBe(0);
      expect(notes()).toContain('web told to stop');
      expect([pidOf('web'), pidOf('worker'), pidOf('demo')].filter(isAlive)).toEqual([]);
      expect(leftBehind()).toEqual([]);
    });

  test('ends processes that do not stop by themselves', async () => {
    const started = await runUntilReady({ IGNORE_TERM: '1' });
    started.child.kill('SIGINT');
    expect(await started.exited).toBe(0);
    expect(isAlive(pidOf('web'))).toBe(false);
  });

  test('can be interrupted before it is ready', async () => {
    const started = run({ FAIL_AFTER_MS: '60000' });
    await until('something has started', () => leftBehind().length > 0);
    started.child.kill('SIGINT');
    expect(await started.exited).toBe(0);
    await until('the folder is gone', () => leftBehind().length === 0);
  });

  test('ends all its processes when it is killed', async () => {
    const started = await runUntilReady();
    started.child.kill('SIGKILL');
    await until(
      'all are gone',
      () => ![pidOf('web'), pidOf('worker')].some(isAlive) && leftBehind().length === 0,
    );
  });
});

describe('under npm', () => {
  // `exec` as in package.json: a shell in between would keep npm's signals to itself.
  test('receives the signals that npm receives', () => {
    expect(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')).scripts.start).toMatch(
      /^exec node /,
    );
  });

  test('ends everything when npm was killed', async () => {
    const program = `require('./test/support/typescript.js');${script()}`;
    const parent = startNode(
      [
        '-e',
        `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(program)}], { stdio: 'inherit' })`,
      ],
      { NOTES: path.join(folder, 'notes'), TMPDIR: folder, PORT: '0', npm_lifecycle_event: 'start' },
    );
    running.push(parent);
    await until('ready', () => /Ctrl-C/.test(parent.stdout()));
    parent.child.kill('SIGKILL');
    await until(
      'all are gone',
      () => ![pidOf('web'), pidOf('worker')].some(isAlive) && leftBehind().length === 0,
    );
  });
});

describe('failures of the start', () => {
  test('an old Node and a checkout that cannot be written are reported in one line each', async () => {
    const checkout = path.join(folder, 'checkout');
    mkdirSync(path.join(checkout, 'scripts'), { recursive: true });
    for (const file of ['start.js', 'build.js', 'build-page.js', 'build-client.js'])
      copyFileSync(path.join(ROOT, 'scripts', file), path.join(checkout, 'scripts', file));
    writeFileSync(path.join(checkout, 'package.json'), '{ "engines": { "node": ">=99.1" } }');
    chmodSync(folder, 0o755);
    chmodSync(checkout, 0o555);
    // Root may write everywhere.
    const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/start.js'], {
      cwd: checkout,
      encoding: 'utf8',
      ...asNobody,
    });
    const old = `Node 99 or newer is needed, and this is ${process.version}: what follows may fail\n`;
    expect([status, stdout]).toEqual([1, old]);
    expect(stderr).toMatch(/^\S+\/checkout cannot be written \(EACCES\): [^\n]+ copy the project [^\n]+\n$/);
  });

  test('a taken port is reported in one line', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as { port: number };
    const started = run({ PORT: String(port) });
    expect(await started.exited).toBe(1);
    await new Promise((resolve) => server.close(resolve));
    expect(started.stderr()).toMatch(new RegExp(`^port ${port} is taken: .*\n$`));
    expect(started.stdout()).toBe('');
    expect(leftBehind()).toEqual([]);
  });

  test('bad configuration is reported in its table', async () => {
    const started = run({ NETWORK: 'moon', ADMIN_TOKEN: 'short' });
    expect(await started.exited).toBe(78);
    expect(started.stderr()).toMatch(/^Bad configuration:\nVARIABLE.*\nADMIN_TOKEN.*\nNETWORK.*\n$/);
  });

  test('a process that ends is reported with its name and last output, and the others end', async () => {
    const started = run({ FAIL_AFTER_MS: '4000' });
    expect(await started.exited).toBe(1);
    expect(started.stderr()).toBe(
      'web ended unexpectedly (code 3), so everything stops. Its last lines:\n  web cannot go on\n',
    );
    expect(isAlive(pidOf('worker'))).toBe(false);
    expect(leftBehind()).toEqual([]);
  });

  test('with --replicas there are several of each, and one that is killed is started again', async () => {
    const started = await runUntilReady({}, 2);
    const pids = (name: string): number[] =>
      [...notes().matchAll(new RegExp(`^${name} (\\d+) `, 'gm'))].map(([, pid]) => Number(pid));
    await until('two of each', () => pids('web').length === 2 && pids('worker').length === 2);
    // Both web processes take the tokens of each other: they have one secret and one issuer.
    const shared = [...notes().matchAll(/^web \d+ (.*)$/gm)].map(([, env = '']) => {
      const { PUBLIC_BASE_URL, JWT_SECRET } = JSON.parse(env);
      return { PUBLIC_BASE_URL, JWT_SECRET };
    });
    expect(shared[1]).toEqual(shared[0]);
    expect(shared[0]?.PUBLIC_BASE_URL).toBe(READY.exec(started.stdout())?.[0].replace(/^.*: /, ''));
    for (const name of ['web', 'worker']) {
      process.kill(pids(name)[0] ?? 0, 'SIGKILL');
      await until(`another ${name}`, () => pids(name).length === 3);
    }
    // Either of two may have been the first to run.
    expect(started.stderr()).toMatch(
      /^web( at \d+)? ended \(SIGKILL\); it is started again\nworker( 2)? ended \(SIGKILL\); it is started again\n$/,
    );
    started.child.kill('SIGINT');
    expect(await started.exited).toBe(0);
    expect([...pids('web'), ...pids('worker')].filter(isAlive)).toEqual([]);
  });

  test('bots that end are reported, and the exchange continues', async () => {
    const started = await runUntilReady();
    await until('the bots have come', () => /^demo /m.test(notes()));
    process.kill(pidOf('demo'), 'SIGKILL');
    await until('it is told', () => started.stderr() !== '');
    expect(started.stderr()).toBe("the demo's bots have ended (SIGKILL); the exchange goes on:\n");
    expect([pidOf('web'), pidOf('worker')].map(isAlive)).toEqual([true, true]);
  });

  test('refused markets are reported', async () => {
    const started = run({ REFUSE: '1' });
    expect(await started.exited).toBe(1);
    expect(started.stderr()).toMatch(/^demo market [a-z0-9-]+: 401 \{\}\n$/);
  });
});
