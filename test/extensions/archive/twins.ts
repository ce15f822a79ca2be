import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, openMarket, type Trader, type WireOrder } from '../../support/trader';
import { sleep, until } from '../../support/waiting';
import type { WebReplicas } from '../../support/web-replicas';
import { settled } from './trading';

/** Orders of one page. */
const PAGE = 7;
/** Between two orders: some ten a second, so that every minute has its batches. */
const PACE_MS = 60;
/** Settlements whose worker was killed are made again within a minute. */
const SAME_MS = 120_000;
const LISTS = ['/me/orders', '/me/trades', '/me/activity'];

/** One step of the trading: an order, and perhaps its cancel. */
interface Step {
  readonly wallet: number;
  readonly order: WireOrder;
  readonly isCancelled: boolean;
}

export type Twins = Awaited<ReturnType<typeof createTwins>>;

/** Two exchanges that receive the same orders of the same wallets, one after the other. */
export async function createTwins(first: WebReplicas, second: WebReplicas, wallets: number) {
  const texts = {
    question: 'Do the twins agree?',
    slug: 'twins',
    questionId: `0x${randomBytes(32).toString('hex')}`,
  };
  const [market, twin] = [
    await openMarket(first.client, ADMIN_TOKEN, texts),
    await openMarket(second.client, ADMIN_TOKEN, texts),
  ];
  const domain = await domainOf(first.client);
  const here = Array.from({ length: wallets }, () => createTrader(first.client, domain));
  const there = here.map(({ wallet }) => createTrader(second.client, domain, wallet));
  const steps: Step[] = [];

  /** Orders that meet each other, whole and in part, orders that rest, and orders that are cancelled. */
  async function next(n: number): Promise<Step> {
    const wallet = n % wallets;
    const isCancelled = n % 5 === 4;
    const limit = isCancelled
      ? ({ side: 'BUY', outcome: 0, pips: 1_000 + (n % 20) * 100, lots: 100 } as const)
      : ({ side: 'BUY', outcome: n % 2 ? 1 : 0, pips: 5_000, lots: 100 + 100 * (n % 3) } as const);
    const order = await (here[wallet] as Trader).order(market, limit);
    return { wallet, order, isCancelled };
  }

  async function play(
    { wallet, order, isCancelled }: Step,
    traders: readonly Trader[],
    at: typeof twin,
  ): Promise<void> {
    const trader = traders[wallet] as Trader;
    const { status, body } = await answered(() => trader.post(`/markets/${at.id}/orders`, { order }));
    expect([status, body.code]).toEqual([200, undefined]);
    if (!isCancelled) return;
    const { status: cancelled } = await answered(() => trader.post(`/orders/${body.orderHash}/cancel`));
    expect(cancelled).toBe(200);
  }

  /** Every order that still rests is cancelled at the end, so that all of them are over. */
  async function end(traders: readonly Trader[], at: typeof twin): Promise<void> {
    for (const trader of traders)
      expect((await answered(() => trader.post(`/markets/${at.id}/orders/cancel-all`))).status).toBe(200);
  }

  /** Trades at the first of them until it is stopped; then it resolves with the number of orders that were accepted. */
  function trade() {
    let isStopped = false;
    const trading = (async () => {
      for (let n = 0; !isStopped; n++) {
        const step = await next(n);
        await play(step, here, market);
        steps.push(step);
        await sleep(PACE_MS);
      }
      await end(here, market);
      return steps.length;
    })();
    // Its failure is that of `stop`.
    trading.catch(() => undefined);
    return {
      stop: (): Promise<number> => {
        isStopped = true;
        return trading;
      },
    };
  }

  /** The same at the second. */
  async function repeat(): Promise<void> {
    for (const step of steps) await play(step, there, twin);
    await end(there, twin);
  }

  async function pagesOf(traders: readonly Trader[], list: string): Promise<unknown[][]> {
    const all: unknown[][] = [];
    for (const trader of traders) {
      const pages: unknown[] = [];
      for (let cursor = ''; ; ) {
        const { status, body } = await settled(() => trader.get(`${list}?limit=${PAGE}${cursor}`));
        expect(status).toBe(200);
        pages.push(body.data.map(timeless));
        if (!body.nextCursor) break;
        cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
      }
      all.push(pages);
    }
    return all;
  }

  /** Page by page the lists of every wallet; what follows a match comes a little later. */
  async function compare(): Promise<void> {
    for (const list of LISTS) {
      let [ours, theirs]: unknown[][][] = [[], []];
      await until(
        `the pages of ${list} are equal`,
        async () => {
          [ours, theirs] = [await pagesOf(here, list), await pagesOf(there, list)];
          return isDeepStrictEqual(ours, theirs);
        },
        { patienceMs: SAME_MS },
      ).catch(() => undefined);
      expect(ours).toEqual(theirs);
    }
  }

  return { marketId: market.id, twinId: twin.id, trade, repeat, compare };
}

/** An answer that is not 503 or lost, from an exchange that is killed meanwhile: an order is sent until it has one. */
async function answered(ask: Parameters<typeof settled>[0]) {
  return settled(async () => {
    try {
      return await ask();
    } catch {
      return { status: 503 } as Awaited<ReturnType<typeof ask>>;
    }
  });
}

/** Times, names of settlements and ids differ between two exchanges; everything else is the same. */
const TIMES = /At$|^timestamp$|^id$|^marketId$|Id$|cursor/i;
const timeless = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(timeless);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, TIMES.test(name) ? 'differs' : timeless(member)]),
  );
};
