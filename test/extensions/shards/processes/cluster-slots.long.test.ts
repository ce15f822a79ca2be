import { randomBytes } from 'node:crypto';
import { slotOf } from '../../../../src/store/redis/holder';
import type { Keys } from '../../../../src/store/redis/keys';
import type { RedisClient } from '../../../../src/store/redis/scripts';
import { createRandom } from '../../../support/random';
import { openLink, type RedisLink, startTestCluster, type TestCluster } from '../../../support/redis';
import { startShuttle, withoutDoor } from '../../../support/slots';
import { chooseSeed, tell } from '../../../support/telling';
import type { Market } from '../../../support/trader';
import { eventually } from '../../../support/waiting';
import { openShardWorld, type ShardWorld } from '../store/world';
import {
  type ClusterExchange,
  holdOf,
  KEYS,
  MASTER_OF,
  type Sent,
  SHARDS,
  send,
  settled,
  startClusterExchange,
} from './cluster-exchange';

/**
 * The slot of one of four shards moves to and fro between two masters while orders trade in all shards. `CLUSTER_ORDERS=1000` sends as
 * many orders.
 */
const ORDERS = Number(process.env.CLUSTER_ORDERS ?? 200);
const LIMIT_MS = 300_000;
const MOVING = 1;
const PREFIX = KEYS[MOVING]?.prefix ?? '';
const [LANES, REST_MS, MOVES_MIN] = [4, 100, 4];
const seed = chooseSeed('the slot of a shard moves');

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await startTestCluster(SHARDS);
}, LIMIT_MS);
afterEach(() => cluster?.stop());

/** Two wallets buy one outcome each: the second order mints sets for both. */
async function match(exchange: ClusterExchange, shard: number, homes: readonly number[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (const [outcome, home] of homes.entries()) {
    const limit = { ...holdOf(10), outcome: outcome as 0 | 1 };
    const market = exchange.markets[shard] as Market;
    const one = await send(exchange.client, exchange.trader(home), market, limit);
    expect((await settled(exchange.client, one)).status).toBe(200);
    sent.push(one);
  }
  return sent;
}

/** The failures of orders in other shards that came from the moving slot. */
const disturbed = ({ web, markets }: ClusterExchange): string[] =>
  web
    .stdout()
    .split('\n')
    .filter((line) => /TRYAGAIN|MOVED|ASK /.test(line))
    .filter((line) => markets.some(({ id }, shard) => shard !== MOVING && line.includes(`/markets/${id}/`)));

test(
  'orders in all shards run once while the slot of one of them moves, and the other shards notice nothing',
  async () => {
    const exchange = await startClusterExchange(cluster.url);
    try {
      const random = createRandom(seed);
      const shuttle = await startShuttle(cluster, PREFIX, REST_MS);
      const sent: Sent[] = [];
      const lane = async (): Promise<void> => {
        while (sent.length < ORDERS || shuttle.moves() < MOVES_MIN) {
          const shard = random.int(0, SHARDS - 1);
          // In the moving shard, wallets of all shards bring collateral.
          const homes = [0, 1].map(() => (shard === MOVING ? random.int(0, SHARDS - 1) : shard));
          sent.push(...(await match(exchange, shard, homes)));
        }
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      await shuttle.stop();
      tell(`${sent.length} orders during ${shuttle.moves()} moves of the slot of shard ${MOVING}`);
      expect(disturbed(exchange)).toEqual([]);
      for (const { answer } of sent)
        expect((await exchange.client.get(`/orders/${answer.body.orderHash}`)).status).toBe(200);
      // Also the settlements, which the worker makes.
      await eventually(exchange.differences, (found) => expect(found).toEqual([]));
    } finally {
      await exchange.stop();
    }
  },
  LIMIT_MS,
);

/** A new wallet whose home is the moving shard. */
function freshWallet({ homeOf }: ShardWorld): string {
  for (;;) {
    const wallet = `0x${randomBytes(20).toString('hex')}`;
    if (homeOf(wallet) === MOVING) return wallet;
  }
}

/** The slot is open, as at the beginning of a move, and no key has moved yet. */
async function whileOpen<T>(act: () => Promise<T>): Promise<T> {
  const nodes = [cluster.nodes[MASTER_OF[MOVING]], cluster.nodes[MASTER_OF[0]]] as TestCluster['nodes'];
  const links = await Promise.all(nodes.map(({ port }) => openLink(port)));
  const [source, target] = links as [RedisLink, RedisLink];
  const [from, to] = [await source.ask('CLUSTER MYID'), await target.ask('CLUSTER MYID')];
  const slot = slotOf(KEYS[MOVING] as Keys);
  try {
    await target.ask(`CLUSTER SETSLOT ${slot} IMPORTING ${from}`);
    await source.ask(`CLUSTER SETSLOT ${slot} MIGRATING ${to}`);
    return await act();
  } finally {
    for (const link of links) {
      await link.ask(`CLUSTER SETSLOT ${slot} STABLE`);
      link.close();
    }
  }
}

/** A wallet without tokens gets some: these get a key that no script declares. Returns the answer, and the differences afterwards. */
async function matchWhileOpen(under: (redis: RedisClient) => RedisClient) {
  const w = await openShardWorld({ urls: cluster.url.split(','), count: SHARDS, under });
  try {
    const [maker, taker, other] = [freshWallet(w), freshWallet(w), freshWallet(w)];
    const bid = (who: string, outcome: 0 | 1, pricePips: number) =>
      w.exchange.place(w.order(MOVING, who, 0, outcome, pricePips, 200));
    // All declared keys are there: both sides of the book, matches, and orders of the taker.
    await bid(other, 0, 5_000);
    await bid(maker, 1, 5_000);
    await bid(other, 1, 100);
    await bid(taker, 0, 100);
    await bid(maker, 0, 5_000);
    const answer = await whileOpen(() => bid(taker, 1, 5_000).catch(String));
    return { answer, differences: await w.differences() };
  } finally {
    w.stop();
  }
}

test(
  'while the slot is open a script does not begin, and without the door it ends at a key that is away',
  async () => {
    const whole = await matchWhileOpen((redis) => redis);
    expect(whole).toEqual({ answer: expect.stringContaining('TRYAGAIN'), differences: [] });
    const torn = await matchWhileOpen(withoutDoor);
    expect(torn.answer).toContain('non local key');
  },
  LIMIT_MS,
);
