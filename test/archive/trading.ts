import type { Answer } from '../support/client';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, openMarket, type Trader, type WireOrder } from '../support/trader';
import { until } from '../support/waiting';
import type { WebReplicas } from '../support/web-replicas';

/** Orders of one page. */
const PAGE = 4;

interface Sent {
  readonly trader: Trader;
  readonly order: WireOrder;
  readonly orderHash: string;
  readonly pips: number;
}
export type Trading = Awaited<ReturnType<typeof openTrading>>;

/** The answer to a read or to a repetition; a busy machine may answer 503 before. */
export async function settled(ask: () => Promise<Answer>): Promise<Answer> {
  let answer = await ask();
  await until('an answer other than 503', async () => {
    if (answer.status === 503) answer = await ask();
    return answer.status !== 503;
  });
  return answer;
}

/** A market in which two wallets have traded, and everything that the interface says about it. */
export async function openTrading(exchange: WebReplicas) {
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const { domain } = (await settled(() => exchange.client.get('/config'))).body.eip712;
  const [alice, bob] = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
  const sent: Sent[] = [];

  async function send(trader: Trader, pips: number, outcome: 0 | 1 = 0): Promise<string> {
    const order = await trader.order(market, { side: 'BUY', outcome, pips, lots: 100 });
    const submissions = `/markets/${market.id}/orders`;
    const { status, body } = await settled(() => exchange.client.post(submissions, { body: { order } }));
    expect([status, body.code]).toEqual([200, undefined]);
    sent.push({ trader, order, orderHash: body.orderHash, pips });
    return body.orderHash;
  }

  const cancel = (trader: Trader, orderHash: string): Promise<Answer> =>
    settled(() => trader.post(`/markets/${market.id}/orders/cancel`, { orderHash }));

  /** Orders that rest, that traded, that traded in part and were cancelled, and many that were cancelled. */
  async function trade(): Promise<void> {
    // The first order of each wallet, older than its sign-in, leaves, too.
    for (const trader of [alice, bob]) {
      const hash = await send(trader, 200);
      await cancel(trader, hash);
    }
    for (let i = 0; i < 8; i++) await send(alice, 3_000 + 100 * i);
    for (let i = 0; i < 3; i++) await send(bob, 6_300, 1);
    for (let i = 0; i < 12; i++) {
      const hash = await send(i % 3 === 0 ? bob : alice, 1_000 + 100 * i);
      if (i % 4 !== 3) await cancel(sent.at(-1)?.trader as Trader, hash);
    }
    await settled(async () => alice.post(`/markets/${market.id}/orders/cancel-all`));
    await send(alice, 500);
  }

  /** Every page of a list. */
  async function pages(trader: Trader, path: string): Promise<unknown[]> {
    const found: unknown[] = [];
    for (let cursor = ''; ; ) {
      const at = `${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}${cursor}`;
      const { status, body } = await settled(() => trader.get(at));
      expect(status).toBe(200);
      found.push(...body.data);
      if (!body.nextCursor) return found;
      cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
    }
  }

  /** Every answer of the interface about the past. */
  async function answers(): Promise<unknown> {
    const told: unknown[] = [];
    for (const trader of [alice, bob]) {
      for (const query of ['', '?status=CANCELLED', '?status=open', '?side=BUY'])
        told.push(await pages(trader, `/me/orders${query}`));
      for (const path of ['/me/trades', '/me/activity']) told.push(await pages(trader, path));
      told.push((await settled(() => exchange.client.get(`/profiles/${trader.address}`))).body);
    }
    for (const { trader, order, orderHash } of sent) {
      const own = await settled(() => trader.get(`/orders/${orderHash}`));
      const [open, fills] = await Promise.all(
        [`/orders/${orderHash}`, `/orders/${orderHash}/fills`].map((path) =>
          settled(() => exchange.client.get(path)),
        ),
      );
      const submissions = `/markets/${market.id}/orders`;
      const again = await settled(() => exchange.client.post(submissions, { body: { order } }));
      told.push(...[own, open, fills, again].map((answer) => [answer?.status, answer?.body]));
      if (own.body.status === 'CANCELLED') {
        const cancels = [
          await settled(() => trader.post(`/markets/${market.id}/orders/cancel`, { orderHash })),
          await settled(() => trader.post(`/orders/${orderHash}/cancel`)),
          await settled(() => trader.post('/orders/cancel', { orderHashes: [orderHash] })),
        ];
        told.push(...cancels.map(({ status, body }) => [status, body]));
      }
    }
    return told;
  }

  await trade();
  return { market, alice, bob, sent, send, cancel, answers };
}
