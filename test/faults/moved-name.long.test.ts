import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Running } from '../../src/app/process';
import { startWorker } from '../../src/app/worker';
import { loadConfig } from '../../src/config/load';
import { createLogger } from '../../src/log';
import { createDurabilityChecks, stuckOf } from '../../src/store/health/durability';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { hasOpenssl, issueCertificates, startTlsFront } from '../support/certificates';
import { type DurableRedis, startDurableRedis } from '../support/durable-redis';
import { startProxy, type Proxy as TcpProxy } from '../support/proxy';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, openMarket } from '../support/trader';
import { READY_MS, until } from '../support/waiting';
import { startReplica } from '../support/web-replicas';

/**
 * A failover of a managed Redis: its name leads to the new primary, and the former one lives on as a replica, with every connection that it
 * had.
 */
const LIMIT_MS = 120_000;
let folder: string;
let first: DurableRedis;
let second: DurableRedis;
let name: TcpProxy;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-moved-'));
  const options = { appendonly: 'always' } as const;
  [first, second] = await Promise.all([startDurableRedis(options), startDurableRedis(options)]);
  name = await startProxy(first.port);
}, LIMIT_MS);
afterEach(async () => {
  await name.stop();
  await Promise.all([first.stop(), second.stop()]);
  rmSync(folder, { recursive: true });
}, LIMIT_MS);

async function replicate(): Promise<void> {
  await second.ask(`REPLICAOF 127.0.0.1 ${first.port}`);
  await until('the replica follows', async () =>
    (await second.ask('INFO replication')).includes('master_link_status:up'),
  );
  await first.copied();
}

/** No connection is cut. */
async function failOver(): Promise<void> {
  await second.ask('REPLICAOF NO ONE');
  await first.ask(`REPLICAOF 127.0.0.1 ${second.port}`);
  name.retarget(second.port);
}

/** Without the one that asks, and the one to its primary. */
async function connectionsOf(redis: DurableRedis): Promise<string[]> {
  const all = (await redis.ask('CLIENT LIST')).split('\n').filter((line) => line.startsWith('id='));
  return all.filter((line) => !/ flags=M /.test(line) && !/ cmd=client/.test(line));
}

async function startExchange(env: Record<string, string>) {
  const web = await startReplica(env);
  const config = loadConfig({ ...ENVIRONMENT, ...env });
  const worker: Running = await startWorker(
    config,
    createLogger({ ...config, logLevel: 'silent' }, 'worker'),
  );
  return {
    client: web.client,
    stop: () => Promise.all([web.stop(), worker.stop(1_000)]),
  };
}

async function isAtNewPrimary(env: Record<string, string>): Promise<void> {
  const { client, stop } = await startExchange(env);
  try {
    const market = await openMarket(client, ADMIN_TOKEN);
    const [alice, bob] = [
      createTrader(client, await domainOf(client)),
      createTrader(client, await domainOf(client)),
    ];
    const bid = { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 } as const;
    expect((await alice.submit(market, bid)).status).toBe(200);
    await replicate();
    await failOver();
    await until('orders are booked again', async () => (await alice.submit(market, bid)).status === 200);
    // Readers that wait, subscribers and the queues, too; what is left is the connection that asks.
    let left: string[] = [];
    await until(
      'nothing stays with the former primary',
      async () => {
        left = await connectionsOf(first);
        return left.length === 0;
      },
      {
        explain: () => left.join('\n'),
      },
    );
    await bob.signIn();
    expect((await bob.submit(market, { ...bid, outcome: 1, pips: 6_000 })).body.status).toBe('FILLED');
    await until('the match is settled', async () => {
      const { body } = await bob.get('/me/trades');
      return body.data[0]?.settlementStatus === 'CONFIRMED';
    });
    expect((await client.get('/readyz')).status).toBe(200);
  } finally {
    await stop();
  }
}

test(
  'when the name of a Redis moves and the former primary lives on, every connection follows the name',
  () => isAtNewPrimary({ REDIS_URL: `redis://127.0.0.1:${name.port}` }),
  LIMIT_MS,
);

(hasOpenssl ? test : test.skip)(
  'so does every connection over TLS',
  async () => {
    const { ca, server } = issueCertificates(folder);
    const front = await startTlsFront(name.port, server);
    try {
      await isAtNewPrimary({ REDIS_URL: `rediss://localhost:${front.port}`, REDIS_TLS_CA: ca });
    } finally {
      await front.stop();
    }
  },
  LIMIT_MS,
);

test(
  'a process whose Redis stays a replica is not ready, and not alive after two minutes',
  async () => {
    const web = await startReplica({ REDIS_URL: first.url });
    const redis = connect({ urls: [first.url] });
    await ready(redis, READY_MS);
    const durability = createDurabilityChecks({
      redis,
      run: createScripts(redis),
      keys: createKeys(),
      promised: null,
    });
    try {
      await durability.refresh();
      expect(durability.refusedForMs()).toBe(0);
      await replicate();
      await first.ask(`REPLICAOF 127.0.0.1 ${second.port}`);
      await expect(durability.refresh()).rejects.toThrow('READONLY');
      const refusedMs = durability.refusedForMs();
      await expect(durability.refresh()).rejects.toThrow('READONLY');
      expect(durability.refusedForMs()).toBeGreaterThan(refusedMs);
      expect((await web.client.get('/readyz')).body).toMatchObject({
        status: 503,
        detail: 'Redis answers READONLY',
      });
      expect((await web.client.get('/livez')).status).toBe(200);
      expect([stuckOf(0), stuckOf(120_000)]).toEqual([null, null]);
      expect(stuckOf(120_001)).toMatch(/refused writes as a replica for 120 s/);
      await first.ask('REPLICAOF NO ONE');
      await durability.refresh();
      expect(durability.refusedForMs()).toBe(0);
      // A Redis that is away is no reason to start again.
      await first.kill();
      await expect(durability.refresh()).rejects.toThrow();
      expect(durability.refusedForMs()).toBe(0);
      await first.revive();
    } finally {
      disconnect(redis);
      await web.stop();
    }
  },
  LIMIT_MS,
);
