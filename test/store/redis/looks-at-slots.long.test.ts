import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, Redis } from 'ioredis';
import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { slotOf } from '../../../src/store/redis/holder';
import { createKeys } from '../../../src/store/redis/keys';
import { startTestCluster } from '../../support/redis';
import { READY_MS } from '../../support/waiting';

const SECONDS = 3;
/** The client looks every five seconds by itself, once when it connects, and once a second after commands that miss. */
const LOOKS_MAX = SECONDS + 3;
/** Commands that miss, which takes longer on a busy machine. */
const FAILED_MIN = 100;

test('commands for a master that is away do not make a client look at all slots again and again', async () => {
  const cluster = await startTestCluster(3);
  const [dead, ...alive] = cluster.nodes;
  if (!dead) throw new Error('no node');
  const lost = [0, 1, 2, 3].map((shard) => createKeys(shard)).find((keys) => slotOf(keys) < 16_384 / 3);
  if (!lost) throw new Error('no shard is there');
  const nodes = alive.map(({ port }) => new Redis(port, '127.0.0.1'));
  const looks = async (): Promise<number> => {
    const infos = await Promise.all(nodes.map((node) => node.info('commandstats')));
    return infos.reduce((sum, text) => sum + Number(/cluster\|slots:calls=(\d+)/.exec(text)?.[1] ?? 0), 0);
  };
  const urls = cluster.url.split(',');
  const blocking = connect({ urls, blocking: true }) as Cluster;
  const clients = [connect({ urls }), blocking, blocking.duplicate()];
  try {
    await Promise.all(clients.map((client) => ready(client, READY_MS)));
    process.kill(dead.pid, 'SIGKILL');
    await dead.exited;
    const before = await looks();
    const until = performance.now() + SECONDS * 1_000;
    let failed = 0;
    const asking = clients.map(async (client) => {
      while (performance.now() < until || failed <= FAILED_MIN) {
        void client.get(lost.mode).catch(() => failed++);
        await sleep(10);
      }
    });
    await Promise.all(asking);
    const lateSec = (performance.now() - until) / 1_000;
    expect((await looks()) - before).toBeLessThanOrEqual(clients.length * (LOOKS_MAX + lateSec));
  } finally {
    for (const client of clients) disconnect(client);
    for (const node of nodes) node.disconnect();
    await cluster.stop();
  }
}, 60_000);
