import { crc32 } from 'node:zlib';
import type { Answer } from '../support/client';
import { ADMIN_TOKEN, startExchange, type TestExchange } from '../support/exchange';
import {
  createTrader,
  type Domain,
  type Limit,
  type Market,
  openMarket,
  type Trader,
} from '../support/trader';

let exchange: TestExchange;
let domain: Domain;
let market: Market & { slug: string; conditionId: string };
let alice: Trader;
let bob: Trader;
let makerHash: string;
let takerHash: string;

const ISO = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const CLOSES_AT = '2031-01-01T00:00:00.000Z';
const limit = (side: Limit['side'], outcome: 0 | 1, pips: number, lots: number): Limit => ({
  side,
  outcome,
  pips,
  lots,
});
const get = (path: string, headers = {}): Promise<Answer> => exchange.client.get(path, { headers });
const ofMarket = (path: string, headers = {}): Promise<Answer> =>
  get(`/markets/${market.id}${path}`, headers);

/** Bob sells 40 Yes at 0.61 and 10 at 0.64; Alice takes 30, and bids 0.59 for No's mirror. */
beforeAll(async () => {
  exchange = await startExchange();
  const { client } = exchange;
  domain = (await client.get('/config')).body.eip712.domain;
  market = await openMarket(client, ADMIN_TOKEN, {
    question: 'Will it rain?',
    description: 'By the gauge on the roof.',
    category: 'weather',
    tags: ['rain', 'roof'],
    closesAt: CLOSES_AT,
  });
  alice = createTrader(client, domain);
  bob = createTrader(client, domain);
  await bob.post(`/markets/${market.id}/split`, { size: '100' });
  makerHash = (await bob.submit(market, limit('SELL', 0, 6_100, 4_000))).body.orderHash;
  await bob.submit(market, limit('SELL', 0, 6_400, 1_000));
  takerHash = (await alice.submit(market, limit('BUY', 0, 6_200, 3_000), { clientOrderId: 'a.1' })).body
    .orderHash;
  await alice.submit(market, limit('BUY', 0, 5_900, 2_000));
});
afterAll(() => exchange.stop());

const marketBody = () => ({
  id: market.id,
  slug: market.slug,
  conditionId: market.conditionId,
  questionId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  question: 'Will it rain?',
  description: 'By the gauge on the roof.',
  category: 'weather',
  tags: ['rain', 'roof'],
  imageUrl: null,
  status: 'OPEN',
  outcomes: [
    { index: 0, name: 'Yes', tokenId: market.outcomes[0]?.tokenId, price: '0.6' },
    { index: 1, name: 'No', tokenId: market.outcomes[1]?.tokenId, price: '0.4' },
  ],
  tickSize: '0.01',
  lotSize: '0.01',
  minOrderSize: '0.01',
  feeRateBps: 0,
  bestBid: '0.59',
  bestAsk: '0.61',
  midpoint: '0.6',
  spread: '0.02',
  lastTradePrice: '0.61',
  volume: '18.3',
  volume24h: '18.3',
  liquidity: '24.3',
  openInterest: '100',
  resolution: null,
  createdAt: ISO,
  closesAt: CLOSES_AT,
  resolvedAt: null,
  sequence: 5,
});

const bookBody = () => ({
  marketId: market.id,
  conditionId: market.conditionId,
  sequence: 5,
  timestamp: expect.any(Number),
  tickSize: '0.01',
  bids: [{ price: '0.59', size: '20', orders: 1 }],
  asks: [
    { price: '0.61', size: '10', orders: 1 },
    { price: '0.64', size: '10', orders: 1 },
  ],
  outcomes: [
    {
      index: 0,
      tokenId: market.outcomes[0]?.tokenId,
      bids: [{ price: '0.59', size: '20', orders: 1 }],
      asks: [
        { price: '0.61', size: '10', orders: 1 },
        { price: '0.64', size: '10', orders: 1 },
      ],
    },
    {
      index: 1,
      tokenId: market.outcomes[1]?.tokenId,
      bids: [
        { price: '0.39', size: '10', orders: 1 },
        { price: '0.36', size: '10', orders: 1 },
      ],
      asks: [{ price: '0.41', size: '20', orders: 1 }],
    },
  ],
  lastTradePrice: '0.61',
  checksum: crc32('5|b:0.59:20|a:0.61:10,0.64:10').toString(16).padStart(8, '0'),
});

const tickerBody = () => ({
  marketId: market.id,
  conditionId: market.conditionId,
  sequence: 5,
  timestamp: expect.any(Number),
  outcomes: [
    {
      index: 0,
      name: 'Yes',
      tokenId: market.outcomes[0]?.tokenId,
      bestBid: '0.59',
      bestBidSize: '20',
      bestAsk: '0.61',
      bestAskSize: '10',
      midpoint: '0.6',
      spread: '0.02',
      lastTradePrice: '0.61',
      volume24h: '18.3',
      priceChange24h: '0',
    },
    {
      index: 1,
      name: 'No',
      tokenId: market.outcomes[1]?.tokenId,
      bestBid: '0.39',
      bestBidSize: '10',
      bestAsk: '0.41',
      bestAskSize: '20',
      midpoint: '0.4',
      spread: '0.02',
      lastTradePrice: '0.39',
      volume24h: '18.3',
      priceChange24h: '0',
    },
  ],
});

const tradeBody = () => ({
  id: `${market.id}-4-0`,
  sequence: 4,
  marketId: market.id,
  conditionId: market.conditionId,
  outcomeIndex: 0,
  tokenId: market.outcomes[0]?.tokenId,
  side: 'BUY',
  price: '0.61',
  size: '30',
  value: '18.3',
  matchType: 'COMPLEMENTARY',
  makerOrderHash: makerHash,
  takerOrderHash: takerHash,
  matchedAt: ISO,
  settlementStatus: 'MATCHED',
  transactionHash: null,
});

test('a market, by its id, slug and condition id in any case', async () => {
  for (const name of [market.id, market.slug, market.conditionId, market.conditionId.toUpperCase()]) {
    const { status, body } = await get(`/markets/${name}`);
    expect([status, body]).toEqual([200, marketBody()]);
  }
  expect((await get('/markets/none')).body.code).toBe('MARKET_NOT_FOUND');
  expect((await get(`/markets/${'x'.repeat(200)}`)).body.code).toBe('MARKET_NOT_FOUND');
});

test('the order book, its mirror, depth and checksum', async () => {
  expect((await ofMarket('/orderbook')).body).toEqual(bookBody());
  const { body } = await ofMarket('/orderbook?depth=1');
  expect(body.asks).toEqual([{ price: '0.61', size: '10', orders: 1 }]);
  expect(body.outcomes[1].bids).toEqual([{ price: '0.39', size: '10', orders: 1 }]);
  // The checksum is of the book, not of what was asked for.
  expect(body.checksum).toBe(bookBody().checksum);
  for (const depth of ['0', '501', '-1', '1.5', 'x', '', '1&depth=2']) {
    expect((await ofMarket(`/orderbook?depth=${depth}`)).body.code).toBe('INVALID_REQUEST');
  }
});

test('the ETag of a book is its sequence', async () => {
  const { headers } = await ofMarket('/orderbook');
  expect(headers.get('etag')).toBe('"5"');
  for (const tag of ['"5"', 'W/"5"', '"4", "5"', '*']) {
    const { status, text } = await ofMarket('/orderbook', { 'if-none-match': tag });
    expect([status, text]).toEqual([304, '']);
  }
  expect((await ofMarket('/orderbook', { 'if-none-match': '"4"' })).status).toBe(200);
});

test('ticker, trades and the whole trading snapshot', async () => {
  expect((await ofMarket('/ticker')).body).toEqual(tickerBody());
  expect((await ofMarket('/trades')).body).toEqual({ data: [tradeBody()], nextCursor: null });
  const { body } = await ofMarket('/trading');
  const { eip712, contracts } = (await get('/config')).body;
  expect(body).toEqual({
    market: marketBody(),
    orderbook: bookBody(),
    ticker: tickerBody(),
    recentTrades: [tradeBody()],
    eip712,
    approvals: {
      collateral: { token: contracts.collateral, spender: contracts.exchange },
      conditionalTokens: { token: contracts.conditionalTokens, operator: contracts.exchange },
    },
    limits: {
      tickSize: '0.01',
      lotSize: '0.01',
      minOrderSize: '0.01',
      maxOrderSize: '1000000000',
      feeRateBps: 0,
      orderTypes: ['GTC', 'IOC', 'FOK', 'POST_ONLY', 'MARKET'],
    },
    serverTime: expect.any(Number),
    sequence: 5,
  });
});

test('price history: every timeframe, Yes and No, and nothing else', async () => {
  const intervals = { '1h': 60, '6h': 300, '1d': 300, '1w': 1_800, '1m': 10_800, all: 43_200 };
  for (const [timeframe, interval] of Object.entries(intervals)) {
    const { body } = await ofMarket(`/price-history?timeframe=${timeframe}`);
    expect(body).toMatchObject({ marketId: market.id, timeframe, interval });
    expect(body.history.at(-1)).toEqual({ t: expect.any(Number), p: '0.61' });
    expect(body.outcomes[0]).toEqual({
      index: 0,
      tokenId: market.outcomes[0]?.tokenId,
      history: body.history,
    });
    expect(body.outcomes[1].history.at(-1).p).toBe('0.39');
    expect(body.candles[0]).toEqual({
      t: body.history[0].t,
      o: '0.61',
      h: '0.61',
      l: '0.61',
      c: '0.61',
      v: '18.3',
    });
  }
  expect((await ofMarket('/price-history')).body.timeframe).toBe('1d');
  const { status, body } = await ofMarket('/price-history?timeframe=2h');
  expect([status, body.code, body.allowed]).toEqual([
    400,
    'INVALID_TIMEFRAME',
    ['1h', '6h', '1d', '1w', '1m', 'all'],
  ]);
  expect(body.detail).toContain('1h, 6h, 1d, 1w, 1m, all');
});

test('an order, to everybody and to its maker', async () => {
  const body = {
    orderHash: takerHash,
    marketId: market.id,
    conditionId: market.conditionId,
    maker: alice.address,
    outcomeIndex: 0,
    tokenId: market.outcomes[0]?.tokenId,
    side: 'BUY',
    orderType: 'GTC',
    price: '0.62',
    size: '30',
    filledSize: '30',
    remainingSize: '0',
    cancelledSize: '0',
    averagePrice: '0.61',
    status: 'FILLED',
    reason: null,
    expiration: '0',
    clientOrderId: 'a.1',
    createdAt: ISO,
    updatedAt: ISO,
    sequence: 4,
    fills: [
      {
        tradeId: `${market.id}-4-0`,
        price: '0.61',
        size: '30',
        role: 'TAKER',
        matchType: 'COMPLEMENTARY',
        fee: '0',
        settlementStatus: 'MATCHED',
        transactionHash: null,
      },
    ],
  };
  expect((await get(`/orders/${takerHash}`)).body).toEqual(body);
  expect((await bob.get(`/orders/${takerHash}`)).body).toEqual(body);
  const own = await alice.get(`/orders/${takerHash}`);
  expect(own.body).toEqual({
    ...body,
    order: expect.objectContaining({ maker: alice.address, side: 0, nonce: '0' }),
  });
  const again = await exchange.client.post(`/markets/${market.id}/orders`, {
    body: { order: own.body.order },
  });
  expect([again.body.orderHash, again.headers.get('idempotent-replayed')]).toEqual([takerHash, 'true']);
  expect((await get(`/orders/${takerHash}`, { authorization: 'Bearer x' })).body.code).toBe('TOKEN_INVALID');
  expect((await get(`/orders/0x${'00'.repeat(32)}`)).body.code).toBe('ORDER_NOT_FOUND');
});

test('balances', async () => {
  expect((await alice.get('/me/balances')).body).toEqual({
    collateral: { total: '999999981.7', available: '999999969.9', reserved: '11.8' },
    tokens: [
      {
        marketId: market.id,
        outcomeIndex: 0,
        tokenId: market.outcomes[0]?.tokenId,
        total: '30',
        available: '30',
        reserved: '0',
      },
    ],
  });
});

test('my orders: filters and pages', async () => {
  const hashes = async (query: string): Promise<string[]> =>
    (await bob.get(`/me/orders${query}`)).body.data.map((order: { orderHash: string }) => order.orderHash);
  const all = await hashes('');
  expect(all).toHaveLength(2);
  expect(all[1]).toBe(makerHash);
  expect(await hashes('?status=PARTIALLY_FILLED')).toEqual([makerHash]);
  expect(await hashes('?status=open')).toEqual(all);
  expect(await hashes('?side=BUY')).toEqual([]);
  expect(await hashes(`?marketId=${market.slug}&side=SELL`)).toEqual(all);
  const first = (await bob.get('/me/orders?limit=1')).body;
  expect(first.data).toHaveLength(1);
  const second = (await bob.get(`/me/orders?limit=1&cursor=${first.nextCursor}`)).body;
  expect([first.data[0].orderHash, second.data[0].orderHash, second.nextCursor]).toEqual([...all, null]);
  for (const query of ['?status=open&status=FILLED', '?status=OPENED', '?side=buy']) {
    expect((await bob.get(`/me/orders${query}`)).body.code).toBe('INVALID_REQUEST');
  }
  expect((await bob.get('/me/orders?cursor=nonsense')).body.code).toBe('INVALID_CURSOR');
  expect((await get('/me/orders')).body.code).toBe('UNAUTHORIZED');
});

test('a walk over trades neither skips nor repeats a row while trades are added', async () => {
  const busy = await openMarket(exchange.client, ADMIN_TOKEN);
  await bob.post(`/markets/${busy.id}/split`, { size: '100' });
  await bob.submit(busy, limit('SELL', 0, 5_000, 5_000));
  const trade = async (): Promise<void> => {
    await alice.submit(busy, limit('BUY', 0, 5_000, 100));
  };
  for (let i = 0; i < 7; i++) await trade();
  const seen: number[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await get(`/markets/${busy.id}/trades?limit=2${query}`);
    seen.push(...body.data.map((row: { sequence: number }) => row.sequence));
    cursor = body.nextCursor;
    await trade();
  } while (cursor !== null);
  expect(seen).toEqual([9, 8, 7, 6, 5, 4, 3]);
  expect((await get(`/markets/${busy.id}/trades?limit=100000`)).body.data.length).toBeGreaterThan(7);
  expect((await get(`/markets/${busy.id}/trades?cursor=x`)).body.code).toBe('INVALID_CURSOR');
  for (const text of ['0', '-1', '1.5', '1e3', '', 'x', '1&limit=2', '%31%20']) {
    expect((await get(`/markets/${busy.id}/trades?limit=${text}`)).body.code).toBe('INVALID_LIMIT');
  }
});

test('the list of markets: filters, sorts, pages, and never a draft', async () => {
  const draft = await openMarket(exchange.client, ADMIN_TOKEN, { category: 'secret', draft: true });
  const soon = await openMarket(exchange.client, ADMIN_TOKEN, {
    question: 'Will the Roof hold?',
    category: 'weather',
    closesAt: '2030-01-01T00:00:00Z',
  });
  const ids = async (query: string): Promise<string[]> =>
    (await get(`/markets${query}`)).body.data.map(({ id }: { id: string }) => id);
  expect((await ids('?limit=100')).includes(draft.id)).toBe(false);
  expect((await get(`/markets/${market.id}`)).body).toEqual((await get('/markets?tag=rain')).body.data[0]);
  expect((await ids('?sort=createdAt'))[0]).toBe(soon.id);
  expect((await ids('?sort=closesAt')).slice(0, 2)).toEqual([soon.id, market.id]);
  expect(await ids('?category=weather&sort=liquidity')).toEqual([market.id, soon.id]);
  expect(await ids('?q=roof%20rain')).toEqual([market.id]);
  expect(await ids('?q=HOLD')).toEqual([soon.id]);
  expect(await ids('?status=CLOSED')).toEqual([]);
  for (const query of ['?status=DRAFT', '?sort=name', '?sort=volume&sort=volume', '?q=%E0%A4']) {
    expect((await get(`/markets${query}`)).body.code).toBe('INVALID_REQUEST');
  }
  const walked: string[] = [];
  let cursor: string | null = null;
  do {
    const { body }: Answer = await get(`/markets?sort=createdAt&limit=1${cursor ? `&cursor=${cursor}` : ''}`);
    walked.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
    await openMarket(exchange.client, ADMIN_TOKEN);
  } while (cursor !== null && walked.length < 20);
  expect(walked).toEqual([...new Set(walked)]);
  expect(walked.at(-1)).toBe(market.id);
  const { body: page } = await get('/markets?limit=1');
  expect((await get(`/markets?sort=volume&cursor=${page.nextCursor}`)).body.code).toBe('INVALID_CURSOR');
  const { body } = await get('/categories');
  expect(body.data).toContainEqual({ slug: 'weather', name: 'Weather', count: 2 });
  expect(body.data.map(({ slug }: { slug: string }) => slug)).not.toContain('secret');
});

test('a market without trades or orders has no prices', async () => {
  const quiet = await openMarket(exchange.client, ADMIN_TOKEN);
  const { body } = await get(`/markets/${quiet.id}/trading`);
  expect(body.market.outcomes.map(({ price }: { price: null }) => price)).toEqual([null, null]);
  expect(body.market).toMatchObject({
    bestBid: null,
    bestAsk: null,
    midpoint: null,
    spread: null,
    lastTradePrice: null,
  });
  expect(body.orderbook).toMatchObject({ bids: [], asks: [], lastTradePrice: null });
  expect(body.orderbook.checksum).toBe(crc32('1|b:|a:').toString(16).padStart(8, '0'));
  expect(body.ticker.outcomes[0]).toMatchObject({
    bestBid: null,
    bestBidSize: null,
    midpoint: null,
    priceChange24h: null,
  });
  expect((await get(`/markets/${quiet.id}/price-history`)).body).toMatchObject({ history: [], candles: [] });
});

test('what the exchange is', async () => {
  const { body } = await get('/config');
  expect(body).toMatchObject({
    network: 'testnet',
    chainId: 97,
    funds: 'paper',
    mode: 'NORMAL',
    durability: 'none',
  });
  expect(body.eip712).toMatchObject({ domain, primaryType: 'Order' });
  expect(Math.abs((await get('/time')).body.timestamp - Date.now())).toBeLessThan(5_000);
  expect((await get('/livez')).body).toEqual({ status: 'alive' });
  expect((await get('/readyz')).body).toEqual({
    status: 'ready',
    redis: true,
    scripts: true,
    durability: 'none',
  });
});
