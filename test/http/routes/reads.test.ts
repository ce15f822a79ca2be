import { crc32 } from 'node:zlib';
import { TypedDataEncoder } from 'ethers';
import { CANDLE_INTERVALS } from '../../../src/wire/answers/candles';
import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { type Domain, type OpenMarket, openMarket, type Trader } from '../../support/trader';
import {
  bookBody,
  ISO,
  marketBody,
  openWeatherMarket,
  tickerBody,
  tradeBody,
  type WeatherMarket,
} from '../../support/weather-market';
import type { WebReplicas } from '../../support/web-replicas';

let weather: WeatherMarket;
let exchange: WebReplicas;
let domain: Domain;
let market: OpenMarket;
let alice: Trader;
let bob: Trader;
let takerHash: string;

beforeAll(async () => {
  weather = await openWeatherMarket();
  ({ exchange, domain, market, alice, bob, takerHash } = weather);
});
afterAll(() => weather.exchange.stop());

const get = (path: string, headers = {}): Promise<Answer> => weather.exchange.client.get(path, { headers });
const ofMarket = (path: string, headers = {}): Promise<Answer> =>
  get(`/markets/${market.id}${path}`, headers);

test('a market is found by its id, slug and condition id in any case', async () => {
  for (const name of [market.id, market.slug, market.conditionId, market.conditionId.toUpperCase()]) {
    const { status, body } = await get(`/markets/${name}`);
    expect([status, body]).toEqual([200, marketBody(market)]);
  }
  expect((await get('/markets/none')).body.code).toBe('MARKET_NOT_FOUND');
  expect((await get(`/markets/${'x'.repeat(200)}`)).body.code).toBe('MARKET_NOT_FOUND');
});

test('the order book has its mirror, depth and checksum', async () => {
  expect((await ofMarket('/orderbook')).body).toEqual(bookBody(market));
  const { body } = await ofMarket('/orderbook?depth=1');
  expect(body.asks).toEqual([{ price: '0.61', size: '10', orders: 1 }]);
  expect(body.outcomes[1].bids).toEqual([{ price: '0.39', size: '10', orders: 1 }]);
  // The checksum covers the book, not the requested depth.
  expect(body.checksum).toBe(bookBody(market).checksum);
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

test('twenty tags of If-None-Match are compared, and no more', async () => {
  const behind = (others: number) => `${'"1", '.repeat(others)}"5"`;
  expect((await ofMarket('/orderbook', { 'if-none-match': behind(19) })).status).toBe(304);
  for (const others of [20, 2_000])
    expect((await ofMarket('/orderbook', { 'if-none-match': behind(others) })).status).toBe(200);
});

test('ticker, trades and trading snapshot have exactly the documented bodies', async () => {
  expect((await ofMarket('/ticker')).body).toEqual(tickerBody(market));
  expect((await ofMarket('/trades')).body).toEqual({ data: [tradeBody(weather)], nextCursor: null });
  const { body } = await ofMarket('/trading');
  const { eip712, contracts } = (await get('/config')).body;
  expect(body).toEqual({
    market: marketBody(market),
    orderbook: bookBody(market),
    ticker: tickerBody(market),
    recentTrades: [tradeBody(weather)],
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

test('price history exists for every timeframe, for Yes and No, and for nothing else', async () => {
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
  const wrong = await ofMarket('/candles?interval=7m');
  expect([wrong.status, wrong.body.code, wrong.body.allowed]).toEqual([
    ...[400, 'INVALID_REQUEST', CANDLE_INTERVALS],
  ]);
});

test('an order is shown without its client order id, except to its maker', async () => {
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
    clientOrderId: null,
    createdAt: ISO,
    updatedAt: ISO,
    sequence: 4,
    fillCount: 1,
    fills: [
      {
        tradeId: `${market.id}-4-0`,
        price: '0.61',
        size: '30',
        role: 'TAKER',
        matchType: 'COMPLEMENTARY',
        fee: '0',
        feeAsset: 'YES',
        matchedAt: ISO,
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
    clientOrderId: 'a.1',
    order: expect.objectContaining({ maker: alice.address, side: 0, nonce: '0' }),
  });
  const again = await exchange.client.post(`/markets/${market.id}/orders`, {
    body: { order: own.body.order },
  });
  expect([again.body.orderHash, again.headers.get('idempotent-replayed')]).toEqual([takerHash, 'true']);
  expect((await get(`/orders/${takerHash}`, { authorization: 'Bearer x' })).body.code).toBe('TOKEN_INVALID');
  expect((await get(`/orders/0x${'00'.repeat(32)}`)).body.code).toBe('ORDER_NOT_FOUND');
});

test('balances show free and reserved amounts', async () => {
  expect((await alice.get('/me/balances')).body).toEqual({
    collateral: { total: '999981.7', available: '999969.9', reserved: '11.8' },
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

test('the facts about the exchange have exactly the documented bodies', async () => {
  const { body } = await get('/config');
  expect(body).toMatchObject({
    network: 'testnet',
    chainId: 97,
    funds: 'paper',
    shards: 1,
    mode: 'NORMAL',
    durability: 'none',
  });
  expect(body.eip712).toMatchObject({ domain, primaryType: 'Order' });
  const { types, typesWithDomain } = body.eip712;
  // What a wallet does with `eth_signTypedData_v4`: both types are given.
  const { EIP712Domain, ...rest } = typesWithDomain;
  expect(rest).toEqual(types);
  expect(TypedDataEncoder.hashStruct('EIP712Domain', { EIP712Domain }, domain)).toBe(
    TypedDataEncoder.hashDomain(domain),
  );
  expect(Math.abs((await get('/time')).body.timestamp - Date.now())).toBeLessThan(5_000);
  expect((await get('/livez')).body).toEqual({ status: 'alive' });
  expect((await get('/readyz')).body).toEqual({
    status: 'ready',
    redis: true,
    scripts: true,
    archive: null,
    layout: expect.any(Number),
    durability: 'none',
    epoch: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
});
