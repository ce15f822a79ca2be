import { type Client, patiently } from '../../support/client';
import { startProxy } from '../../support/proxy';
import { createRandom, type Random } from '../../support/random';
import { sampleOf } from '../../support/sample';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Limit,
  type Market,
  openMarket,
  type Trader,
  type WireOrder,
} from '../../support/trader';
import { until } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let domain: Domain;

const BATCH = 20;
const FEW = 5;
const TRADERS = 4;
const PLAN = 120;
/** A busy machine refuses an order now and then for being late, and then both lists are sent to new markets. */
const TRIES_MAX = 20;
const BID: Limit = { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 };

beforeAll(async () => {
  exchange = await startWebReplicas();
  domain = await domainOf(exchange.client);
});
afterAll(() => exchange.stop());

type Body = Record<string, unknown>;
interface Result {
  readonly status: number;
  readonly code?: string;
  readonly order?: Body;
}

/** A busy machine refuses a whole batch now and then. */
const batch = async (
  market: Market,
  orders: readonly unknown[],
  client: Client = exchange.client,
): Promise<Result[]> =>
  (await patiently(() => client.post(pathOf(market), { body: { orders } }))).body.results;

const pathOf = (market: Market): string => `/markets/${market.id}/orders/batch`;

const codes = (results: readonly Result[]): unknown[] =>
  results.map(({ code, order }) => code ?? order?.status);

interface World {
  readonly market: Market;
  readonly traders: readonly Trader[];
  readonly sent: WireOrder[];
}

async function newWorld(): Promise<World> {
  const traders = Array.from({ length: TRADERS }, () => createTrader(exchange.client, domain));
  return { market: await openMarket(exchange.client, ADMIN_TOKEN), traders, sent: [] };
}

/** One body of the list, which differs from world to world only in wallets, salts and the market. */
type Make = (world: World) => Promise<unknown>;

/** Signed members that are refused at different checks. */
const SPOILT = [{ nonce: '7' }, { expiration: '1' }, { feeRateBps: '1' }, { taker: `0x${'22'.repeat(20)}` }];

/** An order by one of the wallets at a price around the middle, so that orders meet, and sell what others bought. */
function randomOrder(random: Random): Make {
  const trader = random.below(TRADERS);
  const limit: Limit = {
    side: random.chance(0.4) ? 'SELL' : 'BUY',
    outcome: random.chance(0.5) ? 0 : 1,
    pips: 100 * random.int(45, 55),
    lots: 100 * random.int(1, 30),
  };
  const spoilt = random.chance(0.15) ? random.pick(SPOILT) : {};
  const orderType = random.weighted({ GTC: 6, IOC: 1, FOK: 1, POST_ONLY: 1, MARKET: 1 });
  const selfTradePrevention = random.pick(['NONE', 'CANCEL_TAKER', 'CANCEL_MAKER', 'CANCEL_BOTH']);
  const late = random.chance(0.03) ? { deadline: 1 } : {};
  return async ({ market, traders, sent }) => {
    const order = await (traders[trader] as Trader).order(market, limit, spoilt);
    sent.push(order);
    return { order, orderType, selfTradePrevention, ...late };
  };
}

/** An earlier order again: unchanged, of another type, or with a signature that no key made. */
function repetition(random: Random): Make {
  const back = random.int(1, BATCH);
  const more = random.pick([{}, { orderType: 'IOC' }]);
  const change = random.pick([{}, {}, { signature: `0x${'11'.repeat(65)}` }]);
  return async ({ sent }) => ({ order: { ...sent.at(-back), ...change }, ...more });
}

const randomList = (random: Random): Make[] =>
  Array.from({ length: PLAN }, (_, i) => {
    if (i > 0 && random.chance(0.15)) return repetition(random);
    return random.chance(0.03) ? async () => ({ nothing: true }) : randomOrder(random);
  });

/** Names of one world. */
const OWN = new Set([
  'orderHash',
  'makerOrderHash',
  'tradeId',
  'createdAt',
  'matchedAt',
  'requestId',
  'recovered',
  'expectedHash',
]);

/** The part of a result that is the same in both worlds. */
function told(result: Result): unknown {
  const text = JSON.stringify(result, (name, value) => (OWN.has(name) ? undefined : value));
  return JSON.parse(text.replaceAll(/0x[0-9a-fA-F]+|expired at \d+|clock is \d+/g, '*'));
}

/** A run of `npm test` plays one of them. */
const seeds = sampleOf('lists of orders', [1, 2, 3], 1);

test.each(seeds)(
  'a random list of orders gets the same answers in batches as one by one (seed %i)',
  async (seed) => {
    for (let tries = 1; ; tries++) {
      const list = randomList(createRandom(seed));
      const [alone, together] = [await newWorld(), await newWorld()];
      const one: Result[] = [];
      const all: Result[] = [];
      for (let from = 0; from < PLAN; from += BATCH) {
        const part = list.slice(from, from + BATCH);
        const bodies: unknown[] = [];
        for (const make of part) bodies.push(await make(together));
        for (const make of part) {
          const body = await make(alone);
          const answer = await exchange.client.post(`/markets/${alone.market.id}/orders`, { body });
          one.push(answer.status === 200 ? { status: 200, order: answer.body } : answer.body);
        }
        all.push(...(await batch(together.market, bodies)));
      }
      const isLate = [...one, ...all].some(({ code }) => code === 'UNAVAILABLE');
      if (isLate && tries < TRIES_MAX) continue;
      // The answer to a repeated order is its present record, which later orders of the batch may have changed.
      const seen = new Set<unknown>();
      const repeated = all.map(
        ({ order }) => order !== undefined && seen.size === seen.add(order.orderHash).size,
      );
      const compared = (results: readonly Result[]): unknown[] =>
        results.map((result, i) => (repeated[i] ? [result.order?.price, result.order?.size] : told(result)));
      expect(compared(all)).toEqual(compared(one));
      const kinds = new Set(codes(all));
      for (const code of ['OPEN', 'FILLED', 'INSUFFICIENT_BALANCE', 'INVALID_REQUEST', 'DUPLICATE_ORDER'])
        expect(kinds).toContain(code);
      expect(repeated).toContain(true);
      return;
    }
  },
);

test('an order of a batch sells what one before it bought, and not what one behind it buys', async () => {
  const { market, traders } = await newWorld();
  const [alice, bob] = traders as [Trader, Trader];
  const sells = { order: await alice.order(market, { ...BID, side: 'SELL', pips: 7_000 }) };
  const buys = { order: await alice.order(market, BID) };
  const other = { order: await bob.order(market, { ...BID, outcome: 1, pips: 6_000 }) };
  const results = await batch(market, [sells, buys, other, sells, other]);
  expect(codes(results)).toEqual(['INSUFFICIENT_BALANCE', 'OPEN', 'FILLED', 'OPEN', 'FILLED']);
  expect(results[4]?.order).toEqual(results[2]?.order);
});

test('orders that Redis refuses do not stop those behind them, nor does a script that Redis forgot', async () => {
  const { market, traders } = await newWorld();
  const [alice] = traders as [Trader];
  const bodies: unknown[] = [];
  for (let i = 0; i < BATCH; i++) {
    const limit: Limit = i % 2 === 0 ? { ...BID, pips: 100 * (i + 1) } : { ...BID, side: 'SELL' };
    bodies.push({ order: await alice.order(market, limit) });
  }
  let results: Result[] = [];
  await until('the replica is not late', async () => {
    await exchange.store.redis.script('FLUSH');
    results = await batch(market, bodies);
    return results.every(({ code }) => code !== 'UNAVAILABLE');
  });
  expect(codes(results)).toEqual(bodies.map((_, i) => (i % 2 === 0 ? 'OPEN' : 'INSUFFICIENT_BALANCE')));
  const sequences = results.flatMap(({ order }) => (order ? [order.sequence as number] : []));
  expect(sequences).toEqual(sequences.map((_, i) => (sequences[0] ?? 0) + i));
});

test('wallets that the replica must ask for keep their places, and each order counts against the limit of its wallet', async () => {
  const limited = await exchange.replica({ RATE_LIMIT: 'on' });
  try {
    const { market, traders } = await newWorld();
    const [known, rare] = traders as [Trader, Trader];
    const first = await batch(market, [{ order: await known.order(market, BID) }], limited.client);
    expect(codes(first)).toEqual(['OPEN']);
    const bodies: unknown[] = [];
    for (let i = 0; i < BATCH; i++) {
      const trader = i % 3 === 0 ? known : i % 3 === 1 ? rare : createTrader(exchange.client, domain);
      bodies.push({ order: await trader.order(market, { ...BID, pips: 100 * (i + 1) }) });
    }
    // Of 100 at once the wallet has 4 left, and it has 7 in the batch.
    for (const [bucket, points] of Object.entries({ orders: 50, 'orders+': 46 }))
      await exchange.store.redis.set(`rl:${bucket}:${rare.address}`, points, 'EX', 60);
    const results = await batch(market, bodies, limited.client);
    const isOver = (i: number): boolean => i % 3 === 1 && i >= 3 * 4;
    expect(codes(results)).toEqual(bodies.map((_, i) => (isOver(i) ? 'RATE_LIMITED' : 'OPEN')));
    const sequences = results.flatMap(({ order }) => (order ? [order.sequence as number] : []));
    expect(sequences).toEqual(sequences.map((_, i) => (sequences[0] ?? 0) + i));
  } finally {
    await limited.stop();
  }
});

test('a batch whose connection is lost in the middle says so of the orders without a reply, and booked each once', async () => {
  const { market, traders } = await newWorld();
  const [alice] = traders as [Trader];
  const link = await startProxy(exchange.redis.port);
  const linked = await exchange.replica({ REDIS_URL: `redis://127.0.0.1:${link.port}` });
  try {
    const path = `/markets/${market.id}`;
    const booked = async (): Promise<number> =>
      Number((await patiently(() => exchange.client.get(path))).body.sequence);
    let bodies: { order: WireOrder }[] = [];
    let lost: Result[] = [];
    let before = 0;
    await until('a batch is not interrupted by a busy machine', async () => {
      link.heal();
      bodies = await Promise.all(
        Array.from({ length: FEW }, async () => ({ order: await alice.order(market, BID) })),
      );
      // The replica knows the market, and Redis the script.
      const dry = `${path}/orders?dryRun=true`;
      await until(
        'it is well',
        async () => (await linked.client.post(dry, { body: bodies[0] })).status === 200,
      );
      before = await booked();
      link.holdReplies();
      let isAnswered = false;
      const answer = linked.client.post(pathOf(market), { body: { orders: bodies } }).finally(() => {
        isAnswered = true;
      });
      // No reply has come, so all orders left together.
      await until('all are booked', async () => isAnswered || (await booked()) === before + FEW);
      link.cut();
      const { body } = await answer;
      // The answer of a batch whose time was over is one refusal.
      lost = body.results ?? [body];
      return (await booked()) === before + FEW && lost.length === FEW;
    });
    expect(lost.map(({ code }) => code)).toEqual(bodies.map(() => 'UNAVAILABLE'));

    link.heal();
    await until('the replica is back', async () => (await linked.client.get('/readyz')).status === 200);
    expect(codes(await batch(market, bodies, linked.client))).toEqual(bodies.map(() => 'OPEN'));
    expect(await booked()).toBe(before + FEW);
  } finally {
    await linked.stop();
    await link.stop();
  }
});
