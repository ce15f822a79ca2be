import type { Cluster, Redis } from 'ioredis';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { holderOf } from '../../../src/store/redis/holder';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts, type RunScript } from '../../../src/store/redis/scripts';
import { startTestCluster, type TestCluster } from '../../support/redis';
import { startShuttle } from '../../support/slots';
import { READY_MS, sleep, until } from '../../support/waiting';

/** Scripts go to the node of their shard past the client of the cluster, which still finds that node when it is another one. */
const LIMIT_MS = 60_000;
/** A command may take two seconds. The first node is silent for the first time, and the second one for the other. */
const [LATE_MS, LATER_MS] = [1_500, 3_200];
const keys = createKeys(2);
let cluster: TestCluster;
let redis: Cluster;
let run: RunScript;
/** The scripts that the client itself has sent. */
let byClient = 0;
beforeAll(async () => {
  cluster = await startTestCluster(3);
  redis = connect({ urls: cluster.url.split(',') }) as Cluster;
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (...args: Parameters<Cluster['sendCommand']>) => {
    if (args[0].name.toLowerCase().startsWith('eval')) byClient++;
    return send(...args);
  };
  await ready(redis, READY_MS);
  run = createScripts(redis);
  await lift(0);
}, LIMIT_MS);
afterAll(async () => {
  disconnect(redis);
  await cluster.stop();
});
beforeEach(() => {
  byClient = 0;
});

const wallet = Buffer.alloc(20, 7);
const lift = (nonce: number) =>
  run('lift_nonce', [keys.cash, keys.outbox, keys.raisedNonces], [keys.prefix, wallet, nonce]);
const place = (): string => `${(holderOf(redis, keys) as Redis).options.port}`;

test('a script goes to the node of its shard at once', async () => {
  for (let nonce = 1; nonce <= 10; nonce++) await lift(nonce);
  expect(byClient).toBe(0);
});

test(
  'a script runs where its slot has moved to, and the next one goes there at once',
  async () => {
    const before = place();
    const shuttle = await startShuttle(cluster, keys.cash, 0, 1);
    await until('the slot has moved', async () => shuttle.moves() === 1);
    await shuttle.stop();
    await lift(20);
    // Once by its name, which the new node does not know, and once as a whole.
    expect(byClient).toBe(2);
    expect(place()).not.toBe(before);
    await lift(21);
    expect(byClient).toBe(2);
  },
  LIMIT_MS,
);

test(
  'a script that a node refuses late has only the rest of its time at the next node',
  async () => {
    const before = cluster.nodes.findIndex(({ port }) => `${port}` === place());
    const shuttle = await startShuttle(cluster, keys.cash, 0, 1);
    await until('the slot has moved', async () => shuttle.moves() === 1);
    await shuttle.stop();
    // The shuttle goes to the next node.
    const stopped = [before, before + 1].map((n) => cluster.nodes[n % cluster.nodes.length]?.pid ?? 0);
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    const [late, later] = [LATE_MS, LATER_MS].map((ms, i) =>
      sleep(ms).then(() => process.kill(stopped[i] as number, 'SIGCONT')),
    );
    // With all of its time at the second node it would run there.
    await expect(lift(25)).rejects.toThrow('Command timed out');
    await Promise.all([late, later]);
  },
  LIMIT_MS,
);

test(
  'scripts run again after their connection was cut, on the new one',
  async () => {
    const answers = (n: number) =>
      until('the shard answers', () =>
        lift(n).then(
          () => true,
          () => false,
        ),
      );
    // On a machine that stood still the connection may be cut already.
    await answers(29);
    const cut = holderOf(redis, keys);
    await cut.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no').catch(() => undefined);
    await answers(30);
    byClient = 0;
    await lift(31);
    expect(byClient).toBe(0);
    expect(holderOf(redis, keys)).not.toBe(cut);
  },
  LIMIT_MS,
);
