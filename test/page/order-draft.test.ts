import { estimate, freeOf, type Inputs, judge, type Standing } from '../../src/page/order-draft';
import { filledWords } from '../../src/page/order-words';
import { submitWords } from '../../src/page/parts/ticket-words';
import { dollarsTyped } from '../../src/page/units';

const market = {
  tickSize: '0.01',
  lotSize: '0.01',
  minOrderSize: '1',
  feeRateBps: 0,
  status: 'OPEN',
} as const;
const book = {
  asks: [
    { price: '0.55', size: '100' },
    { price: '0.6', size: '50' },
  ],
  bids: [{ price: '0.5', size: '80' }],
};
const standing: Standing = { market, book, free: { cashMicro: 100_000_000, lots: 2_000 } };
const inputs = (more: Partial<Inputs>): Inputs => ({
  side: 'BUY',
  outcome: 0,
  orderType: 'GTC',
  price: '55',
  shares: '10',
  ...more,
});
const preview = (more: Partial<Inputs>, at: Standing = standing) => estimate(inputs(more), at)?.preview;
const refused = (more: Partial<Inputs>, at: Standing = standing) => {
  const judged = judge(inputs(more), at);
  return 'refused' in judged ? judged.refused : null;
};

test('the preview fills from the book, and the rest waits at the limit', () => {
  expect(preview({ price: '60', shares: '120' })).toMatchObject({
    filledLots: 12_000,
    restingLots: 0,
    costMicro: 67_000_000,
    payoutMicro: 120_000_000,
    averageMicro: 558_333,
  });
  expect(preview({ shares: '120' })).toMatchObject({
    filledLots: 10_000,
    restingLots: 2_000,
    costMicro: 66_000_000,
  });
  expect(preview({ shares: '120', orderType: 'IOC' })).toMatchObject({
    restingLots: 0,
    costMicro: 55_000_000,
  });
  expect(preview({ shares: '120', orderType: 'POST_ONLY' })).toMatchObject({
    wouldTrade: true,
    filledLots: 0,
    restingLots: 12_000,
  });
  expect(preview({ side: 'SELL', price: '40', shares: '90' })).toMatchObject({
    filledLots: 8_000,
    costMicro: 44_000_000,
    payoutMicro: 44_000_000,
  });
});

test('a buyer pays the fee in shares, a seller in money', () => {
  const at = { ...standing, market: { ...market, feeRateBps: 100 } };
  // 1% of the cheaper outcome's 45 cents for 10 shares, in shares at 55 cents.
  expect(preview({}, at)).toMatchObject({ costMicro: 5_500_000, payoutMicro: 10_000_000 - 81_818 });
  expect(preview({ side: 'SELL', price: '50' }, at)).toMatchObject({ payoutMicro: 5_000_000 - 50_000 });
  // The same at a limit above the price of the fill; and level by level.
  expect(preview({ price: '95' }, at)).toMatchObject({ feeMicro: 81_818 });
  expect(preview({ price: '60', shares: '120' }, at)).toMatchObject({ feeMicro: 818_181 + 133_333 });
});

test('the budget of a MARKET order is the present cost of its shares, and its limit is a little beyond the last level', () => {
  expect(judge(inputs({ orderType: 'MARKET', price: '', shares: '120' }), standing)).toEqual({
    order: { outcomeIndex: 0, side: 'BUY', orderType: 'MARKET', price: '0.63', budget: '67' },
  });
  expect(judge(inputs({ orderType: 'MARKET', price: '57', shares: '120' }), standing)).toEqual({
    order: { outcomeIndex: 0, side: 'BUY', orderType: 'MARKET', price: '0.57', budget: '55' },
  });
  expect(judge(inputs({ orderType: 'MARKET', side: 'SELL', price: '', shares: '20' }), standing)).toEqual({
    order: { outcomeIndex: 0, side: 'SELL', orderType: 'MARKET', price: '0.47', size: '20' },
  });
  expect(refused({ orderType: 'MARKET', price: '' }, { ...standing, book: null })?.text).toMatch(
    /^Nobody offers/,
  );
  expect(refused({ orderType: 'MARKET', price: '54' })).toMatchObject({ field: 'price' });
});

test.each([
  ['', 'price', /^Enter a price/],
  ['abc', 'price', /number of cents/],
  ['0', 'price', /between 1¢ and 99¢/],
  ['100', 'price', /between 1¢ and 99¢/],
  ['55.5', 'price', /try 55¢ or 56¢/],
  ['55.555', 'price', /number of cents/],
])('the price %j is refused', (price, field, text) => {
  expect(refused({ price })).toEqual({ field, text: expect.stringMatching(text) });
});

test.each([
  ['', /^Enter a number of shares/],
  ['ten', /as a number/],
  ['1.005', /steps of 0\.01/],
  ['0.5', /^Enter between 1 and/],
  ['0', /^Enter between 1 and/],
  ['1000000001', /^Enter between 1 and/],
])('%j shares are refused', (shares, text) => {
  expect(refused({ shares, price: '1' })).toEqual({ field: 'shares', text: expect.stringMatching(text) });
});

test('an order whose date is still empty does not become one that never expires', () => {
  expect(refused({ expiresAtMs: Number.NaN })?.text).toMatch(/^Choose the date/);
  expect(refused({ expiresAtMs: null })).toBeNull();
});

test('numbers are read as people write them', () => {
  for (const price of ['55', ' 55¢', '55.0', '55,00']) expect(refused({ price })).toBeNull();
  for (const shares of ['1,000', '1 000', '1000.00']) {
    expect(estimate(inputs({ shares, price: '1' }), standing)?.lots).toBe(100_000);
  }
});

test('funds and post-only are checked against the known data, and the exchange checks the unknown', () => {
  expect(refused({ shares: '200' })).toMatchObject({
    field: 'shares',
    text: expect.stringMatching(/^This needs \$110/),
  });
  expect(refused({ side: 'SELL', shares: '21' })?.text).toMatch(
    /^You would sell 21 Yes shares and have 20 free/,
  );
  expect(refused({ orderType: 'POST_ONLY', price: '56' })?.text).toMatch(/against 55¢/);
  expect(refused({ orderType: 'POST_ONLY', side: 'SELL', price: '50' })?.text).toMatch(/Ask for more/);
  const blind = { ...standing, book: null, free: null };
  expect(refused({ shares: '200' }, blind)).toBeNull();
  expect(refused({ orderType: 'POST_ONLY', price: '56' }, blind)).toBeNull();
});

test('the free size to sell is of this market and outcome, in whole lots', () => {
  const token = {
    marketId: 'm',
    outcomeIndex: 1,
    tokenId: '1',
    total: '5',
    available: '3.999999',
    reserved: '0',
  } as const;
  const balances = { collateral: { total: '9', available: '7.5', reserved: '1.5' }, tokens: [token] };
  expect(freeOf(balances, 'm', 1)).toEqual({ cashMicro: 7_500_000, lots: 399 });
  expect(freeOf(balances, 'm', 0)).toEqual({ cashMicro: 7_500_000, lots: 0 });
  expect(freeOf(null, 'm', 0)).toBeNull();
});

test('dollars at a limit are the shares that they buy at that price, in whole lots and never for more', () => {
  const dollars = { shares: '', amount: '20', price: '30' };
  const order = { outcomeIndex: 0, side: 'BUY', orderType: 'GTC', price: '0.3', size: '66.66' };
  expect(judge(inputs(dollars), standing)).toEqual({ order });
  const whole = { ...standing, market: { ...market, lotSize: '5' } };
  expect(judge(inputs(dollars), whole)).toEqual({ order: { ...order, size: '65' } });
  expect(estimate(inputs(dollars), whole)).toMatchObject({ lots: 6_500, preview: { costMicro: 19_500_000 } });
  for (const [amount, text] of [
    ['0.2', /^Enter between 1 and/],
    ['200', /^This needs \$200 /],
    ['much', /^Enter an amount in dollars/],
  ] as const)
    expect(refused({ ...dollars, amount })).toEqual({ field: 'amount', text: expect.stringMatching(text) });
  expect(refused({ ...dollars, price: '' })).toMatchObject({ field: 'price' });
});

test('the button says which part the book can fill of an order that does not wait', () => {
  const words = (more: Partial<Inputs>): string =>
    submitWords(inputs(more), estimate(inputs(more), standing), 'Yes', true);
  const spent = { orderType: 'MARKET', price: '', shares: '' } as const;
  // The whole book is 100 shares at 55 cents and 50 at 60.
  expect(words({ ...spent, amount: '85' })).toBe('Buy Yes, $85');
  expect(words({ ...spent, amount: '1,000' })).toBe('Buy Yes, $85 of $1,000');
  // Less than a lot costs is left.
  expect(words({ ...spent, amount: '0.01' })).toBe('Buy Yes, $0.01');
  expect(words({ ...spent, amount: '100', price: '57' })).toBe('Buy Yes, $55 of $100');
  expect(words({ orderType: 'MARKET', side: 'SELL', price: '', shares: '100' })).toBe('Sell 80 of 100 Yes');
  expect(words({ orderType: 'IOC', price: '55', shares: '120' })).toBe('Buy 100 of 120 Yes at 55¢');
  expect(words({ price: '55', shares: '120' })).toBe('Buy 120 Yes at 55¢');
});

test('a fill is told with what it cost and pays, after its fee, unless the answer has a part of it only', () => {
  const fill = {
    tradeId: 't',
    matchType: 'MINT',
    makerOrderHash: '0x',
    feeAsset: 'YES',
    matchedAt: '',
  } as const;
  const placed = {
    filledSize: '46.51',
    averagePrice: '0.43',
    fillCount: 2,
    fills: [
      { ...fill, price: '0.43', size: '40', fee: '0.4' },
      { ...fill, price: '0.43', size: '6.51', fee: '0' },
    ],
  };
  expect(filledWords('BUY', placed, 'Yes')).toBe('Bought 46.51 Yes for $20, pays $46.11 if Yes');
  expect(filledWords('BUY', { ...placed, fillCount: 3 }, 'Yes')).toBe('Bought 46.51 Yes at 43¢');
  expect(filledWords('SELL', placed, 'Yes')).toBe('Sold 46.51 Yes at 43¢');
  expect(filledWords('BUY', { ...placed, averagePrice: null }, 'Yes')).toBeNull();
});

test.each([
  ['62.5', 62.5],
  ['62,5', 62.5],
  ['$1,000.50', 1_000.5],
  ['1,00,000', 100_000],
  // No group begins with a zero.
  ['0,500', 0.5],
  ['0.500', 0.5],
  ['1,000', 1_000],
  ['1.000,50', null],
  ['1.005', null],
  ['ten', null],
])('a person who types %s means %s dollars, in an English browser', (text, dollars) => {
  expect(dollarsTyped(text)).toBe(dollars === null ? null : dollars * 1_000_000);
});
