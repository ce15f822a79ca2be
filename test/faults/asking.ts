import type { Answer } from '../support/client';
import { createRandom } from '../support/random';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, openMarket } from '../support/trader';
import { until } from '../support/waiting';
import { startLoad } from './load';
import type { TradingFleet } from './trading-fleet';

/** Every request is answered, whichever part is away: one without an answer by then hangs, however busy the machine is. */
export const ANSWER_MS = 30_000;
/** After a fault orders are accepted again: the tests print how soon, and by then a process hangs. */
export const BACK_MS = 60_000;
const LANES = 6;
const BID = { side: 'BUY', outcome: 0, pips: 100, lots: 100 } as const;

/** Requests of a wallet with its own market and one resting order, so that they do not disturb the load. */
export async function asking({ client }: TradingFleet) {
  const at = client();
  const market = await openMarket(at, ADMIN_TOKEN);
  const domain = await domainOf(at);
  const trader = createTrader(at, domain);
  const { orderHash } = (await trader.submit(market, BID)).body;
  await trader.signIn();
  const path = `/markets/${market.id}`;
  const cancel = () => trader.post(`${path}/orders/cancel`, { orderHash });
  const trial = async () =>
    at.post(`${path}/orders?dryRun=true`, { body: { order: await trader.order(market, BID) } });
  return {
    writes: {
      order: () => trader.submit(market, BID),
      cancel,
      cancelAll: () => trader.post(`${path}/orders/cancel-all`),
      split: () => trader.post(`${path}/split`, { size: '1' }),
      signIn: () => createTrader(at, domain).signInOnce(),
    },
    reads: {
      markets: () => at.get('/markets'),
      book: () => at.get(`${path}/orderbook`),
      order: () => at.get(`/orders/${orderHash}`),
      orders: () => trader.get('/me/orders'),
      balances: () => trader.get('/me/balances'),
    },
    ready: () => at.get('/readyz'),
    epoch: async (): Promise<string> => (await at.get('/readyz')).body.epoch,
    /** Checks that the order still rests, once, and can be cancelled. */
    async cancelled(): Promise<boolean> {
      const { body } = await at.get(`${path}/orderbook`);
      return body.bids[0]?.orders === 1 && (await cancel()).body.cancelled === true;
    },
    /** Milliseconds until an order is accepted. */
    async back(): Promise<number> {
      const startedAt = performance.now();
      await until('orders are accepted', async () => (await trial()).status === 200);
      return performance.now() - startedAt;
    },
  };
}

type Asks = Readonly<Record<string, () => Promise<Answer>>>;

/** The answers to all of them at once, by name; none is late. */
export async function answers(asks: Asks): Promise<Record<string, string>> {
  const startedAt = performance.now();
  const told = await Promise.all(
    Object.entries(asks).map(async ([name, ask]) => {
      const { status, body, headers } = await ask();
      const again = headers.get('retry-after');
      return [name, status === 200 ? '200' : `${status} ${body?.code} again in ${again}`] as const;
    }),
  );
  expect(performance.now() - startedAt).toBeLessThan(ANSWER_MS);
  return Object.fromEntries(told);
}

/** The same answer for each. */
export const all = (asks: Asks, answer: string): Record<string, string> =>
  Object.fromEntries(Object.keys(asks).map((name) => [name, answer]));

export const UNAVAILABLE = '503 UNAVAILABLE again in 1';

/** Trades until it is stopped; its orders never expire, so no wait is needed. */
export function startEndlessLoad({ journal, markets, people, client }: TradingFleet, seed: number) {
  const load = startLoad(journal, {
    markets,
    people,
    client,
    random: createRandom(seed),
    lanes: LANES,
    most: Number.POSITIVE_INFINITY,
    expiring: 0,
    pauseMs: 5,
  });
  return {
    /** Resolves when that number of further orders was accepted. */
    async goesOn(count: number): Promise<void> {
      const accepted = (): number => journal.submissions.filter((one) => one.accepted.length > 0).length;
      const from = accepted();
      await until('orders go on', async () => accepted() >= from + count);
    },
    stop: load.stop,
  };
}
