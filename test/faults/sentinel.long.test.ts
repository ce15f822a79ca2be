import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startWorker } from '../../src/app/worker';
import { loadConfig } from '../../src/config/load';
import { freePort } from '../../src/local/ports';
import { createLogger } from '../../src/log';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import type { RedisClient } from '../../src/store/redis/scripts';
import { hasOpenssl, issueCertificates } from '../support/certificates';
import { patiently } from '../support/client';
import { type DurableRedis, startDurableRedis } from '../support/durable-redis';
import { areInformed, PRIMARY_NAME, startSentinels } from '../support/sentinels';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, openMarket } from '../support/trader';
import { READY_MS, until } from '../support/waiting';
import { startReplica } from '../support/web-replicas';

/** A primary and its replica, watched by three Sentinels. Redis and the Sentinels have passwords of their own. */
const LIMIT_MS = 300_000;
/** Sentinels that were late themselves replace nothing for 30 s. */
const REPLACED_MS_MAX = 150_000;
const PASSWORD = 'redis-password';
const SENTINEL_PASSWORD = 'sentinel/password';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-sentinels-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Scene {
  readonly nodes: readonly [DurableRedis, DurableRedis];
  readonly clients: readonly [RedisClient, RedisClient];
  readonly env: Record<string, string>;
  readonly sentinel: RedisClient;
}

type Settings = readonly (readonly [name: string, value: string])[];

/** The settings of a server and the lines of a Sentinel that speak TLS only. */
function tlsSettings(): { ca: string; settings: Settings } {
  const { ca, server } = issueCertificates(folder);
  const [caFile, cert, key] = ['ca.pem', 'server.crt', 'server.key'].map((name) => path.join(folder, name));
  writeFileSync(cert ?? '', server.cert);
  writeFileSync(key ?? '', server.key);
  return {
    ca,
    settings: [
      ['tls-ca-cert-file', caFile ?? ''],
      ['tls-cert-file', cert ?? ''],
      ['tls-key-file', key ?? ''],
      ['tls-auth-clients', 'no'],
      ['tls-replication', 'yes'],
    ],
  };
}

async function onScene(isOnTls: boolean, story: (scene: Scene) => Promise<void>): Promise<void> {
  const tls = isOnTls ? tlsSettings() : null;
  const settings: Settings = [['requirepass', PASSWORD], ['masterauth', PASSWORD], ...(tls?.settings ?? [])];
  const nodes = await Promise.all([
    startNode(settings, isOnTls, folder, 'first'),
    startNode(settings, isOnTls, folder, 'second'),
  ]);
  const [scheme, tlsCa] = [isOnTls ? 'rediss' : 'redis', tls?.ca ?? null];
  const open = async (url: string): Promise<RedisClient> => {
    const client = connect({ urls: [url], tlsCa });
    await ready(client, READY_MS);
    return client;
  };
  const [one, two] = await Promise.all(
    nodes.map(({ port }) => open(`${scheme}://:${PASSWORD}@127.0.0.1:${port}`)),
  );
  if (!one || !two) throw new Error('no servers');
  const sentinels = await startSentinels(nodes[0].port, [
    `sentinel auth-pass ${PRIMARY_NAME} ${PASSWORD}`,
    `requirepass ${SENTINEL_PASSWORD}`,
    `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
    ...(tls ? ['tls-port PORT', ...tls.settings.map(([name, value]) => `${name} ${value}`)] : []),
  ]);
  const password = encodeURIComponent(SENTINEL_PASSWORD);
  const all = await Promise.all(
    sentinels.ports.map((port) => open(`${scheme}://:${password}@127.0.0.1:${port}`)),
  );
  const [sentinel] = all;
  if (!sentinel) throw new Error('no Sentinels');
  const hosts = sentinels.ports.map((port) => `127.0.0.1:${port}`).join(',');
  try {
    await two.call('REPLICAOF', '127.0.0.1', nodes[0].port);
    await until('the Sentinels know the replica and one another', () => areInformed(all, 1));
    await story({
      nodes,
      clients: [one, two],
      sentinel,
      env: {
        REDIS_URL: `${scheme}+sentinel://:${PASSWORD}@${hosts}/${PRIMARY_NAME}?sentinelPassword=${password}`,
        ...(tls && { REDIS_TLS_CA: tls.ca }),
      },
    });
  } finally {
    for (const client of [one, two, ...all]) disconnect(client);
    await sentinels.stop();
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

async function startNode(settings: Settings, isOnTls: boolean, parent: string, name: string) {
  const own = { appendonly: 'always', folder: mkdtempSync(path.join(parent, `${name}-`)) } as const;
  if (!isOnTls) return startDurableRedis({ ...own, settings });
  const port = await freePort();
  const tls: Settings = [
    ['port', '0'],
    ['tls-port', `${port}`],
  ];
  return startDurableRedis({ ...own, port, settings: [...settings, ...tls] });
}

/**
 * Without the one that asks, the links of replication, and those of the Sentinels. Null when there is no answer: Sentinels end all
 * connections of a primary that they demote, also that of the test.
 */
async function connectionsOf(server: RedisClient): Promise<string[] | null> {
  const list = await server.call('CLIENT', 'LIST').catch(() => null);
  if (list === null) return null;
  return String(list)
    .split('\n')
    .filter((line) => line.startsWith('id=') && !/ flags=[MS] | cmd=client|name=sentinel-/.test(line));
}

/** Null when there is no answer, as for `connectionsOf`. */
async function roleOf(server: RedisClient): Promise<unknown> {
  const reply = await server.call('ROLE').catch(() => null);
  return Array.isArray(reply) ? reply[0] : null;
}

/** The port of the primary, as the first Sentinel knows it. */
async function addressOf({ sentinel }: Scene): Promise<number> {
  const [, port] = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', PRIMARY_NAME)) as string[];
  return Number(port);
}

/** Orders before and after `failOver`, and a match that is settled after it. */
async function tradesOn({ env }: Scene, failOver: () => Promise<void>, check: () => Promise<void>) {
  const web = await startReplica(env);
  const config = loadConfig({ ...ENVIRONMENT, ...env });
  const worker = await startWorker(config, createLogger({ ...config, logLevel: 'silent' }, 'worker'));
  try {
    const { client } = web;
    const market = await openMarket(client, ADMIN_TOKEN);
    const domain = await domainOf(client);
    const [alice, bob] = [createTrader(client, domain), createTrader(client, domain)];
    const bid = { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 } as const;
    // A busy machine may be late, and the exchange answers 503 then.
    const booked = () =>
      until('an order is booked', async () => (await alice.submit(market, bid)).status === 200);
    await booked();
    await failOver();
    await booked();
    await bob.signIn();
    const taken = await patiently(() => bob.submit(market, { ...bid, outcome: 1, pips: 6_000 }));
    expect(taken.body.status).toBe('FILLED');
    await until('the match is settled', async () => {
      const { body } = await bob.get('/me/trades');
      return body.data?.[0]?.settlementStatus === 'CONFIRMED';
    });
    await until('it is ready', async () => (await client.get('/readyz')).status === 200);
    await check();
  } finally {
    await Promise.all([web.stop(), worker.stop(1_000)]);
  }
}

test(
  'when the primary dies, Sentinels replace it and every process follows',
  () =>
    onScene(false, async (scene) => {
      const [first, second] = scene.nodes;
      await tradesOn(
        scene,
        async () => {
          await first.kill();
          await until('it is replaced', async () => (await addressOf(scene)) === second.port, {
            patienceMs: REPLACED_MS_MAX,
          });
        },
        async () => undefined,
      );
    }),
  LIMIT_MS,
);

(hasOpenssl ? test : test.skip)(
  'when Sentinels promote the replica of a primary that lives on, no connection stays there, also over TLS',
  () =>
    onScene(true, async (scene) => {
      const [former, promoted] = scene.clients;
      let connected = 0;
      await tradesOn(
        scene,
        async () => {
          connected = (await connectionsOf(former))?.length ?? 0;
          await scene.sentinel.call('SENTINEL', 'FAILOVER', PRIMARY_NAME);
          await until(
            'the replica is promoted',
            async () => (await addressOf(scene)) === scene.nodes[1].port,
          );
          // Until then it accepts writes that are lost with DURABILITY=always.
          await until('the former primary follows', async () => (await roleOf(former)) === 'slave');
        },
        async () => {
          await until(
            'nothing stays with the former primary',
            async () => (await connectionsOf(former))?.length === 0,
          );
          // BullMQ cannot be stopped while its connections are being made.
          await until(
            'all have reached the new one',
            async () => ((await connectionsOf(promoted))?.length ?? 0) >= connected,
          );
        },
      );
    }),
  LIMIT_MS,
);
