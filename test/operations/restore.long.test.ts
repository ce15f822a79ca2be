import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../src/local/ports';
import { createShell } from '../cli/shell';
import { hasOpenssl, issueCertificates, startTlsFront, type TlsFront } from '../support/certificates';
import { type DurableRedis, startDurableRedis } from '../support/durable-redis';
import { type Block, blocksFor } from '../support/page-commands';
import { ROOT, startProgram } from '../support/processes';
import { openLink } from '../support/redis';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, type Market, openMarket } from '../support/trader';
import { until } from '../support/waiting';
import { type Replica, startReplica } from '../support/web-replicas';

/** Runs the commands of docs/run/operations.md unchanged: a copy of a trading exchange, and the exchange on the copy. */
const BLOCKS = blocksFor('docs/run/operations.md', 'test/operations/restore.long.test.ts');
/** Debian's package redis-tools has it; an unpacked Redis has none. */
const hasTools = ['redis-cli', 'redis-server'].every((name) => spawnSync(name, ['--version']).status === 0);

const USERS = path.join(ROOT, 'docs/deploy/redis-acl.conf');
let own: string;
let redis: DurableRedis;
let front: TlsFront;
/** The settings of the user `exchange`, over TLS; commands are given the addresses of the other users, too. */
let env: Record<string, string>;
let web: Replica;
let market: Market;
let orders: string[];

beforeAll(async () => {
  own = mkdtempSync(path.join(tmpdir(), 'exchange-users-'));
  const users = path.join(own, 'users.acl');
  copyFileSync(USERS, users);
  redis = await startDurableRedis({
    appendonly: 'always',
    settings: [
      ['maxmemory-policy', 'noeviction'],
      ['aclfile', users],
    ],
  });
  const { ca, server } = issueCertificates(own);
  front = await startTlsFront(redis.port, server);
  env = { REDIS_URL: `rediss://exchange:change-this-password@localhost:${front.port}`, REDIS_TLS_CA: ca };
  web = await startReplica(env);
  // For redis-cli.
  env.SSL_CERT_FILE = path.join(own, 'ca.pem');
  market = await openMarket(web.client, ADMIN_TOKEN);
  orders = [];
  for (let i = 0; i < 10; i++) orders.push(...(await trade(web)));
});
afterAll(async () => {
  await web?.stop();
  await front?.stop();
  await redis?.stop();
  rmSync(own, { recursive: true, force: true });
});

/** Two orders that meet; resolves with their hashes. */
async function trade(at: Replica): Promise<string[]> {
  // A busy machine may answer 503 just after the start.
  let config = await at.client.get('/config');
  await until(
    'the exchange answers',
    async () => {
      config = await at.client.get('/config');
      return config.status === 200;
    },
    { explain: () => config.text },
  );
  const { domain } = config.body.eip712;
  const [alice, bob] = [createTrader(at.client, domain), createTrader(at.client, domain)];
  const rested = await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 200 });
  const taken = await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100 });
  expect([rested.body.status, taken.body.status]).toEqual(['OPEN', 'FILLED']);
  return [rested.body.orderHash, taken.body.orderHash];
}

/** Runs the blocks in a separate folder that looks like a checkout; returns all of their output. */
async function run(folder: string, port: number, blocks: readonly Block[]): Promise<string> {
  const script = blocks
    .map(({ text }) => text)
    .join('\n')
    .replaceAll('6400', String(port));
  const given = {
    ...env,
    OPERATOR_URL: `rediss://operator:change-this-one-too@localhost:${front.port}`,
    REDIS_DIR: redis.folder,
    REPLICA_PASSWORD: 'change-the-password-of-replicas',
    REDIS_HOST: '127.0.0.1',
    REDIS_PORT: String(redis.port),
  };
  const shell = startProgram('bash', ['-euc', `cd '${folder}'\n${script}`], given);
  const exit = await shell.exited;
  expect({ exit, stderr: shell.stderr() }).toEqual({ exit: 0, stderr: expect.any(String) });
  return shell.stdout();
}

function checkout(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-restore-'));
  for (const name of ['package.json', 'node_modules', 'dist', 'lua', 'packages'])
    symlinkSync(path.join(ROOT, name), path.join(folder, name));
  return folder;
}

const [backup, restore, fromReplica, snapshot, fromSnapshot, copy, fromCopy, follow, promote] =
  BLOCKS as readonly Block[] & Record<number, Block>;

const WAYS: readonly (readonly [way: string, blocks: readonly (Block | undefined)[]])[] = [
  ['exchange backup', [backup, restore]],
  ['a snapshot of Redis', [snapshot, fromSnapshot]],
  ['the append-only file', [copy, fromCopy]],
  ['a replica', [follow, promote]],
];

test('the page has the commands of four ways to copy and restore', () => {
  expect(BLOCKS).toHaveLength(2 * WAYS.length + 1);
});

(hasTools && hasOpenssl ? describe : describe.skip)(
  'with redis-cli, redis-server and openssl (left out where they are not installed)',
  () => {
    test('a backup of a replica halts nothing, and is the exchange', async () => {
      const folder = checkout();
      const port = await freePort();
      const target = await startDurableRedis();
      try {
        await run(folder, port, fromReplica ? [fromReplica] : []);
        expect((await web.client.get('/config')).body.mode).toBe('NORMAL');
        const [name = ''] = readdirSync(folder).filter((one) => one.endsWith('.backup'));
        const restored = await createShell(target.url).exchange('restore', path.join(folder, name));
        expect([restored.code, restored.err]).toEqual([0, '']);
        expect(restored.out).toContain((await createShell(env.REDIS_URL ?? '', env).exchange('audit')).out);
      } finally {
        await target.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    });

    test.each(WAYS)(
      'an exchange restored from %s has every order and a new epoch, passes the audit and trades on',
      async (_way, blocks) => {
        const folder = checkout();
        const port = await freePort();
        const steps = blocks.flatMap((block) => (block ? [block] : []));
        const url = `redis://127.0.0.1:${port}`;
        const before = (await web.client.get('/readyz')).body.epoch;
        const audited = (await createShell(env.REDIS_URL ?? '', env).exchange('audit')).out;
        try {
          const printed = await run(folder, port, steps);
          expect(printed).toContain(audited);
          const restored = await startReplica({ REDIS_URL: url });
          try {
            const { body } = await restored.client.get('/readyz');
            expect(body).toMatchObject({ status: 'ready', durability: 'always' });
            expect(body.epoch).not.toBe(before);
            for (const hash of orders)
              expect((await restored.client.get(`/orders/${hash}`)).status).toBe(200);
            await trade(restored);
            expect((await createShell(url).exchange('audit')).code).toBe(0);
          } finally {
            await restored.stop();
          }
        } finally {
          await stopServer(port);
          rmSync(folder, { recursive: true, force: true });
        }
      },
    );
  },
);

/** Ends a server that the commands left in the background. */
async function stopServer(port: number): Promise<void> {
  const link = await openLink(port).catch(() => null);
  if (!link) return;
  await link.ask('SHUTDOWN NOSAVE').catch(() => undefined);
  await until(
    'the server is gone',
    async () =>
      (await openLink(port).then(
        (one) => one.close(),
        () => true,
      )) === true,
  );
}
