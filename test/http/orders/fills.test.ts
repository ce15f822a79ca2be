import { Redis } from 'ioredis';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  type Limit,
  type Market,
  openMarket,
  type Trader,
} from '../../support/trader';
import { sleep } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** An order with many fills is shown with a bounded number of them, and all of them are in a separate list. */
const FILLS = 230;
const SHOWN = 100;
const BODY_MAX_BYTES = 64_000;
const BATCH = 20;
const TRIES = 40;
const PAUSE_MS = 250;

let exchange: WebReplicas;
let redis: Redis;
let domain: Domain;
let market: Market;
let alice: Trader;
let bob: Trader;
/** Alice's order, which FILLS orders of Bob met, and Bob's order that met many. */
let makerHash: string;
let signed: Record<string, unknown>;

const bid = (lots: number): Limit => ({ side: 'BUY', outcome: 0, pips: 6_000, lots });
const other = (lots: number): Limit => ({ side: 'BUY', outcome: 1, pips: 4_000, lots });

async function submitMany(trader: Trader, limit: Limit, count: number): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const orders = await Promise.all(
      Array.from({ length: Math.min(BATCH, count - from) }, async () => ({
        order: await trader.order(market, limit),
      })),
    );
    const send = async (): Promise<number[]> => {
      const { body } = await exchange.client.post(`/markets/${market.id}/orders/batch`, { body: { orders } });
      return body.results.map(({ status }: { status: number }) => status);
    };
    let statuses = await send();
    // On a busy machine some reach the book too late. An order that is booked stays booked when it is sent again.
    for (let n = 1; n < TRIES && statuses.includes(503); n++) {
      await sleep(PAUSE_MS);
      statuses = await send();
    }
    expect(statuses).toEqual(orders.map(() => 200));
  }
}

const get = (path: string) => exchange.client.get(path);

/** Counts the matches that Redis looked up during an action. */
async function matchesRead(act: () => Promise<unknown>): Promise<number> {
  const calls = async (): Promise<number> =>
    Number(/cmdstat_xrange:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
  const before = await calls();
  await act();
  return (await calls()) - before;
}

/** The process follows the outbox with the same command, so one look-up more may be counted: then it is done again. */
async function expectReads(
  exact: number,
  act: () => Promise<unknown>,
  before = async (): Promise<void> => {},
) {
  let looked = -1;
  for (let tries = 0; tries < TRIES && looked !== exact; tries++) {
    await before();
    looked = await matchesRead(act);
  }
  expect(looked).toBe(exact);
}

async function walk(hash: string, limit: number, meanwhile = async (): Promise<void> => {}) {
  const rows: { tradeId: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await get(`/orders/${hash}/fills?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    rows.push(...body.data);
    cursor = body.nextCursor;
    await meanwhile();
  }
  return rows.map(({ tradeId }) => tradeId);
}

beforeAll(async () => {
  exchange = await startWebReplicas();
  redis = new Redis(exchange.redis.url);
  domain = (await get('/config')).body.eip712.domain;
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  [alice, bob] = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
  signed = await alice.order(market, bid(FILLS * 10));
  const maker = await exchange.client.post(`/markets/${market.id}/orders`, { body: { order: signed } });
  makerHash = maker.body.orderHash;
  await submitMany(bob, other(1), FILLS);
});
afterAll(async () => {
  redis.disconnect();
  await exchange.stop();
});

test('an order with many fills is shown with the latest 100 of them, oldest first, and their number', async () => {
  const { body, text } = await get(`/orders/${makerHash}`);
  const { body: trades } = await get(`/markets/${market.id}/trades?limit=500`);
  const latest = trades.data.map(({ id }: { id: string }) => id).slice(0, SHOWN);
  expect(body).toMatchObject({ fillCount: FILLS, filledSize: '2.3' });
  expect(body.fills.map(({ tradeId }: { tradeId: string }) => tradeId)).toEqual(latest.reverse());
  expect(text.length).toBeLessThan(BODY_MAX_BYTES);
  const { body: mine } = await alice.get('/me/orders');
  expect(mine.data[0]).toMatchObject({ fillCount: FILLS, fills: body.fills });
});

test('the list of its fills has each once, newest first, even while it is filled further', async () => {
  const { body: trades } = await get(`/markets/${market.id}/trades?limit=500`);
  const all = trades.data.map(({ id }: { id: string }) => id);
  expect(all).toHaveLength(FILLS);
  expect(await walk(makerHash, 1_000)).toEqual(all);
  expect(await walk(makerHash, 7, () => submitMany(bob, other(1), 1))).toEqual(all);
  const { body } = await get(`/orders/${makerHash}/fills`);
  expect(body.data).toHaveLength(50);
  const [latest] = (await get(`/orders/${makerHash}`)).body.fills.slice(-1);
  expect(body.data[0]).toEqual(latest);
});

test('an order that is sent repeatedly reads no match while it is unchanged, and returns its current record', async () => {
  const junk = { ...signed, signature: `0x${'11'.repeat(64)}1b` };
  const send = async () => {
    const answer = await exchange.client.post(`/markets/${market.id}/orders`, { body: { order: junk } });
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    return answer.body;
  };
  const before = await send();
  await expectReads(0, async () => expect(await send()).toEqual(before));
  const { body: met } = await bob.submit(market, other(1));
  const filled = await send();
  expect(filled.fillCount).toBe(before.fillCount + 1);
  expect(filled.fills).toHaveLength(SHOWN);
  expect(filled.fills.at(-1)).toMatchObject({ tradeId: met.fills[0].tradeId, size: '0.01' });
  await expectReads(0, send);
  const { body: twice } = await exchange.client.post(`/markets/${market.id}/orders/batch`, {
    body: { orders: [{ order: signed }, { order: junk }] },
  });
  for (const { order } of twice.results) expect(order).toEqual(filled);
});

test('a read of an order looks up only as many matches as it shows, and so does sending it again, with any signature', async () => {
  const path = `/markets/${market.id}/orders`;
  const junk = { ...signed, signature: `0x${'11'.repeat(64)}1b` };
  for (const act of [
    () => get(`/orders/${makerHash}`),
    () => exchange.client.post(path, { body: { order: signed } }),
    () => exchange.client.post(path, { body: { order: junk } }),
  ]) {
    // Earlier answers are cached while the market does not change.
    const trade = () => submitMany(bob, other(1), 1);
    await expectReads(
      SHOWN,
      async () => expect((await act()).status).toBe(200),
      async () => void (await trade()),
    );
  }
  await expectReads(
    11,
    () => get(`/orders/${makerHash}/fills?limit=10`),
    async () => void (await submitMany(bob, other(1), 1)),
  );
  await expectReads(0, () => alice.post('/orders/cancel', { orderHashes: [makerHash] }));
});

test('an order that met many makers at once is answered with 100 fills, and all of them can be listed', async () => {
  const MET = 130;
  await submitMany(alice, bid(1), MET);
  const { body, text } = await bob.submit(market, other(MET));
  expect(body).toMatchObject({ status: 'FILLED', fillCount: MET, filledSize: '1.3' });
  const all = Array.from({ length: MET }, (_, i) => `${market.id}-${body.sequence}-${i}`);
  expect(body.fills.map(({ tradeId }: { tradeId: string }) => tradeId)).toEqual(all.slice(-SHOWN));
  expect(text.length).toBeLessThan(BODY_MAX_BYTES);
  expect(await walk(body.orderHash, 7)).toEqual(all.reverse());
});

test('a cursor of another order, a made-up one, and an unknown order are refused', async () => {
  const { body } = await bob.submit(market, bid(1));
  const { body: page } = await get(`/orders/${makerHash}/fills?limit=1`);
  const codeOf = async (hash: string, cursor: string) =>
    (await get(`/orders/${hash}/fills?cursor=${cursor}`)).body.code;
  expect(await codeOf(body.orderHash, page.nextCursor)).toBe('INVALID_CURSOR');
  for (const cursor of ['x', '0-0-0', '1-1-1', '1-1', `${page.nextCursor}0000`]) {
    expect(await codeOf(makerHash, cursor)).toBe('INVALID_CURSOR');
  }
  expect(await codeOf(`0x${'00'.repeat(32)}`, page.nextCursor)).toBe('ORDER_NOT_FOUND');
  expect((await get(`/orders/${body.orderHash}/fills`)).body).toEqual({ data: [], nextCursor: null });
});
