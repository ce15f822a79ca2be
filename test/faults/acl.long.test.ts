import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { io } from 'socket.io-client';
import { startWorker } from '../../src/app/worker';
import { loadConfig } from '../../src/config/load';
import { createLogger } from '../../src/log';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { ROOT } from '../support/processes';
import { startTestRedis } from '../support/redis';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, openMarket } from '../support/trader';
import { READY_MS, until } from '../support/waiting';
import { startReplica } from '../support/web-replicas';

/** The exchange runs as the user of docs/deploy/redis-acl.conf, and that user can do it no harm beyond its own keys. */
const folder = mkdtempSync(path.join(tmpdir(), 'exchange-acl-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('web and worker need no more rights than the example grants', async () => {
  // The file itself: Redis may write into the one it is given.
  const file = path.join(folder, 'users.acl');
  copyFileSync(path.join(ROOT, 'docs/deploy/redis-acl.conf'), file);
  const redis = await startTestRedis({ appendonly: 'always', settings: [['aclfile', file]] });
  const url = `redis://exchange:change-this-password@127.0.0.1:${redis.port}`;
  const logged: string[] = [];
  const { web, client } = await startReplica({ REDIS_URL: url, RATE_LIMIT: 'on' }, logged);
  const config = loadConfig({ NODE_ENV: 'test', REDIS_URL: url, LOG_LEVEL: 'debug' });
  const log = createLogger(config, 'worker', { write: (line: string) => logged.push(line) });
  const worker = await startWorker(config, log);
  try {
    const market = await openMarket(client, ADMIN_TOKEN);
    const domain = await domainOf(client);
    const [alice, bob] = [createTrader(client, domain), createTrader(client, domain)];
    const heard: unknown[] = [];
    const socket = io(client.url, { transports: ['websocket'], auth: { token: await alice.token() } });
    socket.on('order:update', (order) => heard.push(order));
    await until('the socket is there', () => socket.connected);
    await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 100 });
    const taken = await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100 });
    expect(taken.body).toMatchObject({ status: 'FILLED' });
    await until('alice is told', () => heard.length > 0);
    const settled = async () => (await client.get('/admin/settlements', { token: ADMIN_TOKEN })).body.data;
    await until('the match is settled', async () => (await settled())?.length === 1);
    expect((await alice.post(`/markets/${market.id}/orders/cancel-all`)).status).toBe(200);
    const key = await alice.post('/me/keys', { name: 'reader', scopes: ['read'] });
    expect(key.status).toBe(201);
    expect((await client.get('/me/balances', { token: key.body.key })).status).toBe(200);
    expect((await client.get('/readyz')).body).toMatchObject({ durability: 'always' });
    expect((await client.get('/metrics')).text).toContain('exchange_outbox_length');
    socket.disconnect();
    expect(logged.join('\n')).not.toMatch(/NOPERM|permission/i);
    expect(logged.join('\n')).not.toContain('change-this-password');

    const user = connect({ urls: [url] });
    await ready(user, READY_MS);
    const forbidden = [
      ['FLUSHALL'],
      ['KEYS', '*'],
      ['CONFIG', 'SET', 'appendfsync', 'no'],
      ['SHUTDOWN'],
      ['REPLICAOF', 'NO', 'ONE'],
      ['ACL', 'LIST'],
      ['SCRIPT', 'FLUSH'],
      ['GET', 'other'],
      ['SET', 'other', '1'],
      ['PUBLISH', 'other', '1'],
    ];
    for (const [name = '', ...args] of forbidden) {
      const answer = await user.call(name, ...args).catch((error: Error) => error.message);
      expect([name, String(answer)]).toEqual([name, expect.stringMatching(/^NOPERM/)]);
    }
    disconnect(user);
  } finally {
    await worker.stop(1_000);
    await web.stop(1_000);
    await redis.stop();
  }
});
