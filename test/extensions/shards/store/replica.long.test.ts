import { Refusal } from '../../../../src/exchange/errors';
import { createChannels } from '../../../../src/extensions/shards/store/channels';
import { connect, disconnect, ready } from '../../../../src/store/redis/connection';
import { createScripts, type RedisClient } from '../../../../src/store/redis/scripts';
import { type DurableRedis, startDurableRedis } from '../../../support/durable-redis';
import { READY_MS, until } from '../../../support/waiting';
import { GRANT, openShardWorld, type ShardWorld, walletWithHome } from './world';

/** Collateral that a replica does not have yet could come back with it, so no other shard takes it before. */
let master: DurableRedis;
let replica: DurableRedis;
let w: ShardWorld;
beforeEach(async () => {
  [master, replica] = [await startDurableRedis(), await startDurableRedis()];
  await replica.ask(`REPLICAOF 127.0.0.1 ${master.port}`);
  await master.copied();
  w = await openShardWorld({ urls: [master.url], count: 4 });
});
afterEach(async () => {
  w.stop();
  await replica.stop();
  await master.stop();
});

const alice = walletWithHome(0, 4);
const bob = walletWithHome(0, 4, 1);
const refused = (): Promise<void> =>
  expect(w.reserve(1, alice, 45)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
/** As a client does: a replica may need more than the 50 ms that a transfer waits for it. */
const reserved = (shard: number, wallet: string, units: number): Promise<unknown> =>
  until('the order is booked', () =>
    w.reserve(shard, wallet, units).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refusal && error.code === 'UNAVAILABLE') return false;
        throw error;
      },
    ),
  );
const signal = (name: NodeJS.Signals): boolean => process.kill(replica.pid, name);
const seesReplica = async (): Promise<boolean> =>
  /slave0:.*state=online/.test(await w.redis.info('replication'));
/** Until every transfer is through. */
const finished = (): Promise<unknown> =>
  until('nothing is on its way', async () => {
    await w.transfers.finish();
    return (await w.inTransit()) === 0n;
  });

test('collateral moves while the replica answers', async () => {
  await reserved(1, alice, 60);
  expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 40_000_000, reservedMicro: 60_000_000 });
  expect(await w.differences()).toEqual([]);
});

test.each([
  ['is silent', async () => signal('SIGSTOP'), async () => signal('SIGCONT')],
  [
    'has lost its link',
    () => replica.ask('REPLICAOF NO ONE'),
    () => replica.ask(`REPLICAOF 127.0.0.1 ${master.port}`),
  ],
])(
  'while the replica %s nothing is taken, and when it is back the order runs',
  async (state, lose, bring) => {
    // The process has seen the replica then. All of Alice's collateral is at home, however often Bob tried.
    await reserved(2, bob, 10);
    await finished();
    await lose();
    if (state !== 'is silent') await until('the link is lost', async () => !(await seesReplica()));
    await refused();
    expect(await w.channels.look(1, Buffer.from(alice.slice(2), 'hex'))).toMatchObject({ freeMicro: null });
    expect(await w.inTransit()).toBe(45_000_000n);
    expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 100_000_000, reservedMicro: 0 });
    await bring();
    await until('the replica is back', seesReplica);
    await finished();
    await reserved(1, alice, 45);
    expect(await w.exchange.collateral(alice)).toEqual({ freeMicro: 55_000_000, reservedMicro: 45_000_000 });
    expect(await w.differences()).toEqual([]);
  },
);

test('a transfer waits for a replica on another connection, so the commands of other wallets do not wait', async () => {
  const other = connect({ urls: [master.url] });
  try {
    await ready(other, READY_MS);
    const channels = createChannels({
      redis: w.redis,
      run: w.run,
      shards: w.shards,
      waiting: { redis: other, run: createScripts(other) },
    });
    const [shared, own] = [namesOf(w.redis), namesOf(other)];
    const wallet = Buffer.from(alice.slice(2), 'hex');
    const home = { grantMicro: GRANT };
    await channels.send({ from: 0, to: 1, wallet, needMicro: 1, token: '', home });
    await channels.hold(0, wallet, 'token', 1).catch(() => undefined);
    await channels.drain(0, 1);
    expect(own).toEqual(expect.arrayContaining(['ROLE', 'wait']));
    expect(shared).not.toContain('wait');
    expect(shared).toContain('hget');
  } finally {
    disconnect(other);
  }
});

/** The commands that a client sends from now on. */
function namesOf(client: RedisClient): string[] {
  const names: string[] = [];
  const send = client.sendCommand.bind(client);
  client.sendCommand = ((...[command, stream]: Parameters<RedisClient['sendCommand']>) => {
    names.push(command.name);
    return send(command, stream);
  }) as RedisClient['sendCommand'];
  return names;
}
