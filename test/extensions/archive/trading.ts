import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, openMarket, type Trader, type WireOrder } from '../../support/trader';
import { until } from '../../support/waiting';
import type { WebReplicas } from '../../support/web-replicas';

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

  async function send(trader: Trader, pips: number, outcome: 0 | 1 = 0, lots = 100): Promise<string> {
    const order = await trader.order(market, { side: 'BUY', outcome, pips, lots });
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
    // A maker that many orders meet, and a taker that meets many makers.
    const big = await send(alice, 3_900, 0, 1_000);
    for (let i = 0; i < 6; i++) await send(bob, 6_100, 1, 50 + i);
    await cancel(alice, big);
    await send(bob, 6_700, 1, 350);
    for (let i = 0; i < 12; i++) {
      const hash = await send(i % 3 === 0 ? bob : alice, 1_000 + 100 * i);
      if (i % 4 !== 3) await cancel(sent.at(-1)?.trader as Trader, hash);
    }
    await settled(async () => alice.post(`/markets/${market.id}/orders/cancel-all`));
    await send(alice, 500);
  }

  /** Every page of a list. */
  async function pages({ get }: Pick<Trader, 'get'>, path: string): Promise<unknown[]> {
    const found: unknown[] = [];
    for (let cursor = ''; ; ) {
      const joint = path.endsWith('&') || path.endsWith('?') ? '' : path.includes('?') ? '&' : '?';
      const at = `${path}${joint}limit=${PAGE}${cursor}`;
      const { status, body } = await settled(() => get(at));
      expect(status).toBe(200);
      found.push(...body.data);
      if (!body.nextCursor) return found;
      cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
    }
  }

  const reader = { get: (path: string): Promise<Answer> => exchange.client.get(path) };
  const operator = {
    get: (path: string): Promise<Answer> => exchange.client.get(path, { token: ADMIN_TOKEN }),
  };
  /** A time among those of the trades. */
  let since = '';

  /** Every answer of the interface about the past. */
  async function answers(): Promise<unknown> {
    const told: unknown[] = [];
    if (since === '') {
      const { body } = await settled(() => exchange.client.get(`/markets/${market.id}/trades`));
      since = String(Date.parse(body.data[Math.floor(body.data.length / 2)].matchedAt));
    }
    for (const trader of [alice, bob]) {
      for (const query of ['', '?status=CANCELLED', '?status=open', '?side=BUY'])
        told.push(await pages(trader, `/me/orders${query}`));
      for (const path of ['/me/trades', '/me/activity'])
        for (const query of ['', '?order=asc']) told.push(await pages(trader, path + query));
      told.push((await settled(() => exchange.client.get(`/profiles/${trader.address}`))).body);
    }
    for (const query of ['?', '?order=asc&', `?order=asc&since=${since}&`, `?until=${since}&`])
      told.push(await pages(reader, `/markets/${market.id}/trades${query}`));
    for (const query of ['?', `?marketId=${market.id}&`, '?status=CONFIRMED&'])
      told.push(await pages(operator, `/admin/settlements${query}`));
    const { body: shown } = await settled(() => exchange.client.get(`/markets/${market.id}/trading`));
    told.push(shown.recentTrades);
    for (const { trader, order, orderHash } of sent) {
      const own = await settled(() => trader.get(`/orders/${orderHash}`));
      const open = await settled(() => exchange.client.get(`/orders/${orderHash}`));
      const fills = await pages(reader, `/orders/${orderHash}/fills?`);
      const submissions = `/markets/${market.id}/orders`;
      const again = await settled(() => exchange.client.post(submissions, { body: { order } }));
      told.push(fills, ...[own, open, again].map((answer) => [answer?.status, answer?.body]));
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
