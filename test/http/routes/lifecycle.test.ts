import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Market,
  openMarket,
  type Trader,
} from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** A market's life after its creation, and the exchange's mode, on two replicas. */
let exchange: WebReplicas;
let alice: Trader;
let bob: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2, env: { PAPER_GRANT: '1000' } });
});
afterAll(() => exchange.stop());
beforeEach(async () => {
  const domain: Domain = await domainOf(exchange.client);
  alice = createTrader(exchange.client, domain);
  bob = createTrader(exchange.client, domain);
});

const admin = (method: string, path: string, body?: unknown): Promise<Answer> =>
  exchange.client.call(method, `/admin/${path}`, {
    token: ADMIN_TOKEN,
    ...(body === undefined ? {} : { body }),
  });
const elsewhere = (path: string) => exchange.replicas.at(-1)?.client.get(path) as Promise<Answer>;
const marketNow = async ({ id }: Market) => (await elsewhere(`/markets/${id}`)).body;
const cash = async (trader: Trader) => (await trader.get('/me/balances')).body;

/** Alice has 10 Yes, Bob 10 No, and one of his orders rests. */
async function tenSets(): Promise<{ market: Market; resting: string }> {
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 });
  await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 1_000 });
  const { body } = await alice.submit(market, { side: 'SELL', outcome: 0, pips: 9_000, lots: 500 });
  return { market, resting: body.orderHash };
}

test('resolving answers the market as it then is, pays winners and returns orders', async () => {
  const { market, resting } = await tenSets();
  const answer = await admin('POST', `markets/${market.id}/resolve`, { outcomeIndex: 0 });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    status: 'RESOLVED',
    openInterest: '0',
    liquidity: '0',
    resolution: { outcomeIndex: 0, payouts: ['1', '0'], resolvedAt: answer.body.resolvedAt },
  });
  expect(new Date(answer.body.resolvedAt).toISOString()).toBe(answer.body.resolvedAt);
  expect(await marketNow(market)).toEqual(answer.body);
  expect((await elsewhere(`/orders/${resting}`)).body).toMatchObject({
    status: 'CANCELLED',
    reason: 'MARKET_CLOSED',
  });
  expect(await cash(alice)).toEqual({
    collateral: { total: '1004', available: '1004', reserved: '0' },
    tokens: [],
  });
  expect(await cash(bob)).toMatchObject({ collateral: { total: '996' }, tokens: [] });
  // The end is final: the trade is still shown, and nothing new comes.
  expect((await elsewhere(`/markets/${market.id}/trades`)).body.data).toHaveLength(1);
  const late = await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 100 });
  expect([late.status, late.body.code, late.body.retryable]).toEqual([409, 'MARKET_NOT_OPEN', false]);
});

test('repeating a resolution answers the same and pays nothing, and another result is refused', async () => {
  const { market } = await tenSets();
  const first = await admin('POST', `markets/${market.id}/resolve`, { outcomeIndex: 1 });
  expect(await admin('POST', `markets/${market.id}/resolve`, { outcomeIndex: 1 })).toMatchObject({
    status: 200,
    body: first.body,
  });
  for (const [path, body] of [
    ['resolve', { outcomeIndex: 0 }],
    ['void', undefined],
    ['close', undefined],
    ['resume', undefined],
  ] as const) {
    const other = await admin('POST', `markets/${market.id}/${path}`, body);
    expect([path, other.status, other.body.code]).toEqual([path, 409, 'MARKET_NOT_OPEN']);
  }
  expect((await cash(bob)).collateral.total).toBe('1006');
  expect(await marketNow(market)).toEqual(first.body);
});

test('a void market pays a half for each token', async () => {
  const { market } = await tenSets();
  const { body } = await admin('POST', `markets/${market.id}/void`);
  expect(body).toMatchObject({
    status: 'VOIDED',
    resolution: { outcomeIndex: null, payouts: ['0.5', '0.5'], resolvedAt: body.resolvedAt },
    openInterest: '0',
  });
  expect((await cash(alice)).collateral.total).toBe('999');
  expect((await cash(bob)).collateral.total).toBe('1001');
});

test('a draft cannot be resolved, but paused and closed markets can', async () => {
  const draft = await openMarket(exchange.client, ADMIN_TOKEN, { draft: true });
  const refused = await admin('POST', `markets/${draft.id}/resolve`, { outcomeIndex: 0 });
  expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
    409,
    'MARKET_NOT_OPEN',
    'the market is DRAFT',
  ]);
  for (const step of ['pause', 'close']) {
    const market = await openMarket(exchange.client, ADMIN_TOKEN);
    await admin('POST', `markets/${market.id}/${step}`);
    expect((await admin('POST', `markets/${market.id}/void`)).body.status).toBe('VOIDED');
  }
});

test('an edit changes only the texts it names, and neither the book nor its sequence', async () => {
  const market = await openMarket(exchange.client, ADMIN_TOKEN, { tags: ['a'], description: 'Rain.' });
  const before = await marketNow(market);
  const words = {
    question: 'Will it snow?',
    category: 'weather',
    tags: ['snow', 'ice'],
    imageUrl: 'https://images.test/snow.png',
    closesAt: '2031-02-03T04:05:06.007Z',
  };
  const { status, body } = await admin('PATCH', `markets/${market.id}`, words);
  expect(status).toBe(200);
  expect(body).toEqual({ ...before, ...words, sequence: before.sequence + 1 });
  expect(await marketNow(market)).toEqual(body);
  // The same again, and nothing at all, change nothing.
  expect((await admin('PATCH', `markets/${market.id}`, words)).body).toEqual(body);
  expect((await admin('PATCH', `markets/${market.id}`, {})).body).toEqual(body);
  const archivedReads = await admin('PATCH', `markets/${market.id}`, { closesAt: '2026-01-31T12:00:00Z' });
  expect([archivedReads.status, archivedReads.body.code, archivedReads.body.errors]).toEqual([
    400,
    'INVALID_REQUEST',
    [{ path: 'closesAt', message: 'must be in the future' }],
  ]);
  const cleared = { closesAt: null, imageUrl: null, description: '', tags: [] };
  expect((await admin('PATCH', `markets/${market.id}`, cleared)).body).toMatchObject(cleared);
  expect((await elsewhere('/markets?category=weather')).body.data).toHaveLength(1);
});

test('concurrent edits do not undo each other', async () => {
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  await Promise.all([
    ...['x', 'y', 'z'].map((description) => admin('PATCH', `markets/${market.id}`, { description })),
    admin('PATCH', `markets/${market.id}`, { category: 'sport' }),
    admin('PATCH', `markets/${market.id}`, { imageUrl: 'https://images.test/1' }),
  ]);
  const { description, category, imageUrl, sequence } = await marketNow(market);
  expect({ category, imageUrl, sequence }).toEqual({
    category: 'sport',
    imageUrl: 'https://images.test/1',
    sequence: 6,
  });
  expect(['x', 'y', 'z']).toContain(description);
});

test('a closed market keeps its closing time, and a market that has ended its texts', async () => {
  const { market } = await tenSets();
  const edit = (body: unknown): Promise<Answer> => admin('PATCH', `markets/${market.id}`, body);
  await admin('POST', `markets/${market.id}/close`);
  expect((await edit({ description: 'Closed.' })).status).toBe(200);
  expect((await edit({ closesAt: '2031-01-01' })).body.code).toBe('MARKET_NOT_OPEN');
  await admin('POST', `markets/${market.id}/resolve`, { outcomeIndex: 1 });
  const refused = await edit({ description: 'It was always going to.' });
  expect([refused.status, refused.body.code]).toEqual([409, 'MARKET_NOT_OPEN']);
  expect((await marketNow(market)).description).toBe('Closed.');
  expect((await admin('PATCH', 'markets/none', { description: '' })).body.code).toBe('MARKET_NOT_FOUND');
});

describe('the mode of the exchange', () => {
  const modeNow = async (): Promise<string> => (await elsewhere('/config')).body.mode;
  const setMode = (mode: string): Promise<Answer> => admin('PUT', 'mode', { mode });
  afterEach(() => setMode('NORMAL'));

  test('CANCEL_ONLY refuses orders, splits and merges on every replica, even in a new market', async () => {
    const { market, resting } = await tenSets();
    expect(await setMode('CANCEL_ONLY')).toMatchObject({ status: 200, body: { mode: 'CANCEL_ONLY' } });
    expect(await modeNow()).toBe('CANCEL_ONLY');
    const later = await openMarket(exchange.client, ADMIN_TOKEN);
    for (const one of [market, later]) {
      const order = await bob.order(one, { side: 'BUY', outcome: 0, pips: 100, lots: 100 });
      for (const { client } of exchange.replicas) {
        const answer = await client.post(`/markets/${one.id}/orders`, { body: { order } });
        expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([503, 'CANCEL_ONLY', true]);
        expect(answer.headers.get('retry-after')).not.toBeNull();
      }
      expect((await bob.post(`/markets/${one.id}/split`, { size: '1' })).body.code).toBe('CANCEL_ONLY');
    }
    const cancelled = await alice.post(`/orders/${resting}/cancel`);
    expect([cancelled.status, cancelled.body.message]).toEqual([200, 'Order cancelled']);
    expect((await bob.post('/me/faucet')).status).toBe(200);
    await setMode('NORMAL');
    expect((await bob.submit(later, { side: 'BUY', outcome: 0, pips: 100, lots: 100 })).body.status).toBe(
      'OPEN',
    );
  });

  test('HALTED also refuses cancels and the faucet, but markets still end', async () => {
    const { market, resting } = await tenSets();
    await setMode('HALTED');
    const refused = [
      await bob.submit(market, { side: 'BUY', outcome: 0, pips: 100, lots: 100 }),
      await alice.post(`/orders/${resting}/cancel`),
      await alice.post(`/markets/${market.id}/orders/cancel-all`),
      await bob.post(`/markets/${market.id}/merge`, { size: '1' }),
      await bob.post('/me/faucet'),
    ];
    expect(refused.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
      refused.map(() => '503 HALTED'),
    );
    expect((await admin('POST', `markets/${market.id}/void`)).body).toMatchObject({ openInterest: '0' });
    expect((await alice.get('/me/balances')).body.collateral.total).toBe('999');
  });

  test('an order sent twice is still answered with its record', async () => {
    const market = await openMarket(exchange.client, ADMIN_TOKEN);
    const order = await bob.order(market, { side: 'BUY', outcome: 0, pips: 100, lots: 100 });
    const send = () => exchange.client.post(`/markets/${market.id}/orders`, { body: { order } });
    const first = await send();
    await setMode('HALTED');
    expect(await send()).toMatchObject({ status: 200, body: { orderHash: first.body.orderHash } });
  });
});
