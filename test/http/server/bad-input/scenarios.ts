import { Wallet } from 'ethers';
import type { Answer } from '../../../support/client';
import { sizeOf } from '../../../support/sample';
import { ADMIN_TOKEN } from '../../../support/settings';
import { createTrader, type Limit, openMarket, type Trader } from '../../../support/trader';
import { sleep } from '../../../support/waiting';
import { type Case, RESTING, startTwoTraders, type TwoTraders } from './two-traders';

type Scenario = (traders: TwoTraders) => Promise<Answer>;

/** More than a burst; the long form also uses up several seconds of the rate. */
const FLOOD = sizeOf('FLOOD', 150, 500);
const AT_ONCE = 40;
const RACES = 40;

/** Cases that are a short story; each restores the book. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  insufficientCollateral: async ({ alice, market }) =>
    alice.submit(market, { side: 'BUY', outcome: 0, pips: 9_900, lots: 100_000_000_000 }),

  selfTrade: async ({ alice, market }) => {
    await alice.submit(market, { side: 'SELL', outcome: 0, pips: 9_000, lots: 100 });
    const answer = await alice.submit(market, { side: 'BUY', outcome: 0, pips: 9_000, lots: 100 });
    expect(answer.body).toMatchObject({ status: 'FILLED', filledSize: '1' });
    return answer;
  },

  postOnlyCross: async ({ alice, bob, market }) => {
    const { body } = await bob.submit(market, { side: 'SELL', outcome: 0, pips: 6_000, lots: 100 });
    const answer = await alice.submit(
      market,
      { side: 'BUY', outcome: 0, pips: 6_100, lots: 100 },
      { orderType: 'POST_ONLY' },
    );
    expect(answer.body.best).toBe('0.6');
    await cancel(bob, market.id, body.orderHash);
    return answer;
  },

  marketEmptyBook: async ({ exchange, alice }) => {
    const empty = await openMarket(exchange.client, ADMIN_TOKEN);
    const answer = await alice.submit(
      empty,
      { side: 'BUY', outcome: 0, pips: 5_000, lots: 100 },
      { orderType: 'MARKET' },
    );
    expect(answer.body).toMatchObject({ status: 'CANCELLED', reason: 'MARKET_REMAINDER', filledSize: '0' });
    expect((await exchange.client.get(`/markets/${empty.id}/orderbook`)).body).toMatchObject({
      bids: [],
      asks: [],
    });
    return answer;
  },

  otherMarket: async ({ alice, market, otherMarket }) => {
    const { body } = await alice.submit(otherMarket, RESTING);
    const answer = await cancel(alice, market.id, body.orderHash);
    await cancel(alice, otherMarket.id, body.orderHash);
    return answer;
  },

  alreadyCancelled: async ({ alice, market }) => {
    const { body } = await alice.submit(market, RESTING);
    expect((await cancel(alice, market.id, body.orderHash)).body.cancelled).toBe(true);
    const answer = await cancel(alice, market.id, body.orderHash);
    expect(answer.body.cancelled).toBe(false);
    return answer;
  },

  raceWithFill: async (traders) => {
    let last: Answer | undefined;
    for (let i = 0; i < RACES; i++) last = await race(traders);
    return last as Answer;
  },

  noAuth: ({ exchange, market }) => exchange.client.post(`/markets/${market.id}/orders/cancel-all`),

  ordersWallet: async () => {
    const traders = await startTwoTraders({ RATE_LIMIT: 'on' });
    try {
      return await flood(traders);
    } finally {
      await traders.stop();
    }
  },
};

export function playScenario(traders: TwoTraders, { id, mutation }: Case): Promise<Answer> {
  const scenario = SCENARIOS[String(mutation.variant)];
  if (!scenario) throw new Error(`${id}: no scenario ${String(mutation.variant)}`);
  return scenario(traders);
}

const cancel = (trader: Trader, marketId: string, orderHash: string): Promise<Answer> =>
  trader.post(`/markets/${marketId}/orders/cancel`, { orderHash });

/** A cancel and a crossing order at once: filled and cancelled size add up to the order, whichever comes first. */
async function race({ exchange, alice, bob, market }: TwoTraders): Promise<Answer> {
  const limit: Limit = { side: 'SELL', outcome: 0, pips: 5_000, lots: 100 };
  const { body } = await alice.submit(market, limit);
  const [cancelled, crossed] = await Promise.all([
    cancel(alice, market.id, body.orderHash),
    bob.submit(market, { ...limit, side: 'BUY' }, { orderType: 'IOC' }),
  ]);
  const { body: record } = await exchange.client.get(`/orders/${body.orderHash}`);
  expect(record.status).toBe(cancelled.status === 200 ? 'CANCELLED' : 'FILLED');
  expect(crossed.body.filledSize).toBe(record.filledSize);
  expect(Number(record.filledSize) + Number(record.cancelledSize)).toBe(1);
  return cancelled;
}

/** More orders of one wallet than its bucket holds, over both replicas at once. */
async function flood({ exchange, domain, market }: TwoTraders): Promise<Answer> {
  const carla = createTrader(exchange.client, domain, new Wallet(`0x${'ca'.repeat(32)}`));
  const orders: Awaited<ReturnType<typeof carla.order>>[] = [];
  while (orders.length < FLOOD) {
    orders.push(await carla.order(market, { side: 'BUY', outcome: 0, pips: 100, lots: 1 }));
    // The replicas run in this process, and must not be blocked while it signs.
    await sleep(0);
  }
  const answers: Answer[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < orders.length; i = next++) {
      const { client } = exchange.replicas[i % 2] ?? exchange.replicas[0];
      answers.push(await client.post(`/markets/${market.id}/orders`, { body: { order: orders[i] } }));
    }
  };
  // More at once would be too many for the two replicas of a slow machine, and be answered 503.
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  // A slow machine does not send them faster than they are allowed: the bucket is empty in any case now.
  for (const bucket of ['orders', 'orders+'])
    await exchange.redis.ask(`SET rl:${bucket}:${carla.address} ${FLOOD} EX 60`);
  answers.push(await carla.submit(market, { side: 'BUY', outcome: 0, pips: 100, lots: 1 }));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(100);
  // The address may have to wait for its turn, too; that is another refusal.
  const isOfWallet = ({ headers }: Answer): boolean =>
    headers.get('ratelimit')?.includes('"orders"') === true;
  const refused = answers.find((answer) => answer.status === 429 && isOfWallet(answer)) as Answer;
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(refused.headers.get('ratelimit')).toMatch(/"orders";r=0;t=\d+$/);
  expect(refused.headers.get('ratelimit-policy')).toMatch(/"orders";q=50;w=1;burst=100$/);
  // Cancels have their own bucket, so a wallet that sends too many orders can still cancel.
  expect((await carla.post(`/markets/${market.id}/orders/cancel-all`)).status).toBe(200);
  return refused;
}
