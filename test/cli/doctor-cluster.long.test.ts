import { Redis } from 'ioredis';
import { startWeb, type Web } from '../../src/app/web';
import { loadConfig } from '../../src/config/load';
import { createLogger } from '../../src/log';
import { createClient } from '../support/client';
import { startTestCluster, type TestCluster } from '../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { until } from '../support/waiting';
import { createShell } from './shell';

let cluster: TestCluster;
let nodes: Redis[];
let web: Web;
beforeAll(async () => {
  cluster = await startTestCluster(3, { appendonly: 'always' });
  nodes = cluster.nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  const config = loadConfig({ ...ENVIRONMENT, PORT: '0', REDIS_URL: cluster.url });
  web = await startWeb(config, createLogger(config, 'web', { write: () => undefined }));
});
afterAll(async () => {
  await web?.stop(1_000);
  for (const node of nodes ?? []) node.disconnect();
  await cluster?.stop();
});

const coverage = (value: string) =>
  Promise.all(nodes.map((node) => node.config('SET', 'cluster-require-full-coverage', value)));

/** On a busy machine a node may answer too late once: exit code 4. */
async function doctor(env: Record<string, string> = {}) {
  const shell = createShell(cluster.url, env);
  let last = await shell.exchange('doctor');
  await until('the nodes answer', async () => {
    if (last.code === 4) last = await shell.exchange('doctor');
    return last.code !== 4;
  });
  return last;
}

test('doctor names a cluster that stops completely when one master fails, and fails for it in production', async () => {
  const production = {
    NODE_ENV: 'production',
    JWT_SECRET: ENVIRONMENT.JWT_SECRET,
    PUBLIC_BASE_URL: ENVIRONMENT.PUBLIC_BASE_URL,
    TRUST_PROXY: '1',
  };
  await coverage('yes');
  const lenient = await doctor();
  expect(lenient).toMatchObject({ code: 0, err: '' });
  expect(lenient.out).toMatch(/^warn +cluster coverage .*set no on every node$/m);
  const strict = await doctor(production);
  expect(strict.code).toBe(1);
  expect(strict.out).toMatch(/^fail +cluster coverage /m);
  await coverage('no');
  expect((await doctor(production)).out).toMatch(/^ok +cluster coverage /m);
});

test('doctor and /readyz report a moving slot of the book, and requests meanwhile are 503', async () => {
  const slot = await (nodes[0] as Redis).cluster('KEYSLOT', '{x0}:');
  const ids = (await Promise.all(nodes.map((node) => node.cluster('MYID')))) as string[];
  const at = Math.floor((slot * nodes.length) / 16_384);
  const to = (at + 1) % nodes.length;
  const [from, target] = [nodes[at] as Redis, nodes[to] as Redis];
  const client = createClient(`http://127.0.0.1:${web.port}`);
  const isReady = async (): Promise<boolean> => (await client.get('/readyz')).status === 200;
  expect((await doctor()).out).toMatch(new RegExp(`^ok +slot of the book +${slot}, at `, 'm'));
  await until('it is ready', isReady);

  await target.cluster('SETSLOT', slot, 'IMPORTING', ids[at] as string);
  await from.cluster('SETSLOT', slot, 'MIGRATING', ids[to] as string);
  const { code, out } = await doctor();
  expect(code).toBe(1);
  const ports = [at, to].map((i) => cluster.nodes[i]?.port);
  const words = [`MIGRATING at 127.0.0.1:${ports[0]}`, `IMPORTING at 127.0.0.1:${ports[1]}`];
  const [line = ''] = /^fail +slot of the book .*$/m.exec(out) ?? [];
  for (const word of words) expect(line).toContain(word);
  const ready = await client.get('/readyz');
  expect([ready.status, ready.body.detail]).toEqual([
    503,
    expect.stringContaining('TRYAGAIN: the slot of the book is moving'),
  ]);
  const created = await client.post('/admin/markets', {
    token: ADMIN_TOKEN,
    body: { question: 'Will it move?' },
  });
  expect([created.status, created.headers.get('retry-after')]).toEqual([503, '1']);

  for (const node of [from, target]) await node.cluster('SETSLOT', slot, 'STABLE');
  await until('it is ready', isReady);
  expect((await doctor()).code).toBe(0);
});

test('an error behind a silent node names the node', async () => {
  const slot = await (nodes[0] as Redis).cluster('KEYSLOT', '{x0}:');
  const at = Math.floor((slot * nodes.length) / 16_384);
  const shell = createShell(cluster.url);
  for (const [silent, command] of [
    [at, 'mode'],
    [(at + 1) % nodes.length, 'doctor'],
  ] as const) {
    const { pid = 0, port } = cluster.nodes[silent] ?? {};
    process.kill(pid, 'SIGSTOP');
    try {
      const { code, err } = await shell.exchange(command);
      expect([code, err]).toEqual([4, expect.stringContaining(`(127.0.0.1:${port} does not answer)`)]);
      expect(err).not.toContain('TLS');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect((await doctor()).code).toBe(0);
  }
});
