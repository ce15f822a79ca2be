import { type DurableCluster, type DurableNode, startDurableCluster } from '../../../support/durable-cluster';
import { createRandom } from '../../../support/random';
import { chooseSeed, tell } from '../../../support/telling';
import type { Trader } from '../../../support/trader';
import { eventually, sleep, until } from '../../../support/waiting';
import {
  type ClusterExchange,
  GRANT,
  holdOf,
  MASTER_OF,
  type Sent,
  SHARDS,
  send,
  settled,
  startClusterExchange,
} from './cluster-exchange';

/**
 * A master of a real cluster is killed or silent, and no replica takes its place. The other shards go on, and a wallet whose collateral
 * may be in the silent shard gets 503, never INSUFFICIENT_BALANCE. `CLUSTER_ORDERS=1000` sends as many orders meanwhile.
 */
const ORDERS = Number(process.env.CLUSTER_ORDERS ?? 200);
const LIMIT_MS = 300_000;
/** So many more until one is refused: about one in ten asks for more than its wallet has. */
const MORE_MAX = 1_000;
const LANES = 4;
/** An order that needs no answer of the shard that is away does not wait for one: each command to Redis ends after 2 s. */
const ANSWER_MS = 30_000;
const EXPIRY_SEC = 10;
const seed = chooseSeed('a master of a cluster is away');

let cluster: DurableCluster;
let exchange: ClusterExchange;
beforeAll(async () => {
  cluster = await startDurableCluster({ masters: SHARDS });
  exchange = await startClusterExchange(cluster.url);
}, LIMIT_MS);
afterAll(async () => {
  await exchange?.stop();
  await cluster?.stop();
});

const masterOf = (shard: number): DurableNode => cluster.masters[MASTER_OF[shard] ?? 0] as DurableNode;
const market = (shard: number) => exchange.markets[shard] as ClusterExchange['markets'][0];
/** After the fault: a busy machine may need another try. */
const endOf = async (trader: Trader, shard: number, units: number): Promise<number> =>
  (await settled(exchange.client, await send(exchange.client, trader, market(shard), holdOf(units)))).status;
const statusOf = async (trader: Trader, shard: number, units: number): Promise<number> =>
  (await send(exchange.client, trader, market(shard), holdOf(units))).answer.status;

/** A match in each shard is settled, also by the queues that were away. */
async function settlesEverywhere(): Promise<void> {
  for (let shard = 0; shard < SHARDS; shard++) {
    const hashes: string[] = [];
    for (const outcome of [0, 1] as const) {
      const sent = await send(exchange.client, exchange.trader(shard), market(shard), {
        ...holdOf(1),
        outcome,
      });
      hashes.push((await settled(exchange.client, sent)).body.orderHash);
    }
    await until(`a match of shard ${shard} is settled`, async () => {
      const { body } = await exchange.client.get(`/orders/${hashes[1]}`);
      const fills: { settlementStatus: string }[] = body.fills ?? [];
      return fills.length > 0 && fills.every(({ settlementStatus }) => settlementStatus === 'CONFIRMED');
    });
  }
}

/** A wallet of another home whose whole grant is free in this shard. */
async function withAllIn(shard: number): Promise<Trader> {
  const trader = exchange.trader((shard + 1) % SHARDS);
  const { answer } = await send(exchange.client, trader, market(shard), holdOf(GRANT));
  expect(answer.status).toBe(200);
  const hash: string = answer.body.orderHash;
  expect((await trader.post(`/markets/${market(shard).id}/orders/cancel`, { orderHash: hash })).status).toBe(
    200,
  );
  return trader;
}

/** The model: a wallet's free collateral in an exchange of one shard. */
interface Purse {
  readonly trader: Trader;
  freeUnits: number;
}

/**
 * Random orders of wallets that have all they own in shards that answer: their answers are those of one shard. Some come before the fault,
 * `away` of them after it was noticed, and more until one was refused.
 */
async function loaded(away: number, isAway: () => boolean): Promise<void> {
  const random = createRandom(seed + away);
  const up = [0, 1, 2, 3].filter((shard) => shard !== away);
  const wrong: string[] = [];
  let [left, sent, slowestMs, late, refused] = [ORDERS, 0, 0, 0, 0];
  const lane = async (purse: Purse): Promise<void> => {
    while (left > 0 || (refused === 0 && left > -MORE_MAX)) {
      if (isAway()) left--;
      const [shard, units] = [random.pick(up), random.int(1, 30)];
      const startedAt = performance.now();
      const one = await send(exchange.client, purse.trader, market(shard), holdOf(units));
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      sent++;
      if (one.answer.status === 503) late++;
      // A busy machine may be late; the shards of this order are there.
      const answer = await settled(exchange.client, one);
      const expected = units <= purse.freeUnits ? 200 : 422;
      if (answer.status === 200) purse.freeUnits -= units;
      if (answer.status !== expected) wrong.push(`${expected} expected, ${answer.status}: ${answer.text}`);
      if (answer.status === 422) refused++;
      if (purse.freeUnits < GRANT / 10)
        Object.assign(purse, { trader: exchange.trader(random.pick(up)), freeUnits: GRANT });
    }
  };
  await Promise.all(
    Array.from({ length: LANES }, (_, i) =>
      lane({ trader: exchange.trader(up[i % up.length] as number), freeUnits: GRANT }),
    ),
  );
  tell(
    `${sent} orders before and while shard ${away} is away: ${refused} refused, ${late} of 503, the slowest took ${Math.round(slowestMs)} ms`,
  );
  expect(wrong).toEqual([]);
  expect(refused).toBeGreaterThan(0);
  expect(slowestMs).toBeLessThan(ANSWER_MS);
}

async function away(shard: number, leave: () => Promise<void>, back: () => Promise<void>): Promise<void> {
  const up = [0, 1, 2, 3].filter((other) => other !== shard);
  const [near, far] = [up[0] as number, up[1] as number];
  const [inside, atHome] = [await withAllIn(shard), exchange.trader(shard)];
  const expiring = exchange.trader(far);
  const soon = { more: { expiration: String(Math.floor(Date.now() / 1_000) + EXPIRY_SEC) } };
  const open = await expiring.submit(market(far), holdOf(1), soon);
  expect(open.status).toBe(200);
  let isAway = false;
  const load = loaded(shard, () => isAway);
  // Told by `await load` below.
  load.catch(() => undefined);
  await leave();
  let unsure: Sent;
  try {
    await exchange.untilDown(shard);
    isAway = true;
    await until('the worker says so, too', async () => {
      const { status, body } = await exchange.askWorker('/readyz');
      return status === 200 && body.shards[shard] === 'down' && body.shards[near] === 'up';
    });
    await load;
    const late = exchange.start('worker');
    expect(await late.exited).toBe(1);
    expect(late.stdout()).toContain('a process starts only while every shard answers');
    // All that this wallet has is in the shard that is away; and there is the home of the other.
    expect(await statusOf(inside, near, GRANT / 2)).toBe(503);
    expect(await statusOf(atHome, near, 1)).toBe(503);
    unsure = await send(exchange.client, atHome, market(shard), holdOf(1));
    expect(unsure.answer.status).toBe(503);
    // A chore: also where the queues of the chores are away.
    await until('the order expires', async () => {
      const { body } = await exchange.client.get(`/orders/${open.body.orderHash}`);
      return body.status === 'EXPIRED';
    });
  } finally {
    await back();
  }
  await exchange.untilDown();
  await settlesEverywhere();
  expect((await settled(exchange.client, unsure)).status).toBe(200);
  expect(await endOf(inside, near, GRANT)).toBe(200);
  await eventually(exchange.differences, (found) => expect(found).toEqual([]));
}

test(
  'a master is killed: orders in the other shards go on',
  () =>
    away(
      2,
      () => masterOf(2).kill(),
      () => masterOf(2).revive(),
    ),
  LIMIT_MS,
);

test(
  'a master is silent, and with it the queues of the chores: orders and chores in the other shards go on',
  async () => {
    const signal = async (name: NodeJS.Signals): Promise<void> => void process.kill(masterOf(3).pid, name);
    await away(
      3,
      () => signal('SIGSTOP'),
      () => signal('SIGCONT'),
    );
  },
  LIMIT_MS,
);

test(
  'without the first shard nothing is ready, and with it everything is again',
  async () => {
    await masterOf(0).kill();
    try {
      await until('it is not ready', async () => (await exchange.client.get('/readyz')).status === 503);
      await until('nor is the worker', async () => (await exchange.askWorker('/readyz')).status === 503);
    } finally {
      await masterOf(0).revive();
    }
    await exchange.untilDown();
    expect(await endOf(exchange.trader(0), 1, 10)).toBe(200);
    await eventually(exchange.differences, (found) => expect(found).toEqual([]));
  },
  LIMIT_MS,
);

/** The time after which other masters call a silent one dead, and some more. */
const SILENT_MS = 9_000;
const CYCLES = 4;

test(
  'masters come and go: the queues of settlements go on, because a worker that takes no jobs is opened again',
  async () => {
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const [one, other] = [masterOf(1 + (cycle % 3)), masterOf(1 + ((cycle + 1) % 3))];
      process.kill(one.pid, 'SIGSTOP');
      await sleep(SILENT_MS);
      process.kill(one.pid, 'SIGCONT');
      for (const node of [other, one]) {
        await node.kill();
        await node.revive();
      }
      await exchange.untilDown();
      await settlesEverywhere();
    }
    await eventually(exchange.differences, (found) => expect(found).toEqual([]));
  },
  LIMIT_MS,
);
