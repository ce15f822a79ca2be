import { ConfigError, EXIT_BAD_CONFIG } from '../../../src/config/report';
import { createBatchOrder } from '../../../src/http/orders/batch-order';
import { createDurabilityChecks, type Promised } from '../../../src/store/health/durability';
import { replicaLagsOf } from '../../../src/store/health/info';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts } from '../../../src/store/redis/scripts';
import { type DurableRedis, startDurableRedis } from '../../support/durable-redis';
import { startScript } from '../../support/processes';
import { startProxy } from '../../support/proxy';
import { startTestRedis } from '../../support/redis';
import { ENVIRONMENT } from '../../support/settings';
import { hasWaitaof } from '../../support/store-version';
import { READY_MS, until } from '../../support/waiting';
import { startReplica } from '../../support/web-replicas';

/** What DURABILITY=replicated needs no replica for; test/faults/replicated.long.test.ts is the rest. */
(hasWaitaof ? test.skip : test)(
  'Redis before 7.2: with a server without WAITAOF every process says so and exits with 78',
  async () => {
    const redis = await startTestRedis({ appendonly: 'always' });
    try {
      const env = { ...ENVIRONMENT, REDIS_URL: redis.url, DURABILITY: 'replicated' };
      const problem = /DURABILITY.*needs Redis 7\.2 or Valkey, and this is Redis \d+\.\d+/;
      await expect(startReplica(env)).rejects.toThrow(ConfigError);
      for (const program of ['web', 'worker']) {
        const started = startScript(`require('./src/${program}.ts')`, { ...env, PORT: '0' });
        expect(await started.exited).toBe(EXIT_BAD_CONFIG);
        expect(started.stderr()).toMatch(problem);
      }
    } finally {
      await redis.stop();
    }
  },
);

test('the lags are those of the replicas which are online, the nearest first', () => {
  const lags = (...replicas: string[]) =>
    replicaLagsOf(
      new Map([['master_repl_offset', '500'], ...replicas.map((text, i) => [`slave${i}`, text] as const)]),
    );
  expect(lags()).toEqual([]);
  expect(lags('ip=a,port=1,state=wait_bgsave,offset=0,lag=0')).toEqual([]);
  expect(
    lags(
      'ip=a,port=1,state=online,offset=300,lag=0',
      'ip=b,port=2,state=online,offset=480,lag=1,type=replica',
    ),
  ).toEqual([20, 200]);
  expect(lags('ip=a,port=1,state=online,offset=520,lag=0')).toEqual([0]);
});

test('an order of a batch waits for the result of the one before it where they may take several connections', async () => {
  const sent = async (isOneConnection: boolean): Promise<string[]> => {
    const steps: string[] = [];
    const inTurn = createBatchOrder(isOneConnection);
    const orders = [1, 2].map((order) =>
      inTurn(async (turn) => {
        await turn.othersSent;
        steps.push(`sends ${order}`);
        turn.sent();
        await new Promise(setImmediate);
        steps.push(`has ${order}`);
      }),
    );
    await Promise.all(orders);
    return steps;
  };
  expect(await sent(true)).toEqual(['sends 1', 'sends 2', 'has 1', 'has 2']);
  expect(await sent(false)).toEqual(['sends 1', 'has 1', 'sends 2', 'has 2']);
});

describe('the epoch at a failover', () => {
  let nodes: readonly [DurableRedis, DurableRedis];
  beforeEach(async () => {
    const options = { appendonly: 'always' } as const;
    nodes = await Promise.all([startDurableRedis(options), startDurableRedis(options)]);
  });
  afterEach(() => Promise.all(nodes.map((node) => node.stop())));

  /** The epochs before and after; the replica may miss the last entry that the process saw. */
  async function failOver(promised: Promised, isWhole: boolean): Promise<[string, string]> {
    const [first, second] = nodes;
    const name = await startProxy(first.port);
    const redis = connect({ urls: [`redis://127.0.0.1:${name.port}`] });
    await ready(redis, READY_MS);
    const keys = createKeys();
    const standings = createDurabilityChecks({ redis, run: createScripts(redis), keys, promised });
    try {
      await redis.xadd(keys.outbox, '*', 'e', 'first');
      await second.ask(`REPLICAOF 127.0.0.1 ${first.port}`);
      await until('the replica follows', async () =>
        (await second.ask('INFO replication')).includes('master_link_status:up'),
      );
      const before = (await standings.refresh()).epoch;
      await first.copied();
      if (!isWhole) await second.ask('REPLICAOF NO ONE');
      standings.saw((await redis.xadd(keys.outbox, '*', 'e', 'last')) ?? '');
      if (isWhole) await first.copied();
      await first.kill();
      if (isWhole) await second.ask('REPLICAOF NO ONE');
      name.retarget(second.port);
      await until('it answers', async () => (await redis.ping().catch(() => null)) === 'PONG');
      return [before, (await standings.refresh()).epoch];
    } finally {
      disconnect(redis);
      await name.stop();
    }
  }

  test('stays with DURABILITY=replicated', async () => {
    const [before, after] = await failOver('replicated', true);
    expect(after).toBe(before);
  });

  test('changes there when an entry that a process saw is missing', async () => {
    const [before, after] = await failOver('replicated', false);
    expect(after).not.toBe(before);
  });

  test('changes otherwise, because something may be missing', async () => {
    const [before, after] = await failOver(null, true);
    expect(after).not.toBe(before);
  });
});
