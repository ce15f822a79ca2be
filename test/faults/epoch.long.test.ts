import { readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { io } from 'socket.io-client';
import { createShell } from '../cli/shell';
import type { Answer, Client } from '../support/client';
import { type DurableRedis, startDurableRedis } from '../support/durable-redis';
import { startScript } from '../support/processes';
import { startProxy } from '../support/proxy';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, domainOf, type OpenMarket, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { startReplica } from '../support/web-replicas';

/** Tests the durability of acknowledged writes, and how a client learns that some were lost. */
interface OneReplica {
  readonly client: Client;
  readonly market: OpenMarket;
  readonly alice: Trader;
  /** Waits until the exchange answers orders again. */
  back(): Promise<void>;
  epoch(): Promise<string>;
  stop(): Promise<void>;
}

async function startOneReplica(redisUrl: string): Promise<OneReplica> {
  const { web, client } = await startReplica({ REDIS_URL: redisUrl });
  const market = await openMarket(client, ADMIN_TOKEN);
  const alice = createTrader(client, await domainOf(client));
  const back = async (): Promise<void> => {
    await until('ready again', async () => (await client.get('/readyz')).status === 200);
  };
  const epoch = async (): Promise<string> => (await client.get('/readyz')).body.epoch;
  return { client, market, alice, back, epoch, stop: () => web.stop(1_000) };
}

const BID = { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 } as const;
const send = ({ client, market }: OneReplica, order: unknown): Promise<Answer> =>
  client.post(`/markets/${market.id}/orders`, { body: { order } });

async function withRedis(
  options: Parameters<typeof startDurableRedis>[0],
  story: (redis: DurableRedis) => Promise<void>,
): Promise<void> {
  const redis = await startDurableRedis(options);
  try {
    await story(redis);
  } finally {
    await redis.stop();
  }
}

test('a lost tail is a new epoch: clients are notified, and signed orders that are sent again are booked', () =>
  withRedis({}, async (redis) => {
    const exchange = await startOneReplica(redis.url);
    const told: string[] = [];
    const socket = io(exchange.client.url, { transports: ['websocket'] });
    socket.on('epoch', (message) => told.push(message.epoch));
    try {
      const [kept, lost] = [
        await exchange.alice.order(exchange.market, BID),
        await exchange.alice.order(exchange.market, BID),
      ];
      const first = await send(exchange, kept);
      expect([first.status, first.headers.get('x-durability')]).toEqual([200, 'none']);
      const before = await exchange.epoch();
      expect(first.headers.get('x-epoch')).toBe(before);
      await redis.ask('SAVE');
      const second = await send(exchange, lost);
      expect(second.status).toBe(200);
      await redis.kill();
      await redis.revive();
      await exchange.back();
      const after = await exchange.epoch();
      expect(after).not.toBe(before);
      await until('the socket is told', () => told.length > 0);
      expect(told).toEqual([after]);
      expect((await exchange.client.get('/config')).body).toMatchObject({ epoch: after, durability: 'none' });
      expect((await exchange.client.get(`/orders/${second.body.orderHash}`)).status).toBe(404);
      const [again, restored] = [await send(exchange, kept), await send(exchange, lost)];
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
      expect([restored.status, restored.headers.get('idempotent-replayed')]).toEqual([200, null]);
      expect(restored.headers.get('x-epoch')).toBe(after);
      expect((await exchange.client.get(`/markets/${exchange.market.id}/orderbook`)).body.bids).toEqual([
        { price: '0.4', size: '2', orders: 2 },
      ]);
    } finally {
      socket.disconnect();
      await exchange.stop();
    }
  }));

test('with every write on disk a killed Redis loses nothing, and the epoch stays', () =>
  withRedis({ appendonly: 'always' }, async (redis) => {
    const exchange = await startOneReplica(redis.url);
    try {
      const { body, headers } = await exchange.alice.submit(exchange.market, BID);
      expect(headers.get('x-durability')).toBe('always');
      const before = await exchange.epoch();
      await redis.kill();
      await redis.revive();
      await exchange.back();
      expect(await exchange.epoch()).toBe(before);
      expect((await exchange.client.get(`/orders/${body.orderHash}`)).body.status).toBe('OPEN');
    } finally {
      await exchange.stop();
    }
  }));

test('a replica that takes over is a new epoch, although it writes everything to disk', () =>
  withRedis({ appendonly: 'always' }, (master) =>
    withRedis({ appendonly: 'always' }, async (replica) => {
      await replica.ask(`REPLICAOF 127.0.0.1 ${master.port}`);
      const proxy = await startProxy(master.port);
      const exchange = await startOneReplica(`redis://127.0.0.1:${proxy.port}`);
      try {
        const { body } = await exchange.alice.submit(exchange.market, BID);
        const before = await exchange.epoch();
        await master.copied();
        await replica.written();
        await master.kill();
        await replica.ask('REPLICAOF NO ONE');
        proxy.retarget(replica.port);
        proxy.cut();
        await exchange.back();
        expect(await exchange.epoch()).not.toBe(before);
        expect((await exchange.client.get(`/orders/${body.orderHash}`)).body.status).toBe('OPEN');
        const taken = await exchange.epoch();
        await replica.kill();
        await replica.revive();
        await exchange.back();
        // For data with copies, every other run may be another copy.
        expect(await exchange.epoch()).not.toBe(taken);
      } finally {
        await exchange.stop();
        await proxy.stop();
        await master.revive();
      }
    }),
  ));

/** Two ways in which an operator or a supervisor promotes a replica that lacks the last order. */
const TAKE_OVERS: readonly (readonly [string, (replica: DurableRedis) => Promise<unknown>])[] = [
  ['restarted without its master', async (replica) => process.kill(replica.pid, 'SIGSTOP')],
  ['promoted and restarted between two looks', (replica) => replica.ask('REPLICAOF NO ONE')],
];

test.each(TAKE_OVERS)('a replica that lacks an acknowledged order and is %s is a new epoch', (_, leave) =>
  withRedis({ appendonly: 'always' }, (master) =>
    withRedis({ appendonly: 'always' }, async (replica) => {
      await replica.ask(`REPLICAOF 127.0.0.1 ${master.port}`);
      const proxy = await startProxy(master.port);
      const exchange = await startOneReplica(`redis://127.0.0.1:${proxy.port}`);
      try {
        await until('the replica is there', async () =>
          (await master.ask('INFO replication')).includes('connected_slaves:1'),
        );
        const before = await exchange.epoch();
        await master.copied();
        await replica.written();
        await leave(replica);
        const lost = await exchange.alice.order(exchange.market, BID);
        const { status, body, headers } = await send(exchange, lost);
        expect([status, headers.get('x-durability'), headers.get('x-epoch')]).toEqual([
          200,
          'always',
          before,
        ]);
        await Promise.all([master.kill(), replica.kill()]);
        await replica.revive();
        proxy.retarget(replica.port);
        proxy.cut();
        await exchange.back();
        expect(await replica.ask('INFO replication')).toContain('second_repl_offset:-1');
        expect((await exchange.client.get(`/orders/${body.orderHash}`)).status).toBe(404);
        expect(await exchange.epoch()).not.toBe(before);
        expect((await send(exchange, lost)).headers.get('idempotent-replayed')).toBeNull();
      } finally {
        await exchange.stop();
        await proxy.stop();
        await master.revive();
      }
    }),
  ),
);

test('a Redis that fails over and back unnoticed is a new epoch, although it is the same process', () =>
  withRedis({ appendonly: 'always' }, (first) =>
    withRedis({ appendonly: 'always' }, async (second) => {
      const exchange = await startOneReplica(first.url);
      const replicates = (one: DurableRedis): Promise<void> =>
        until('the replica has everything', async () =>
          (await one.ask('INFO replication')).includes('master_link_status:up'),
        );
      try {
        const [kept, lost] = [
          await exchange.alice.order(exchange.market, BID),
          await exchange.alice.order(exchange.market, BID),
        ];
        expect((await send(exchange, kept)).status).toBe(200);
        const before = await exchange.epoch();
        await second.ask(`REPLICAOF 127.0.0.1 ${first.port}`);
        await replicates(second);
        await second.ask('REPLICAOF NO ONE');
        // The first has no replica any more, and does not know yet that another took over.
        const { status, body } = await send(exchange, lost);
        expect(status).toBe(200);
        await first.ask(`REPLICAOF 127.0.0.1 ${second.port}`);
        await replicates(first);
        await first.ask('REPLICAOF NO ONE');
        await exchange.back();
        expect((await exchange.client.get(`/orders/${body.orderHash}`)).status).toBe(404);
        const after = await exchange.epoch();
        expect(after).not.toBe(before);
        expect((await send(exchange, lost)).headers.get('idempotent-replayed')).toBeNull();
        expect(await exchange.epoch()).toBe(after);
      } finally {
        await exchange.stop();
      }
    }),
  ));

/** Every byte that Redis has written since the last time that it rewrote its file. */
const incrementOf = ({ folder }: DurableRedis): string => {
  const files = path.join(folder, 'appendonlydir');
  return path.join(files, readdirSync(files).find((name) => name.endsWith('.incr.aof')) ?? '');
};

test('an append-only file that lost its end is a new epoch, and Redis does not start with it by itself', () =>
  withRedis({ appendonly: 'always' }, async (redis) => {
    const exchange = await startOneReplica(redis.url);
    try {
      const kept = await exchange.alice.submit(exchange.market, BID);
      const { size } = statSync(incrementOf(redis));
      const lost = await exchange.alice.order(exchange.market, BID);
      expect((await send(exchange, lost)).status).toBe(200);
      // The process has seen the entry of that order now.
      const before = await exchange.epoch();
      await redis.kill();
      // In the middle of a command, as a disk leaves it.
      truncateSync(incrementOf(redis), size + 20);
      await expect(redis.revive()).rejects.toThrow('Unexpected end of file');
      await redis.revive([['aof-load-truncated', 'yes']]);
      await exchange.back();
      expect(await exchange.epoch()).not.toBe(before);
      expect((await exchange.client.get(`/orders/${kept.body.orderHash}`)).status).toBe(200);
      const again = await send(exchange, lost);
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null]);
    } finally {
      await exchange.stop();
    }
  }));

test('while Redis has lost everything no process is ready, until an operator accepts it', () =>
  withRedis({ appendonly: 'always' }, async (redis) => {
    const exchange = await startOneReplica(redis.url);
    const shell = createShell(redis.url);
    const verdict = async () =>
      (await shell.json('doctor')).checks.find(({ name }: { name: string }) => name === 'epoch').verdict;
    const metric = async (name: string) =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec((await exchange.client.get('/metrics')).text)?.[1]);
    try {
      await exchange.alice.submit(exchange.market, BID);
      const before = await exchange.epoch();
      expect(await verdict()).toBe('ok');
      await redis.kill();
      rmSync(path.join(redis.folder, 'appendonlydir'), { recursive: true });
      await redis.revive();
      const detail = expect.stringMatching(/^Redis lost its data, .*exchange accept-loss/);
      await until('it is noticed', async () => {
        const { status, body } = await exchange.client.get('/readyz');
        return status === 503 && /lost its data/.test(body.detail);
      });
      expect((await exchange.client.get('/readyz')).body).toMatchObject({ code: 'UNAVAILABLE', detail });
      const next = await startReplica({ REDIS_URL: redis.url });
      expect((await next.client.get('/readyz')).body).toMatchObject({ code: 'UNAVAILABLE', detail });
      await next.stop();
      expect(await verdict()).toBe('fail');
      expect((await shell.json('audit')).differences).toEqual([{ kind: 'DATA_LOST', detail }]);
      expect(await metric('exchange_data_lost')).toBe(1);

      expect((await shell.exchange('accept-loss')).code).toBe(2);
      expect((await shell.exchange('accept-loss', '--yes')).out).toMatch(/^the loss of 2.* is accepted/);
      await exchange.back();
      expect(await exchange.epoch()).not.toBe(before);
      expect(await verdict()).toBe('warn');
      expect((await shell.json('audit')).ok).toBe(true);
      await until('the metrics are read again', async () => (await metric('exchange_data_lost')) === 0);
      expect(await metric('exchange_epoch_start_time_seconds')).toBeGreaterThan(Date.UTC(2026) / 1_000);
    } finally {
      await exchange.stop();
    }
  }));

describe('production', () => {
  const start = (redis: DurableRedis, env: Record<string, string> = {}) =>
    startScript("require('./src/web.ts')", {
      ...ENVIRONMENT,
      NODE_ENV: 'production',
      TRUST_PROXY: '1',
      REDIS_URL: redis.url,
      PORT: '0',
      ...env,
    });

  test.each([
    [{}, 'durability none'],
    [{ appendonly: 'everysec' }, 'durability everysec'],
    [{ appendonly: 'always', settings: [['maxmemory-policy', 'allkeys-lru']] }, 'allkeys-lru'],
  ] as const)('does not start on a Redis with %j', (options, problem) =>
    withRedis(options, async (redis) => {
      const web = start(redis);
      expect(await web.exited).toBe(78);
      expect(web.stderr()).toContain(problem);
      expect(web.stderr()).toContain('ALLOW_WEAK_DURABILITY');
    }),
  );

  test('production accepts a weak Redis only by configuration, and a process is not ready when a fit Redis becomes weak', () =>
    withRedis({ appendonly: 'always' }, async (redis) => {
      const [strict, lenient] = [start(redis), start(redis, { ALLOW_WEAK_DURABILITY: '1' })];
      try {
        await until('both listen', () => [strict, lenient].every((web) => /"port":\d+/.test(web.stdout())));
        const ready = (web: typeof strict): Promise<Response> =>
          fetch(`http://127.0.0.1:${/"port":(\d+)/.exec(web.stdout())?.[1]}/readyz`);
        expect([(await ready(strict)).status, (await ready(lenient)).status]).toEqual([200, 200]);
        await redis.ask('CONFIG SET appendfsync everysec');
        expect([(await ready(strict)).status, (await ready(lenient)).status]).toEqual([503, 200]);
        expect(await (await ready(strict)).text()).toContain('everysec');
        expect((await ready(lenient)).headers.get('x-durability')).toBe('everysec');
      } finally {
        for (const { child } of [strict, lenient]) child.kill('SIGKILL');
        await Promise.all([strict.exited, lenient.exited]);
      }
    }));
});
