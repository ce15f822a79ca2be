import { connect, disconnect, ready } from '../../../src/store/redis/connection';
import { startTestCluster } from '../../support/redis';
import { READY_MS } from '../../support/waiting';

/** The client of a cluster asks a node at random whether the cluster is well: of this number, some would ask the silent one. */
const CLIENTS = 20;

test('connections that begin while a master is silent are ready, also those that wait without end', async () => {
  const cluster = await startTestCluster(3);
  const signal = (name: NodeJS.Signals): boolean => process.kill(cluster.nodes[0]?.pid ?? 0, name);
  const clients: ReturnType<typeof connect>[] = [];
  signal('SIGSTOP');
  try {
    for (let i = 0; i < CLIENTS; i++) clients.push(connect({ urls: cluster.url.split(','), blocking: true }));
    await Promise.all(clients.map((client) => ready(client, READY_MS)));
    expect(clients.map(({ status }) => status)).toEqual(Array(CLIENTS).fill('ready'));
  } finally {
    signal('SIGCONT');
    for (const client of clients) disconnect(client);
    await cluster.stop();
  }
}, 120_000);
