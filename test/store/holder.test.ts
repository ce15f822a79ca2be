import { Redis } from 'ioredis';
import { createShell } from '../cli/shell';
import { startTestCluster, type TestCluster } from '../support/redis';
import { startShuttle } from '../support/slots';
import { until } from '../support/waiting';
import { type Replica, startReplica } from '../support/web-replicas';

/** One of three masters has the book: statements about the store concern that node, wherever the book is. */
const PREFIX = '{x0}:';
/** A client of a cluster sends commands without a key to any node: of this number, one would go to the wrong node. */
const LOOKS = 12;
const REST_MS = 300;

let cluster: TestCluster;
let nodes: Redis[];
let replica: Replica;
let at: number;
beforeAll(async () => {
  cluster = await startTestCluster(3, { appendonly: 'always' });
  nodes = cluster.nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  at = Math.floor(((await (nodes[0] as Redis).cluster('KEYSLOT', PREFIX)) * nodes.length) / 16_384);
  replica = await startReplica({ REDIS_URL: cluster.url });
});
afterAll(async () => {
  await replica?.web.stop(1_000);
  for (const node of nodes ?? []) node.disconnect();
  await cluster?.stop();
});

/** Sets it in the node that has the book, and in the two others. */
async function appendonly(holder: 'yes' | 'no', others: 'yes' | 'no'): Promise<void> {
  await Promise.all(nodes.map((node, i) => node.config('SET', 'appendonly', i === at ? holder : others)));
}

async function told(): Promise<string[]> {
  const said = new Set<string>();
  for (let i = 0; i < LOOKS; i++) {
    const { status, body } = await replica.client.get('/readyz');
    expect(status).toBe(200);
    said.add(body.durability);
  }
  return [...said];
}

test.each([
  ['yes', 'no', 'always'],
  ['no', 'yes', 'none'],
] as const)(
  'with appendonly %s where the book is and %s elsewhere the durability is %s',
  async (holder, others, durability) => {
    await appendonly(holder, others);
    expect(await told()).toEqual([durability]);
    const { out } = await createShell(cluster.url).exchange('doctor');
    expect(out).toMatch(durability === 'always' ? /^ok +durability /m : /^warn +durability /m);
  },
);

test('doctor and audit use the time of the node that has the book', async () => {
  await Promise.all(nodes.map((node) => node.config('RESETSTAT')));
  const shell = createShell(cluster.url);
  for (let i = 0; i < 3; i++) {
    await shell.exchange('doctor');
    expect((await shell.exchange('audit')).code).toBe(0);
  }
  const asked = await Promise.all(
    nodes.map(async (node) => (await node.info('commandstats')).includes('cmdstat_time:')),
  );
  expect(asked).toEqual(nodes.map((_, i) => i === at));
});

test('after the book has moved, the durability is that of its new node', async () => {
  await appendonly('yes', 'no');
  expect(await told()).toEqual(['always']);
  const shuttle = await startShuttle(cluster, PREFIX, REST_MS, 1);
  await until('it has moved', () => shuttle.moves() === 1);
  await shuttle.stop();
  expect(await told()).toEqual(['none']);
});
