import { startWorker } from '../../src/app/worker';
import { loadConfig } from '../../src/config/load';
import { micro } from '../../src/exchange/units';
import { createLogger } from '../../src/log';
import { connect, disconnect, ready } from '../../src/store/redis/connection';
import { createKeys } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { createEngine } from '../../src/store/verbs/engine';
import { type Answer, type Client, patiently } from '../support/client';
import { sizeOf } from '../support/sample';
import { ADMIN_TOKEN } from '../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Limit,
  type Market,
  openMarket,
  type Trader,
} from '../support/trader';
import { READY_MS, sleep, until } from '../support/waiting';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** Rounds of each story over two replicas, and the submissions of each round, with one cancel-all among them. */
const ROUNDS = sizeOf('FAULT_ROUNDS', 3, 25);
const AT_ONCE = 8;
/** The number of places by which the cancel-all moves from round to round. */
const STEP = 3;
const BID: Limit = { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 };
const STORY_MS = 300_000;

let exchange: WebReplicas;
let domain: Domain;
beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  domain = await domainOf(exchange.client);
});
afterAll(() => exchange.stop());

const replica = (i: number): Client => (exchange.replicas[i % 2] ?? exchange.replicas[0]).client;

/** Sends submissions over both replicas at once, and one request of the same wallet among them. */
async function round(trader: Trader, market: Market, at: number, cancel: () => Promise<Answer>) {
  const path = `/markets/${market.id}/orders`;
  const orders = await Promise.all(Array.from({ length: AT_ONCE }, () => trader.order(market, BID)));
  const submit = (order: unknown, i: number) => replica(i).post(path, { body: { order } });
  const place = (at * STEP) % AT_ONCE;
  const before = orders.slice(0, place).map(submit);
  const cancelling = cancel();
  const behind = orders.slice(place).map(submit);
  const [answer, ...placed] = await Promise.all([cancelling, ...before, ...behind]);
  return { answer, placed: placed.map(({ body }) => body) };
}

/** Returns the orders below the number that stayed open; `placed` contains all orders. */
async function survivors(placed: readonly { orderHash: string; sequence: number }[], sequence: number) {
  const now = await Promise.all(placed.map(({ orderHash }) => replica(1).get(`/orders/${orderHash}`)));
  return now.filter(({ body }) => body.sequence < sequence && body.status === 'OPEN').map(({ body }) => body);
}

test(
  `in ${ROUNDS} rounds of ${AT_ONCE} submissions on two replicas, no order below the number that a cancel-all of a market answered stays open`,
  async () => {
    const trader = createTrader(exchange.client, domain);
    const token = await trader.token();
    const [market, empty] = [
      await openMarket(exchange.client, ADMIN_TOKEN),
      await openMarket(exchange.client, ADMIN_TOKEN),
    ];
    let cancelled = 0;
    for (let at = 0; at < ROUNDS; at++) {
      const path = `/markets/${market.id}/orders/cancel-all`;
      const { answer, placed } = await round(trader, market, at, () => replica(at).post(path, { token }));
      expect(placed.map(({ status }) => status)).toEqual(placed.map(() => 'OPEN'));
      expect(await survivors(placed, answer.body.sequence)).toEqual([]);
      cancelled += answer.body.count;
      // In every second round, the next one begins without open orders.
      if (at % 2 === 0) await trader.post(path);
    }
    expect(cancelled).toBeGreaterThan(0);
    // Where nothing was ever open the number is the market's.
    const { body } = await trader.post(`/markets/${empty.id}/orders/cancel-all`);
    expect(body).toMatchObject({ cancelled: [], count: 0, sequence: 1 });
  },
  STORY_MS,
);

test(
  `in ${ROUNDS} more rounds, no order below the number of its market that a cancel-all of all markets answered stays open`,
  async () => {
    const trader = createTrader(exchange.client, domain);
    const token = await trader.token();
    const markets = [
      await openMarket(exchange.client, ADMIN_TOKEN),
      await openMarket(exchange.client, ADMIN_TOKEN),
    ] as const;
    let answered = 0;
    for (let at = 0; at < ROUNDS; at++) {
      const market = markets[at % 2] ?? markets[0];
      await trader.submit(market, BID);
      const cancel = () => replica(at).post('/me/orders/cancel-all', { token });
      const { answer, placed } = await round(trader, market, at, cancel);
      const sequence = answer.body.sequences[market.id];
      expect(sequence).toEqual(expect.any(Number));
      expect(await survivors(placed, sequence)).toEqual([]);
      answered += answer.body.count;
    }
    expect(answered).toBeGreaterThanOrEqual(ROUNDS);
  },
  STORY_MS,
);

test(
  'HALTED freezes orders that a raised nonce has not ended yet, and the worker ends them when the mode has ended',
  async () => {
    const trader = createTrader(exchange.client, domain);
    const market = await openMarket(exchange.client, ADMIN_TOKEN);
    const { orderHash } = (await trader.submit(market, BID)).body;
    const redis = connect({ urls: [exchange.redis.url] });
    await ready(redis, READY_MS);
    const engine = createEngine({ run: createScripts(redis), grantMicro: micro(0), makersMax: 500 });
    // The process that raised it died before it had ended the order.
    await engine.raiseNonce(trader.address, 'died');
    await engine.setMode('HALTED');
    const book = async () =>
      (await patiently(() => exchange.client.get(`/markets/${market.id}/orderbook`))).body;
    const before = await book();
    const config = loadConfig({
      NODE_ENV: 'test',
      REDIS_URL: exchange.redis.url,
      PUBLIC_BASE_URL: 'https://exchange.test',
      LOG_LEVEL: 'debug',
    });
    const logged: string[] = [];
    const worker = await startWorker(
      config,
      createLogger(config, 'worker', { write: (line: string) => logged.push(line) }),
    );
    try {
      // Two of its turns.
      await sleep(2_500);
      expect(await book()).toEqual({ ...before, timestamp: expect.anything() });
      expect(await redis.hlen(createKeys().raisedNonces)).toBe(1);
      await engine.setMode('NORMAL');
      const statusOf = async () => (await exchange.client.get(`/orders/${orderHash}`)).body.status;
      await until('invalidated', async () => (await statusOf()) === 'INVALIDATED');
    } finally {
      await worker.stop(2_000);
      disconnect(redis);
    }
    expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  },
  STORY_MS,
);
