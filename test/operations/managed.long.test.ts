import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunningRedis } from '../../src/local/redis';
import { createShell } from '../cli/shell';
import { hasOpenssl, issueCertificates, startTlsFront } from '../support/certificates';
import { startScript } from '../support/processes';
import { openLink, startTestRedis } from '../support/redis';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, openMarket } from '../support/trader';
import { until } from '../support/waiting';
import { startReplica } from '../support/web-replicas';

/** A Redis as providers rent it: its user may not use CONFIG, and TLS has the provider's own CA. */
const folder = mkdtempSync(path.join(tmpdir(), 'exchange-managed-'));
let redis: RunningRedis;
let url: string;
beforeAll(async () => {
  redis = await startTestRedis({ appendonly: 'always', settings: [['maxmemory-policy', 'noeviction']] });
  const link = await openLink(redis.port);
  await link.ask('ACL SETUSER tenant on >rented ~* &* +@all -config');
  link.close();
  url = `redis://tenant:rented@127.0.0.1:${redis.port}`;
});
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

const PRODUCTION = { ...ENVIRONMENT, NODE_ENV: 'production', TRUST_PROXY: '1' };

async function doctor(env: Record<string, string>) {
  const { code, out } = await createShell(url, env).exchange('doctor');
  return { code, durability: /^.*durability.*$/m.exec(out)?.[0], eviction: /^.*eviction.*$/m.exec(out)?.[0] };
}

test('a Redis that hides its settings is unknown, not weak, and the operator states what its provider promises', async () => {
  expect(await doctor(PRODUCTION)).toEqual({
    code: 1,
    durability: expect.stringMatching(/^fail +durability .* set DURABILITY to what its provider promises$/),
    // INFO shows it where CONFIG is forbidden.
    eviction: expect.stringMatching(/^ok +eviction +noeviction$/),
  });
  expect(await doctor({ ...PRODUCTION, DURABILITY: 'always' })).toMatchObject({
    code: 0,
    durability: expect.stringMatching(/^ok +durability +always, as DURABILITY says/),
  });
  expect((await doctor({ ...PRODUCTION, DURABILITY: 'everysec' })).code).toBe(1);
});

test('production refuses to start on unknown durability, names the variable, and starts with it', async () => {
  const start = (env: Record<string, string>) =>
    startScript("require('./src/web.ts')", { ...PRODUCTION, REDIS_URL: url, ...env });
  const refused = start({});
  expect(await refused.exited).toBe(78);
  expect(refused.stderr()).toMatch(/durability unknown\).* set DURABILITY=always/);
  const web = start({ DURABILITY: 'always' });
  try {
    await until('web listens', () => /"port":\d+/.test(web.stdout()), { explain: web.stderr });
    const answer = await fetch(`http://127.0.0.1:${/"port":(\d+)/.exec(web.stdout())?.[1]}/readyz`);
    expect([answer.status, await answer.json()]).toMatchObject([200, { durability: 'always' }]);
  } finally {
    web.child.kill('SIGKILL');
    await web.exited;
  }
});

test('a setting that Redis shows takes precedence over the operator’s statement', async () => {
  const link = await openLink(redis.port);
  await link.ask('CONFIG SET appendfsync everysec');
  try {
    const open = `redis://127.0.0.1:${redis.port}`;
    const { out } = await createShell(open, { ...PRODUCTION, DURABILITY: 'always' }).exchange('doctor');
    expect(out).toMatch(/^fail +durability +appendfsync everysec/m);
  } finally {
    await link.ask('CONFIG SET appendfsync always');
    link.close();
  }
});

(hasOpenssl ? test : test.skip)(
  'web trades and follows over rediss:// with a private CA (left out where openssl is not installed)',
  async () => {
    const { ca, server } = issueCertificates(folder);
    const front = await startTlsFront(redis.port, server);
    const tls = `rediss://tenant:rented@localhost:${front.port}`;
    const replica = await startReplica({ REDIS_URL: tls, REDIS_TLS_CA: ca, DURABILITY: 'always' });
    try {
      const market = await openMarket(replica.client, ADMIN_TOKEN);
      const domain = await domainOf(replica.client);
      const [alice, bob] = [createTrader(replica.client, domain), createTrader(replica.client, domain)];
      await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 100 });
      const taken = await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100 });
      expect(taken.body.status).toBe('FILLED');
      expect((await createShell(tls, { REDIS_TLS_CA: ca }).exchange('audit')).code).toBe(0);
    } finally {
      await replica.stop();
      await front.stop();
    }
  },
);
