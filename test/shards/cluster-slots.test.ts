import { randomBytes } from 'node:crypto';
import { isRedisAway } from '../../src/http/failures';
import { openShardWorld, type ShardWorld } from '../store/shards/world';
import { createRandom } from '../support/random';
import { startTestCluster, type TestCluster } from '../support/redis';
import { startShuttle, withoutDoor } from '../support/slots';
import { chooseSeed, tell } from '../support/telling';
import type { Market } from '../support/trader';
import { eventually } from '../support/waiting';
import {
  type ClusterExchange,
  holdOf,
  KEYS,
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
const ORDERS = Number(process.env.CLUSTER_ORDERS ?? 60);
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

const [ROUNDS_MAX, PLACES] = [30, 200];
/** Other keys of the slot: the longer it moves, the more scripts run meanwhile. */
const FILLERS = 3_000;

function freshWallet({ homeOf }: ShardWorld): string {
  for (;;) {
    const wallet = `0x${randomBytes(20).toString('hex')}`;
    if (homeOf(wallet) === MOVING) return wallet;
  }
}

/**
 * Wallets with an order and without tokens trade in the moving shard: all declared keys are there, and the tokens get keys that no script
 * declares. Returns unexpected errors.
 */
async function tradeWhileMoving(w: ShardWorld): Promise<string[]> {
  const wallets = Array.from({ length: PLACES }, () => freshWallet(w));
  for (const wallet of wallets) await w.exchange.place(w.order(MOVING, wallet, 0, 0, 100, 100));
  const shuttle = await startShuttle(cluster, PREFIX, REST_MS);
  const errors: string[] = [];
  const lane = async (): Promise<void> => {
    for (let wallet = wallets.pop(); wallet; wallet = wallets.pop()) {
      const order = w.order(MOVING, wallet, 0, wallets.length % 2 === 0 ? 0 : 1, 5_000, 200);
      await w.exchange.place(order).catch((error) => {
        if (!isRedisAway(error)) errors.push(String(error));
      });
    }
  };
  await Promise.all(Array.from({ length: LANES * LANES }, lane));
  await shuttle.stop();
  return errors;
}

test(
  'without the door a script is torn, and the audit of its shard reports it',
  async () => {
    const w = await openShardWorld({ urls: cluster.url.split(','), count: SHARDS, under: withoutDoor });
    try {
      await w.redis.mset(
        Object.fromEntries(Array.from({ length: FILLERS }, (_, i) => [`${PREFIX}test:${i}`, ''])),
      );
      let found: string[] = [];
      const errors: string[] = [];
      for (let round = 0; round < ROUNDS_MAX && found.length === 0; round++) {
        errors.push(...(await tradeWhileMoving(w)));
        found = await w.differences();
      }
      expect(found.join()).toContain(`shard ${MOVING}`);
      expect(errors.join()).toContain('non local key');
    } finally {
      w.stop();
    }
  },
  LIMIT_MS,
);
