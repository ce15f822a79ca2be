import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { freePort, isPortFree } from '../../src/local/ports';
import { createShell } from '../cli/shell';
import { type Client, createClient, patiently } from '../support/client';
import { portOf, ROOT, type Started, startProgram, startScript } from '../support/processes';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, type Limit, type Market, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';

/**
 * docker-compose.cluster.yml without containers: its nodes run on loopback by the scripts that it mounts, its service creates the
 * cluster, and web and worker run on it with its settings.
 */
const { load } = require('js-yaml') as { load(text: string): unknown };
interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
}
const { services } = load(readFileSync(path.join(ROOT, 'docker-compose.cluster.yml'), 'utf8')) as {
  services: Readonly<Record<string, Service>>;
};
const NODES = Object.keys(services).filter((name) => name.startsWith('redis-'));
/** Debian's package redis-tools has it; an unpacked Redis has none. */
const hasTools = ['redis-cli', 'redis-server'].every((name) => spawnSync(name, ['--version']).status === 0);

const LIMIT_MS = 240_000;
/** Its port is that of the node and this. */
const BUS = 10_000;
const TRIES_MAX = 100;
/** The variables of .env. */
const OWN = {
  REDIS_PASSWORD: 'a1b2c3',
  REDIS_OPERATOR_PASSWORD: 'd4e5f6',
  JWT_SECRET: 'k1:0123456789abcdef0123456789abcdef',
  REDIS_MAXMEMORY: '100mb',
};
const ROLES = 'master,master,master,slave,slave,slave';
const folder = mkdtempSync(path.join(tmpdir(), 'exchange-cluster-'));
const nodes: { readonly port: number; readonly started: Started }[] = [];
const processes: Started[] = [];

/** As compose fills in variables, the inner ones first. */
function filled(text: string): string {
  const next = text.replace(
    /\$\{(\w+)(?::[-?]([^${}]*))?\}/g,
    (_, name, fallback = '') => OWN[name as keyof typeof OWN] ?? fallback,
  );
  return next === text ? text : filled(next);
}
const environmentOf = (name: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(services[name]?.environment ?? {}).map(([key, text]) => [key, filled(text)]),
  );
/** The addresses of this test in place of the names of the services. */
const onLoopback = (text: string): string =>
  text.replace(/\b(redis-\d):6379/g, (_, name) => `127.0.0.1:${nodes[NODES.indexOf(name)]?.port}`);
/** The file of this repository that a service has at the path of its command. */
const scriptOf = (name: string): string => {
  const { command, volumes } = services[name] as Service;
  return volumes.map((text) => text.split(':')).find(([, at]) => at === command[1])?.[0] ?? 'missing';
};

async function nodePort(): Promise<number> {
  for (let i = 0; i < TRIES_MAX; i++) {
    const port = await freePort();
    if (port + BUS < 65_536 && (await isPortFree(port + BUS))) return port;
  }
  throw new Error('no free ports for a node and its bus');
}

/** Another program may take the port before the node does: it is started again on another one then. */
async function startNode(name: string): Promise<void> {
  for (let i = 0; i < TRIES_MAX; i++) {
    const port = await nodePort();
    const data = path.join(folder, `${name}-${port}`);
    mkdirSync(path.join(data, 'run'), { recursive: true });
    const started = startProgram('sh', [scriptOf(name)], {
      ...environmentOf(name),
      REDIS_PORT: String(port),
      REDIS_DATA: data,
      REDIS_RUN: path.join(data, 'run'),
      REDIS_USERS: 'docs/deploy/redis-acl.conf',
    });
    const isUp = () => started.stdout().includes('Ready to accept connections');
    const isOver = () => started.child.exitCode !== null;
    await until(`${name} is ready`, () => isUp() || isOver(), { explain: started.stdout });
    if (isUp()) return void nodes.push({ port, started });
  }
  throw new Error(`${name} does not start`);
}

async function createCluster(): Promise<{ readonly code: unknown; readonly said: string }> {
  const { NODES: list = '', ...others } = environmentOf('cluster');
  const { exited, stdout, stderr } = startProgram('sh', [scriptOf('cluster')], {
    ...others,
    NODES: onLoopback(list),
  });
  return { code: await exited, said: stdout() + stderr() };
}

const operator = (port: number): Redis =>
  new Redis(port, '127.0.0.1', { username: 'operator', password: OWN.REDIS_OPERATOR_PASSWORD });

async function linesOf(port: number): Promise<string[]> {
  const link = operator(port);
  const lines = String(await link.cluster('NODES'))
    .trim()
    .split('\n');
  link.disconnect();
  return lines;
}

async function trade(client: Client): Promise<void> {
  const domain = await domainOf(client);
  const [alice, bob] = [createTrader(client, domain), createTrader(client, domain)];
  const markets: Market[] = [];
  for (let shard = 0; shard < 4; shard++) markets.push(await openMarket(client, ADMIN_TOKEN, { shard }));
  // A transfer waits 50 ms for the replica of the sender, which may be late here; an order that is sent again runs once.
  const submit = async (trader: Trader, market: Market, limit: Limit) => {
    const order = await trader.order(market, limit);
    return patiently(() => client.post(`/markets/${market.id}/orders`, { body: { order } }));
  };
  // A quarter of her grant in each: to three of them it comes from her home.
  for (const market of markets)
    expect(
      await submit(alice, market, { side: 'BUY', outcome: 0, pips: 5_000, lots: 500_000 }),
    ).toMatchObject({
      status: 200,
    });
  for (const market of markets) {
    const taken = await submit(bob, market, { side: 'BUY', outcome: 1, pips: 5_000, lots: 100 });
    expect(taken.body.status).toBe('FILLED');
  }
  const balances = (await alice.get('/me/balances')).body;
  expect(balances.collateral).toMatchObject({ available: '0', reserved: '9998' });
  const asAdmin = { token: ADMIN_TOKEN };
  await until(
    'every match is settled',
    async () => (await client.get('/admin/settlements?status=CONFIRMED', asAdmin)).body.data?.length === 4,
    { patienceMs: 60_000, explain: () => processes.map(({ stdout }) => stdout()).join('\n') },
  );
  expect((await client.get('/admin/audit', asAdmin)).body.differences).toEqual([]);
}

afterAll(async () => {
  for (const { child } of [...processes, ...nodes.map(({ started }) => started)]) child.kill('SIGKILL');
  await Promise.all([...processes, ...nodes.map(({ started }) => started)].map(({ exited }) => exited));
  rmSync(folder, { recursive: true });
});

(hasTools ? test : test.skip)(
  'the cluster of the compose file is created once, also after an interruption, and trades over four shards as its users (left out where redis-cli is not installed)',
  async () => {
    for (const name of NODES) await startNode(name);
    // A creation that ended after its first step.
    const first = operator(nodes[0]?.port ?? 0);
    await first.cluster('ADDSLOTS', 1, 2, 3);
    const created = await createCluster();
    expect(created).toEqual({ code: 0, said: expect.stringContaining('the cluster was created') });
    const roles = async (): Promise<string> =>
      (await linesOf(nodes[5]?.port ?? 0))
        .map((line) => / (?:myself,)?(master|slave) /.exec(line)?.[1])
        .sort()
        .join();
    await until('every node knows the others', async () => (await roles()) === ROLES);
    expect(await createCluster()).toEqual({ code: 0, said: 'the cluster exists\n' });
    // Nodes that are introduced again are new to each other for a moment.
    await until('every node still knows the others', async () => (await roles()) === ROLES);
    const settings = (await first.config(
      'GET',
      'cluster-require-full-coverage',
      'appendfsync',
      'maxmemory-policy',
    )) as string[];
    expect(settings).toEqual(expect.arrayContaining(['no', 'always', 'noeviction']));
    first.disconnect();

    const settingsOf = (name: string): Record<string, string> => ({
      ...Object.fromEntries(
        Object.entries(environmentOf(name)).map(([key, text]) => [key, onLoopback(text)]),
      ),
      PORT: '0',
      ADMIN_TOKEN,
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'debug',
    });
    const web = startScript("require('./src/web.ts')", settingsOf('web'));
    const worker = startScript("require('./src/worker.ts')", { ...settingsOf('worker'), METRICS_PORT: '0' });
    processes.push(web, worker);
    const client = createClient(`http://127.0.0.1:${await portOf(web)}`);
    await until('every shard is up', async () => {
      const { status, body } = await client.get('/readyz');
      return (
        status === 200 && Object.values(body.shards).join() === 'up,up,up,up' && body.durability === 'always'
      );
    });
    await trade(client);
    const { exchange } = createShell(onLoopback(environmentOf('web').REDIS_URL ?? ''), settingsOf('web'));
    const doctor = await exchange('doctor');
    expect(doctor.out).toMatch(/^ok +cluster coverage/m);
    expect(doctor.out).not.toMatch(/^fail/m);
    const listed = await exchange('shards', 'list');
    expect(listed.out.match(/^\d +\{x.* up /gm)).toHaveLength(4);
    expect(doctor.out + listed.out).not.toMatch(/NOPERM|cannot be seen/i);
    for (const { stdout } of processes) expect(stdout()).not.toMatch(/NOPERM|permission/i);
  },
  LIMIT_MS,
);
