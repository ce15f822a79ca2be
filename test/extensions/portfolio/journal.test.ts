import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Market,
  type OpenMarket,
  openMarket,
  type Trader,
} from '../../support/trader';
import { ISO, limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let domain: Domain;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2, env: { PAPER_GRANT: '10000' } });
  domain = await domainOf(exchange.client);
});
afterAll(() => exchange?.stop());

const newTrader = (at = 0): Trader => createTrader((exchange.replicas[at as 0] ?? exchange).client, domain);
const newMarket = (body = {}): Promise<OpenMarket> => openMarket(exchange.client, ADMIN_TOKEN, body);
const admin = (path: string, body?: object): Promise<Answer> =>
  exchange.client.post(path, { token: ADMIN_TOKEN, ...(body ? { body } : {}) });

/** Size, average price, value, realized and unrealized of each outcome. */
async function positions(trader: Trader, market: Market): Promise<Record<string, (string | null)[]>> {
  const { status, body } = await trader.get(`/me/positions?marketId=${market.id}`);
  expect([status, body.nextCursor]).toEqual([200, null]);
  return Object.fromEntries(
    body.data.map((row: Record<string, string>) => [
      row.outcomeIndex ? 'No' : 'Yes',
      [row.size, row.averagePrice, row.currentValue, row.realizedPnl, row.unrealizedPnl],
    ]),
  );
}

/** What a line of the activity has null when it is no trade. */
const NO_TRADE = Object.fromEntries(
  [
    'marketId',
    'conditionId',
    'side',
    'outcomeIndex',
    'role',
    'price',
    'size',
    'fee',
    'feeAsset',
    'tradeId',
    'orderHash',
    'yesPrice',
  ].map((name) => [name, null]),
);

const changesOf = async (trader: Trader, query = ''): Promise<string[]> =>
  (await trader.get(`/me/activity${query}`)).body.data.map(
    ({ type, changes }: { type: string; changes: Record<string, string> }) =>
      `${type} ${changes.collateral} ${changes.yes} ${changes.no}`,
  );

test('a position has average cost, value and profit from the split to the payout', async () => {
  const [alice, bob] = [newTrader(0), newTrader(1)];
  const market = await newMarket();
  await bob.post(`/markets/${market.id}/split`, { size: '100' });
  expect(await positions(bob, market)).toEqual({
    Yes: ['100', '0.5', null, '0', null],
    No: ['100', '0.5', null, '0', null],
  });
  await bob.submit(market, limit('SELL', 0, 6_000, 4_000));
  await alice.submit(market, limit('BUY', 0, 6_500, 3_000));
  await bob.submit(market, limit('SELL', 0, 7_000, 1_000));
  await alice.submit(market, limit('BUY', 0, 7_000, 2_000));
  // Alice: 40 at 0.60 and 10 at 0.70. Bob gave 50 that had cost 0.50.
  expect(await positions(alice, market)).toEqual({ Yes: ['50', '0.62', '35', '0', '4'] });
  expect(await positions(bob, market)).toEqual({
    Yes: ['50', '0.5', '35', '6', '10'],
    No: ['100', '0.5', '30', '0', '-20'],
  });
  await bob.post(`/markets/${market.id}/merge`, { size: '20' });
  expect(await positions(bob, market)).toEqual({
    Yes: ['30', '0.5', '21', '10', '6'],
    No: ['80', '0.5', '24', '-4', '-16'],
  });
  // A narrow spread is what counts when there is one: 0.64 and 0.68.
  await alice.submit(market, limit('SELL', 0, 6_800, 500));
  await bob.submit(market, limit('BUY', 0, 6_400, 100));
  expect((await positions(alice, market)).Yes).toEqual(['50', '0.62', '33', '0', '2']);
  await admin(`/admin/markets/${market.id}/resolve`, { outcomeIndex: 0 });
  expect(await positions(alice, market)).toEqual({ Yes: ['0', null, '0', '19', '0'] });
  expect(await positions(bob, market)).toEqual({
    Yes: ['0', null, '0', '25', '0'],
    No: ['0', null, '0', '-44', '0'],
  });
  expect(await changesOf(alice)).toEqual([
    'REDEEM 50 -50 0',
    'TRADE -7 10 0',
    'TRADE -6 10 0',
    'TRADE -18 30 0',
    'GRANT 10000 0 0',
  ]);
  expect(await changesOf(bob)).toEqual([
    'REDEEM 30 -30 -80',
    'MERGE 20 -20 -20',
    'TRADE 7 -10 0',
    'TRADE 6 -10 0',
    'TRADE 18 -30 0',
    'SPLIT -100 100 100',
    'GRANT 10000 0 0',
  ]);
  for (const [trader, cash] of [
    [alice, '10019'],
    [bob, '9981'],
  ] as const) {
    expect((await trader.get('/me/balances')).body.collateral.total).toBe(cash);
  }
});

test('a split and a merge count each outcome at the price of their moment, and gain nothing', async () => {
  const [alice, bob] = [newTrader(0), newTrader(1)];
  const market = await newMarket();
  // Between 0.89 and 0.92, so a set costs 0.905 and 0.095.
  await alice.submit(market, limit('BUY', 0, 8_900, 1_000));
  await alice.submit(market, limit('BUY', 1, 800, 1_000));
  await bob.post(`/markets/${market.id}/split`, { size: '100' });
  expect(await positions(bob, market)).toEqual({
    Yes: ['100', '0.905', '90.5', '0', '0'],
    No: ['100', '0.095', '9.5', '0', '0'],
  });
  await bob.post(`/markets/${market.id}/merge`, { size: '60' });
  expect(await positions(bob, market)).toEqual({
    Yes: ['40', '0.905', '36.2', '0', '0'],
    No: ['40', '0.095', '3.8', '0', '0'],
  });
  // The last trade counts where there is no spread; what cannot be divided belongs to No.
  await bob.submit(market, limit('SELL', 0, 8_900, 1_000));
  await bob.post(`/markets/${market.id}/split`, { size: '0.01' });
  expect(await positions(bob, market)).toEqual({
    Yes: ['30.01', '0.904995', '26.7089', '-0.15', '-0.45'],
    No: ['40.01', '0.095004', '4.4011', '0', '0.6'],
  });
  const lines = (await bob.get('/me/activity')).body.data;
  expect(lines.map(({ type, yesPrice }: Record<string, string>) => [type, yesPrice])).toEqual([
    ['SPLIT', '0.89'],
    ['TRADE', null],
    ['MERGE', '0.905'],
    ['SPLIT', '0.905'],
    ['GRANT', null],
  ]);
  expect((await bob.get('/me/portfolio')).body.pnl.total).toBe('0');
});

test('a void market pays one half for each token', async () => {
  const [alice, bob] = [newTrader(), newTrader()];
  const market = await newMarket();
  await bob.submit(market, limit('BUY', 1, 4_000, 1_000));
  await alice.submit(market, limit('BUY', 0, 6_000, 1_000));
  expect(await positions(alice, market)).toEqual({ Yes: ['10', '0.6', '6', '0', '0'] });
  expect(await positions(bob, market)).toEqual({ No: ['10', '0.4', '4', '0', '0'] });
  await admin(`/admin/markets/${market.id}/void`);
  expect(await positions(alice, market)).toEqual({ Yes: ['0', null, '0', '-1', '0'] });
  expect(await positions(bob, market)).toEqual({ No: ['0', null, '0', '1', '0'] });
});

test('fees are part of the cost and of the proceeds', async () => {
  const [alice, bob] = [newTrader(), newTrader()];
  const market = await newMarket({ feeRateBps: 200 });
  const more = { more: { feeRateBps: '200' } };
  await bob.post(`/markets/${market.id}/split`, { size: '100' });
  await bob.submit(market, limit('SELL', 0, 4_000, 10_000), more);
  await alice.submit(market, limit('BUY', 0, 4_000, 10_000), more);
  // 2 % of min(0.4, 0.6): Alice gets 98 tokens for 40, Bob 39.2 for what cost him 50.
  expect((await positions(alice, market)).Yes).toEqual(['98', '0.408163', '39.2', '0', '-0.8']);
  expect((await positions(bob, market)).Yes).toEqual(['0', null, '0', '-10.8', '0']);
  const { body } = await alice.get('/me/activity');
  expect(body.data[0]).toMatchObject({
    fee: '2',
    size: '100',
    changes: { collateral: '-40', yes: '98', no: '0' },
  });
});

test('trades and activity show the part of the wallet’s own order, and a wallet that trades with itself has two lines', async () => {
  const [alice, bob] = [newTrader(), newTrader()];
  const market = await newMarket();
  const maker = await bob.submit(market, limit('BUY', 1, 4_000, 1_000), { clientOrderId: 'mine' });
  const taker = await alice.submit(market, limit('BUY', 0, 6_500, 1_000));
  const [row] = (await bob.get('/me/trades')).body.data;
  const [{ id }] = (await exchange.client.get(`/markets/${market.id}/trades`)).body.data;
  expect(row).toEqual({
    ...(await exchange.client.get(`/markets/${market.id}/trades`)).body.data[0],
    role: 'MAKER',
    own: {
      orderHash: maker.body.orderHash,
      clientOrderId: 'mine',
      role: 'MAKER',
      side: 'BUY',
      outcomeIndex: 1,
      tokenId: market.outcomes[1]?.tokenId,
      price: '0.4',
      size: '10',
      fee: '0',
      feeAsset: 'NO',
    },
  });
  expect((await alice.get('/me/activity')).body.data).toEqual([
    {
      id: '1-0',
      type: 'TRADE',
      occurredAt: ISO,
      marketId: market.id,
      conditionId: market.conditionId,
      side: 'BUY',
      outcomeIndex: 0,
      role: 'TAKER',
      price: '0.6',
      size: '10',
      fee: '0',
      feeAsset: 'YES',
      tradeId: id,
      orderHash: taker.body.orderHash,
      yesPrice: null,
      changes: { collateral: '-6', yes: '10', no: '0' },
    },
    {
      ...NO_TRADE,
      id: '0-0',
      type: 'GRANT',
      occurredAt: ISO,
      changes: { collateral: '10000', yes: '0', no: '0' },
    },
  ]);
  await alice.submit(market, limit('SELL', 0, 7_000, 200));
  await alice.submit(market, limit('BUY', 0, 7_000, 200));
  const roles = (await alice.get('/me/trades')).body.data.map((trade: { role: string }) => trade.role);
  expect(roles).toEqual(['MAKER', 'TAKER', 'TAKER']);
  // Sold at 0.70 what cost 0.60, and bought back.
  expect((await positions(alice, market)).Yes).toEqual(['10', '0.62', '7', '0.2', '0.8']);
  await alice.post('/me/faucet');
  expect((await alice.get('/me/activity?limit=1')).body.data[0]).toMatchObject({
    type: 'FAUCET',
    marketId: null,
    side: null,
    changes: { collateral: '10000', yes: '0', no: '0' },
  });
});

test('a walk neither skips nor repeats a line while lines are added, even within one match', async () => {
  const [alice, bob] = [newTrader(0), newTrader(1)];
  const market = await newMarket();
  const other = await newMarket();
  await bob.post(`/markets/${market.id}/split`, { size: '100' });
  for (let i = 0; i < 7; i++) await bob.submit(market, limit('SELL', 0, 5_000 + 100 * i, 100));
  await alice.submit(market, limit('BUY', 0, 9_000, 700));
  for (let i = 0; i < 3; i++) {
    await bob.submit(market, limit('SELL', 0, 8_000, 100));
    await alice.submit(market, limit('BUY', 0, 8_000, 100));
  }
  for (const list of ['trades', 'activity']) {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body }: Answer = await alice.get(`/me/${list}?limit=3${cursor ? `&cursor=${cursor}` : ''}`);
      seen.push(
        ...body.data.flatMap(({ type, price }: Record<string, string>) => (type === 'GRANT' ? [] : [price])),
      );
      cursor = body.nextCursor;
      await alice.post(`/markets/${other.id}/split`, { size: '1' });
      await alice.submit(other, limit('BUY', 0, 5_000, 100));
      await alice.submit(other, limit('SELL', 0, 5_000, 100));
    } while (cursor !== null);
    expect(seen.slice(-10)).toEqual([
      '0.8',
      '0.8',
      '0.8',
      '0.56',
      '0.55',
      '0.54',
      '0.53',
      '0.52',
      '0.51',
      '0.5',
    ]);
    if (list === 'trades') expect(seen).toHaveLength(10);
  }
  expect((await alice.get(`/me/trades?marketId=${market.id}`)).body.data).toHaveLength(10);
  const walked: string[] = [];
  let cursor: string | null = null;
  do {
    const { body }: Answer = await alice.get(`/me/positions?limit=1${cursor ? `&cursor=${cursor}` : ''}`);
    walked.push(...body.data.map((row: Record<string, string>) => `${row.marketId} ${row.outcomeIndex}`));
    cursor = body.nextCursor;
    await alice.post(`/markets/${(await newMarket()).id}/split`, { size: '1' });
  } while (cursor !== null);
  expect(walked).toEqual([`${other.id} 0`, `${other.id} 1`, `${market.id} 0`]);
});

test('invalid queries are refused, and no wallet sees another’s books', async () => {
  const alice = newTrader();
  for (const path of ['/me/positions', '/me/trades', '/me/activity']) {
    expect((await exchange.client.get(path)).body.code).toBe('UNAUTHORIZED');
    expect((await alice.get(path)).body).toEqual({ data: [], nextCursor: null });
    for (const [query, code] of [
      ['limit=0', 'INVALID_LIMIT'],
      ['limit=1e2', 'INVALID_LIMIT'],
      ['cursor=', 'INVALID_CURSOR'],
      ['cursor=-1-0', 'INVALID_CURSOR'],
      ['cursor=99999999999999999999-0', 'INVALID_CURSOR'],
      ['cursor=%00', 'INVALID_CURSOR'],
      ['cursor=0-0&cursor=0-0', 'INVALID_CURSOR'],
      ['marketId=nowhere', 'MARKET_NOT_FOUND'],
      ['marketId=', 'INVALID_REQUEST'],
      [`marketId=${'x'.repeat(201)}`, 'INVALID_REQUEST'],
      ['marketId=%ff', 'INVALID_REQUEST'],
    ]) {
      const { status, body } = await alice.get(`${path}?${query}`);
      expect([query, status < 500, body.code]).toEqual([query, true, code]);
    }
    expect((await exchange.client.post(path, { token: await alice.token() })).status).toBe(405);
  }
  expect((await alice.get('/me/positions?status=all')).body.code).toBe('INVALID_REQUEST');
});
