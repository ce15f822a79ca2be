import {
  type DurableCluster,
  type DurableNode,
  inStep,
  isMaster,
  startDurableCluster,
} from '../../../support/durable-cluster';
import { createRandom } from '../../../support/random';
import { chooseSeed, tell } from '../../../support/telling';
import type { Trader } from '../../../support/trader';
import { eventually, until } from '../../../support/waiting';
import {
  type ClusterExchange,
  GRANT,
  holdOf,
  MASTER_OF,
  post,
  type Sent,
  SHARDS,
  send,
  settled,
  startClusterExchange,
} from './cluster-exchange';

/**
 * A replica takes the place of a shard's master while orders come in all shards: by hand, where nothing is lost, and after a kill,
 * where the epoch says that something may be, and orders that are sent again run once. `CLUSTER_ORDERS=1000` sends as many orders.
 */
const ORDERS = Number(process.env.CLUSTER_ORDERS ?? 200);
const LIMIT_MS = 300_000;
const LANES = 4;
const SHARD = 1;
const seed = chooseSeed('a replica takes over');

let cluster: DurableCluster;
let exchange: ClusterExchange;
beforeAll(async () => {
  cluster = await startDurableCluster({ masters: SHARDS, hasReplicas: true, nodeTimeoutMs: 4_000 });
  exchange = await startClusterExchange(cluster.url);
}, LIMIT_MS);
afterAll(async () => {
  await exchange?.stop();
  await cluster?.stop();
});

const at = (nodes: readonly DurableNode[]): DurableNode => nodes[MASTER_OF[SHARD]] as DurableNode;

interface Load {
  readonly sent: readonly Sent[];
  /** Lasts until there were enough orders after this. */
  stop(): Promise<void>;
}

/** Wallets of all homes send orders to random shards, so that many of them need collateral of another one. */
function startLoad(): Load {
  const random = createRandom(seed);
  const sent: Sent[] = [];
  let [isOver, left] = [false, ORDERS];
  const lane = async (): Promise<void> => {
    while (!isOver || left > 0) {
      const trader = exchange.trader(random.int(0, SHARDS - 1));
      // Together no more than a wallet has: whatever is lost and sent again, each order can be paid.
      for (let spent = 0; spent < GRANT; spent += GRANT / 4) {
        const market = exchange.markets[random.int(0, SHARDS - 1)] as ClusterExchange['markets'][0];
        sent.push(await send(exchange.client, trader, market, holdOf(GRANT / 4)));
        if (isOver) left--;
      }
    }
  };
  const lanes = Promise.all(Array.from({ length: LANES }, lane));
  return {
    sent,
    async stop() {
      isOver = true;
      await lanes;
    },
  };
}

const epoch = async (): Promise<string> => (await exchange.client.get('/readyz')).body.epoch;

/** The accepted orders of which the exchange knows nothing. */
async function missing(sent: readonly Sent[]): Promise<Sent[]> {
  const found = await Promise.all(
    sent.map(async ({ answer }) => (await exchange.client.get(`/orders/${answer.body.orderHash}`)).status),
  );
  return sent.filter((_, i) => found[i] === 404);
}

/** Each wallet has four orders, which hold all that it has: none is missing and none was booked twice. */
async function expectOnce(sent: readonly Sent[]): Promise<void> {
  const traders = new Set<Trader>(sent.map(({ trader }) => trader));
  for (const trader of traders) {
    expect((await trader.get('/me/balances')).body.collateral).toMatchObject({
      available: '0',
      reserved: String(GRANT),
    });
    expect((await trader.get('/me/orders?status=open')).body.data).toHaveLength(4);
  }
}

/** Replaces the master of the shard under load, and looks at every order afterwards. */
async function replaced(replace: () => Promise<void>): Promise<{ readonly lost: readonly Sent[] }> {
  const before = await epoch();
  const load = startLoad();
  await until('orders are sent', () => load.sent.length > ORDERS / 2);
  await replace();
  await exchange.untilDown();
  await until('the epoch is another one', async () => ![before, undefined].includes(await epoch()));
  await load.stop();
  const accepted = load.sent.filter(({ answer }) => answer.status === 200);
  const lost = await missing(accepted);
  const unsure = load.sent.filter(({ answer }) => answer.status === 503);
  tell(
    `${load.sent.length} orders while a replica takes over: ${accepted.length} accepted, ${unsure.length} of 503, ` +
      `${lost.length} accepted and lost`,
  );
  expect(load.sent.filter(({ answer }) => ![200, 503].includes(answer.status))).toEqual([]);
  for (const one of unsure) expect((await settled(exchange.client, one)).status).toBe(200);
  // Clients do so after a new epoch.
  for (const { market, order } of accepted)
    expect((await post(exchange.client, market, order)).status).toBe(200);
  await expectOnce(load.sent);
  await eventually(exchange.differences, (found) => expect(found).toEqual([]));
  return { lost };
}

test(
  'by hand: no accepted order is lost',
  async () => {
    const replica = at(cluster.replicas);
    const { lost } = await replaced(async () => {
      // Redis gives it up after 5 s when the master is slow, and then goes on as before.
      await until('the replica is the master', async () => {
        if (await isMaster(replica)) return true;
        await replica.ask('CLUSTER FAILOVER').catch(() => '');
        return false;
      });
    });
    expect(lost).toEqual([]);
    await inStep(at(cluster.masters));
  },
  LIMIT_MS,
);

test(
  'after a kill: the epoch changes, and orders sent again are there once',
  async () => {
    const pair = [at(cluster.masters), at(cluster.replicas)] as const;
    const [master, replica] = (await isMaster(pair[0])) ? pair : [pair[1], pair[0]];
    await replaced(async () => {
      await master.kill();
      await until('the replica takes over', () => isMaster(replica));
    });
    await master.revive();
    await inStep(master);
  },
  LIMIT_MS,
);
