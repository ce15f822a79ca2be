import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** One letter of its checksum is in the wrong case. */
const ORACLE_MISTYPED = '0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

let exchange: WebReplicas;
let alice: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas();
  alice = createTrader(exchange.client, await domainOf(exchange.client));
});
afterAll(() => exchange.stop());

const admin = (path: string, body?: unknown): Promise<Answer> =>
  exchange.client.post(path, { token: ADMIN_TOKEN, ...(body === undefined ? {} : { body }) });
const create = (body: unknown): Promise<Answer> => admin('/admin/markets', body);
const step = (market: Market, name: string): Promise<Answer> => admin(`/admin/markets/${market.id}/${name}`);

test('a market can be created with every member that an operator may set', async () => {
  const questionId = `0x${'ab'.repeat(32)}`;
  const { status, body } = await create({
    question: 'Which way?',
    slug: 'which-way',
    description: 'Left is Yes.',
    category: 'roads',
    tags: ['left', 'right'],
    outcomes: ['Left', 'Right'],
    tickSize: '0.001',
    lotSize: '0.1',
    minOrderSize: '1',
    feeRateBps: 100,
    closesAt: '2030-05-06T07:08:09Z',
    questionId,
    oracle: alice.address,
    draft: true,
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    slug: 'which-way',
    questionId,
    status: 'DRAFT',
    outcomes: [{ name: 'Left' }, { name: 'Right' }],
    tickSize: '0.001',
    lotSize: '0.1',
    minOrderSize: '1',
    feeRateBps: 100,
    closesAt: '2030-05-06T07:08:09.000Z',
    imageUrl: null,
  });
  expect((await exchange.client.get('/markets/which-way')).body.code).toBe('MARKET_NOT_FOUND');
  const opened = await step(body, 'open');
  expect([opened.status, opened.body]).toEqual([
    200,
    { ...body, status: 'OPEN', sequence: opened.body.sequence },
  ]);
  expect((await exchange.client.get('/markets/which-way')).body).toEqual(opened.body);
  const taken = await create({ question: 'Again?', slug: 'which-way' });
  expect([taken.status, taken.body.code, taken.body.errors[0].path]).toEqual([
    400,
    'INVALID_REQUEST',
    'slug',
  ]);
});

test('the least order of a market that sets none is one share, in whole lots', async () => {
  const least = async (lotSize?: string) =>
    (await create({ question: 'How little?', lotSize })).body.minOrderSize;
  expect(await least()).toBe('1');
  expect([await least('0.3'), await least('0.5'), await least('5')]).toEqual(['1.2', '1', '5']);
  const named = await create({ question: 'How little?', lotSize: '0.1', minOrderSize: '0.1' });
  expect(named.body.minOrderSize).toBe('0.1');
});

test('a market can be paused for cancels only, resumed, and closed with its book cleared', async () => {
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const { body } = await alice.submit(market, { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 });
  expect((await step(market, 'pause')).body.status).toBe('PAUSED');
  expect((await alice.submit(market, { side: 'BUY', outcome: 0, pips: 4_000, lots: 100 })).body.code).toBe(
    'MARKET_NOT_OPEN',
  );
  expect((await step(market, 'resume')).body.status).toBe('OPEN');
  expect((await step(market, 'close')).body).toMatchObject({
    status: 'CLOSED',
    bestBid: null,
    liquidity: '0',
  });
  const order = await exchange.client.get(`/orders/${body.orderHash}`);
  expect(order.body).toMatchObject({ status: 'CANCELLED', reason: 'MARKET_CLOSED' });
  const late = await step(market, 'resume');
  expect([late.status, late.body.code]).toEqual([409, 'MARKET_NOT_OPEN']);
  expect((await step({ ...market, id: 'none' }, 'close')).body.code).toBe('MARKET_NOT_FOUND');
});

test('invalid markets are refused', async () => {
  const bad: Record<string, unknown>[] = [
    {},
    { question: '' },
    { question: 'Will it \u202eniar?' },
    { question: 'a', description: 'Will it \u2067niar?' },
    { question: 'a', outcomes: ['Yes', '\u202eoN'] },
    { question: 'a', typo: 1 },
    { question: 'a', tickSize: '0.02' },
    { question: 'a', tickSize: 0.01 },
    { question: 'a', lotSize: '0' },
    { question: 'a', lotSize: '0.005' },
    // No order can be that large.
    { question: 'a', lotSize: '1000000000.01' },
    { question: 'a', lotSize: '1', minOrderSize: '1000000001' },
    { question: 'a', lotSize: '0.2', minOrderSize: '0.3' },
    { question: 'a', slug: 'Not A Slug' },
    { question: 'a', feeRateBps: -1 },
    { question: 'a', feeRateBps: '5' },
    { question: 'a', outcomes: ['Yes'] },
    { question: 'a', closesAt: 'tomorrow' },
    { question: 'a', questionId: '0x12' },
    { question: 'a', draft: 'yes' },
  ];
  for (const body of bad) {
    const answer = await create(body);
    expect([body, answer.status, answer.body.code]).toEqual([body, 400, 'INVALID_REQUEST']);
  }
  for (const oracle of ['0x12', ORACLE_MISTYPED]) {
    const { body } = await create({ question: 'a', oracle });
    expect([body.code, body.errors]).toMatchObject(['INVALID_ADDRESS', [{ path: 'oracle' }]]);
  }
  const told = async (body: object) => (await create({ question: 'a', ...body })).body.errors[0].message;
  expect(await told({ lotSize: '0' })).toBe('must be more than 0 and at most 1000000000');
  expect(await told({ minOrderSize: '0.005' })).toMatch(/at most two decimals/);
  expect(await told({ slug: 'Not A Slug' })).toMatch(/a-z, 0-9 and single hyphens/);
  expect(await told({ closesAt: 'tomorrow' })).toMatch(/ISO 8601 .* such as 2030-01-31T12:00:00Z$/);
  expect(await told({ closesAt: '2030-02-30' })).toBe('must be a date that exists');
  expect(await told({ closesAt: '2026-01-31T12:00:00Z' })).toBe('must be in the future');
});

test('the token opens the admin routes, which do not exist without one', async () => {
  const { client } = exchange;
  const bare = await client.post('/admin/markets', { body: { question: 'a' } });
  expect([bare.status, bare.body.code]).toEqual([401, 'UNAUTHORIZED']);
  for (const token of ['wrong', `${ADMIN_TOKEN}x`, await alice.token()]) {
    const answer = await client.post('/admin/markets', { body: { question: 'a' }, token });
    expect([answer.status, answer.body.code]).toEqual([401, 'TOKEN_INVALID']);
  }
  const closed = await startWebReplicas({ env: { ADMIN_TOKEN: '' } });
  try {
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      const answer = await closed.client.call(method, '/admin/markets', { token: ADMIN_TOKEN });
      expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
    }
  } finally {
    await closed.stop();
  }
});

test('split and merge take whole lots, once for each key', async () => {
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const convert = (verb: string, size: unknown, key?: string): Promise<Answer> =>
    alice.token().then((token) =>
      exchange.client.post(`/markets/${market.id}/${verb}`, {
        body: { size },
        token,
        headers: key === undefined ? {} : { 'idempotency-key': key },
      }),
    );
  const tokens = ({ body }: Answer): string[] => body.tokens.map(({ total }: { total: string }) => total);
  const replayed = ({ headers }: Answer): string | null => headers.get('idempotent-replayed');
  const first = await convert('split', '10.5', 'k1');
  expect([tokens(first), replayed(first)]).toEqual([['10.5', '10.5'], null]);
  const again = await convert('split', '10.50', 'k1');
  expect([tokens(again), replayed(again)]).toEqual([['10.5', '10.5'], 'true']);
  expect(tokens(await convert('merge', '0.5'))).toEqual(['10', '10']);
  // A key belongs to one body, in both directions.
  for (const [verb, size] of [
    ['split', '1'],
    ['merge', '10.5'],
  ] as const) {
    const { status, body } = await convert(verb, size, 'k1');
    expect([status, body.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  }
  expect(tokens(await convert('split', '1', 'k2'))).toEqual(['11', '11']);
  const code = async (...args: Parameters<typeof convert>): Promise<string> =>
    (await convert(...args)).body.code;
  expect(await code('merge', '12')).toBe('INSUFFICIENT_BALANCE');
  expect(await code('split', '0')).toBe('SIZE_OUT_OF_RANGE');
  expect(await code('split', '1000000000.01')).toBe('SIZE_OUT_OF_RANGE');
  expect(await code('split', '99999999999999999999')).toBe('SIZE_OUT_OF_RANGE');
  expect(await code('split', '1.001')).toBe('INVALID_LOT');
  for (const size of ['-1', '1e3', '01', '.5', '', 1, null])
    expect(await code('split', size)).toBe('INVALID_REQUEST');
  expect(await code('split', '1', 'no spaces')).toBe('INVALID_REQUEST');
  expect((await exchange.client.post(`/markets/${market.id}/split`, { body: { size: '1' } })).body.code).toBe(
    'UNAUTHORIZED',
  );
});

test('the faucet pays a wallet once an hour', async () => {
  const bob = createTrader(exchange.client, await domainOf(exchange.client));
  expect((await bob.post('/me/faucet')).body.collateral.total).toBe('2000000');
  const again = await bob.post('/me/faucet');
  expect([again.status, again.body.code, again.body.retryable]).toEqual([429, 'RATE_LIMITED', true]);
  expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(3_500);
  expect(again.headers.get('ratelimit-policy')).toBe('"faucet";q=1;w=3600');
  expect(again.body).not.toHaveProperty('retryAfterMs');
});
