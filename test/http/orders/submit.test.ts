import { connect } from 'node:net';
import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import {
  createTrader,
  type Domain,
  domainOf,
  type Limit,
  type Market,
  openMarket,
  type Trader,
} from '../../support/trader';
import { until } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let domain: Domain;
let market: Market;
let alice: Trader;
let bob: Trader;

const BID: Limit = { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 };

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  domain = await domainOf(exchange.client);
  alice = createTrader(exchange.client, domain);
  bob = createTrader(exchange.client, domain);
});
afterAll(() => exchange.stop());
beforeEach(async () => {
  market = await openMarket(exchange.client, ADMIN_TOKEN);
});

const post = (body: unknown, at = market, query = '', token?: string): Promise<Answer> =>
  exchange.client.post(`/markets/${at.id}/orders${query}`, { body, token });

const sequence = async (): Promise<number> =>
  (await exchange.client.get(`/markets/${market.id}/orderbook`)).body.sequence;

test('the answer to a submission has exactly the documented body', async () => {
  const { status, body } = await alice.submit(market, BID);
  expect(status).toBe(200);
  expect(body).toEqual({
    orderHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    status: 'OPEN',
    reason: null,
    price: '0.4',
    size: '10',
    filledSize: '0',
    remainingSize: '10',
    cancelledSize: '0',
    averagePrice: null,
    fillCount: 0,
    fills: [],
    sequence: 2,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
});

test('an accepted order costs one round trip', async () => {
  await alice.submit(market, BID);
  const order = await alice.order(market, BID);
  const commands = await watchCommands(exchange.redis.port, () => post({ order }));
  expect(commands).toEqual(['EVALSHA']);
});

test('one order sent to two replicas 50 times at once is executed once', async () => {
  await bob.post(`/markets/${market.id}/split`, { size: '100' });
  await bob.submit(market, { side: 'SELL', outcome: 0, pips: 4_000, lots: 400 });
  const order = await alice.order(market, BID);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      (exchange.replicas[i % 2] ?? exchange.replicas[0]).client.post(`/markets/${market.id}/orders`, {
        body: { order },
      }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
  expect(replayed).toHaveLength(49);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]?.body).toMatchObject({ status: 'PARTIALLY_FILLED', filledSize: '4', sequence: 3 });
  expect(await sequence()).toBe(3);
});

test('a final order is replayed too; another order type is a duplicate', async () => {
  const order = await alice.order(market, BID);
  const first = await post({ order });
  await alice.post(`/markets/${market.id}/orders/cancel`, { orderHash: first.body.orderHash });
  const again = await post({ order });
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(again.body).toMatchObject({ status: 'CANCELLED', reason: 'USER', cancelledSize: '10' });
  const other = await post({ order, orderType: 'IOC' });
  expect([other.status, other.body.code]).toEqual([409, 'DUPLICATE_ORDER']);
});

test('two spellings of a signature are one order, and a stored order is replayed before its signature is checked', async () => {
  const order = await alice.order(market, BID);
  const first = await post({ order });
  const recovery = Number.parseInt(order.signature.slice(130), 16) - 27;
  const spelled = { ...order, signature: `${order.signature.slice(0, 130)}0${recovery}` };
  for (const sent of [spelled, { ...order, signature: `0x${'11'.repeat(65)}` }]) {
    const again = await post({ order: sent });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
  }
});

test('dryRun answers the same and books nothing', async () => {
  const order = await alice.order(market, BID);
  const dry = await post({ order }, market, '?dryRun=true');
  expect(dry.body).toMatchObject({ status: 'OPEN', remainingSize: '10' });
  expect(await sequence()).toBe(1);
  expect((await exchange.client.get(`/orders/${dry.body.orderHash}`)).body.code).toBe('ORDER_NOT_FOUND');
  const wet = await post({ order });
  expect(wet.headers.get('idempotent-replayed')).toBeNull();
  expect(wet.body.orderHash).toBe(dry.body.orderHash);
  const fok = await alice.order(market, { ...BID, pips: 9_000 });
  const refused = await post({ order: fok, orderType: 'FOK' }, market, '?dryRun=true');
  expect([refused.status, refused.body.code, refused.body.available]).toEqual([422, 'FOK_NOT_FILLED', '0']);
  expect((await post({ order }, market, '?dryRun=maybe')).body.code).toBe('INVALID_REQUEST');
});

test('a bearer is optional, must be valid when sent, and must be the maker', async () => {
  const order = await alice.order(market, BID);
  expect((await post({ order }, market, '', 'nonsense')).body.code).toBe('TOKEN_INVALID');
  const mismatch = await post({ order }, market, '', await bob.token());
  expect([mismatch.status, mismatch.body.code]).toEqual([403, 'MAKER_MISMATCH']);
  expect((await post({ order }, market, '', await alice.token())).status).toBe(200);
});

test('the checks come in the order that docs/use/interface.md states', async () => {
  const other = await openMarket(exchange.client, ADMIN_TOKEN);
  const wrong = {
    taker: bob.address,
    signatureType: 7,
    feeRateBps: '5',
    nonce: '9',
    makerAmount: '0',
    expiration: '1',
  };
  const fields = alice.fields(market, BID);
  const code = async (more: object, at = market): Promise<string> =>
    (await post({ order: { ...fields, ...more, signature: '0x' } }, at)).body.code;
  // Each step corrects the first fault.
  expect(
    (await exchange.client.post(`/markets/${market.id}/orders`, { raw: '{', token: 'x' })).body.code,
  ).toBe('TOKEN_INVALID');
  expect((await exchange.client.post('/markets/none/orders', { raw: '{' })).body.code).toBe('INVALID_JSON');
  expect((await exchange.client.post('/markets/none/orders', { body: {} })).body.code).toBe(
    'INVALID_REQUEST',
  );
  expect(await code(wrong, { ...market, id: 'none' })).toBe('MARKET_NOT_FOUND');
  expect(await code(wrong, other)).toBe('INVALID_TOKEN');
  expect(await code(wrong)).toBe('INVALID_TAKER');
  const { taker: _taker, ...afterTaker } = wrong;
  expect(await code(afterTaker)).toBe('UNSUPPORTED_SIGNATURE_TYPE');
  const { signatureType: _type, ...afterType } = afterTaker;
  expect(await code(afterType)).toBe('INVALID_FEE_RATE');
  const { feeRateBps: _fee, ...afterFee } = afterType;
  expect(await code(afterFee)).toBe('INVALID_NONCE_VALUE');
  const { nonce: _nonce, ...afterNonce } = afterFee;
  expect(await code(afterNonce)).toBe('SIZE_OUT_OF_RANGE');
  const { makerAmount: _amount, ...afterAmount } = afterNonce;
  expect(await code(afterAmount)).toBe('ORDER_EXPIRED');
  expect(await code({})).toBe('INVALID_SIGNATURE');
});

test('refusals contain the members that explain them', async () => {
  const refusal = async (more: object): Promise<Record<string, unknown>> =>
    (await post({ order: await alice.signed({ ...alice.fields(market, BID), ...more }) })).body;
  expect(await refusal({ feeRateBps: '5' })).toMatchObject({ code: 'INVALID_FEE_RATE', required: '0' });
  expect(await refusal({ nonce: '3' })).toMatchObject({ code: 'INVALID_NONCE_VALUE', current: '0' });
  expect(await refusal({ nonce: (2n ** 40n).toString() })).toMatchObject({
    code: 'INVALID_NONCE_VALUE',
    current: '0',
  });
  expect(await refusal({ makerAmount: '4005000000000000000' })).toMatchObject({
    code: 'INVALID_TICK',
    nearest: ['0.4', '0.41'],
  });
  expect(await refusal({ makerAmount: '50000000000000000' })).toMatchObject({ nearest: [null, '0.01'] });
  expect(await refusal({ makerAmount: '9950000000000000000' })).toMatchObject({ nearest: ['0.99', null] });
  expect(await refusal({ expiration: '4102444801' })).toMatchObject({
    code: 'INVALID_EXPIRATION',
    maximum: '4102444800',
    detail: expect.not.stringContaining('milliseconds'),
  });
  expect(await refusal({ expiration: (2n ** 255n).toString() })).toMatchObject({
    code: 'INVALID_EXPIRATION',
  });
  expect(await refusal({ expiration: String(Date.now() + 60_000) })).toMatchObject({
    code: 'INVALID_EXPIRATION',
    detail: expect.stringContaining('milliseconds'),
  });
  expect((await refusal({ expiration: '4102444800' })).status).toBe('OPEN');
  expect(await refusal({ takerAmount: '10005000000000000000' })).toMatchObject({
    code: 'INVALID_LOT',
    nearest: ['10', '10.01'],
  });
  expect(await refusal({ maker: bob.address, signer: bob.address })).toMatchObject({
    code: 'INVALID_SIGNATURE',
    recovered: alice.address,
    expectedHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  });
  expect(
    await refusal({ makerAmount: (4n * 10n ** 27n).toString(), takerAmount: (10n ** 28n).toString() }),
  ).toMatchObject({
    code: 'SIZE_OUT_OF_RANGE',
    detail: 'the size must be between 0.01 and 1000000000 shares',
  });
  expect(await refusal({ makerAmount: '0' })).toMatchObject({
    code: 'SIZE_OUT_OF_RANGE',
    detail: expect.stringContaining('between 0.01 and 1000000000 shares'),
  });
});

test('an order that expires in years rests, and shows its signed expiration', async () => {
  const expiration = String(Math.floor(Date.now() / 1_000) + 9 * 365 * 86_400);
  const { body } = await alice.submit(market, BID, { more: { expiration } });
  expect(body.status).toBe('OPEN');
  expect((await exchange.client.get(`/orders/${body.orderHash}`)).body.expiration).toBe(expiration);
});

test('an order with a deadline in the past is not booked', async () => {
  for (const deadline of [0, Date.now() - 60_000]) {
    const { status, body } = await alice.submit(market, BID, { deadline });
    expect([status, body.code]).toEqual([422, 'DEADLINE_EXCEEDED']);
  }
  expect((await alice.submit(market, BID, { deadline: Number.MAX_SAFE_INTEGER })).status).toBe(200);
});

test('a deadline in seconds is refused with a hint about its unit', async () => {
  const { body } = await alice.submit(market, BID, { deadline: Math.floor(Date.now() / 1_000) + 60 });
  expect([body.code, body.detail]).toEqual([
    'DEADLINE_EXCEEDED',
    'deadline is in epoch milliseconds, and this value looks like seconds; multiply it by 1,000',
  ]);
  expect((await alice.submit(market, BID, { deadline: Date.now() - 1 })).body.detail).not.toMatch(/seconds/);
});

test('a refusal of a choice names each value once, even if its text is accepted, too', async () => {
  const order = { ...(await alice.order(market, BID)), side: 2 };
  expect((await post({ order })).body.detail).toBe('order.side must be one of [0, 1]');
});

test('a batch is answered order by order, in its order', async () => {
  const good = await alice.order(market, BID);
  const { status, body } = await exchange.client.post(`/markets/${market.id}/orders/batch`, {
    body: {
      orders: [
        { order: good, clientOrderId: 'mine:1' },
        { order: { ...good, salt: '7' } },
        { order: good, orderTypo: 'IOC' },
        { order: good },
        'nothing',
      ],
    },
  });
  expect(status).toBe(200);
  expect(
    body.results.map((result: { status: number; code?: string }) => result.code ?? result.status),
  ).toEqual([200, 'INVALID_SIGNATURE', 'INVALID_REQUEST', 200, 'INVALID_REQUEST']);
  expect(body.results[3].order).toEqual(body.results[0].order);
  const { body: stored } = await alice.get(`/orders/${body.results[0].order.orderHash}`);
  expect(stored.clientOrderId).toBe('mine:1');
  const none = await exchange.client.post('/markets/none/orders/batch', { body: { orders: [{}] } });
  expect(none.body.code).toBe('MARKET_NOT_FOUND');
  const many = await exchange.client.post(`/markets/${market.id}/orders/batch`, {
    body: { orders: Array(21).fill({}) },
  });
  expect(many.body.code).toBe('INVALID_REQUEST');
});

test.each([
  ['the price of a POST_ONLY order', { orderType: 'POST_ONLY' }, 1_000, 'POST_ONLY_WOULD_CROSS'],
  ['the offers of a FOK order', { orderType: 'FOK' }, 100_000, 'FOK_NOT_FILLED'],
  ['the funds of its wallet', {}, 1_000_000_000, 'INSUFFICIENT_BALANCE'],
])('a refusal that passes with %s is retryable', async (_, more, lots, code) => {
  await bob.submit(market, BID);
  const order = await alice.order(market, { side: 'BUY', outcome: 1, pips: 7_000, lots });
  const { status, body } = await post({ order, ...more });
  expect([status, body.code, body.retryable]).toEqual([422, code, true]);
});

test('only an open market accepts orders', async () => {
  const order = await alice.order(market, BID);
  await exchange.client.post(`/admin/markets/${market.id}/pause`, { token: ADMIN_TOKEN });
  const paused = await post({ order });
  expect([paused.status, paused.body.code, paused.body.retryable]).toEqual([409, 'MARKET_NOT_OPEN', true]);
});

/** The commands that clients, not scripts, send to Redis during an action. */
/** Orders, balances, names of markets, sessions: what a submission may ask for; the broadcaster asks for other keys. */
const ASKED_FOR_AN_ORDER = /"\{x0\}:(o|bal|mn)"|"\{s:|"rl:/;

async function watchCommands(port: number, act: () => Promise<unknown>): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
  });
  socket.write('MONITOR\r\n');
  await until('Redis tells', () => text.startsWith('+OK'));
  await act();
  socket.write('PING watched\r\n');
  await until('Redis told all', () => text.includes('"watched"'));
  socket.destroy();
  const lines = text.split('\r\n').filter((line) => /^\+\d/.test(line) && !/^\S+ \[\d+ lua\]/.test(line));
  return lines
    .filter((line) => ASKED_FOR_AN_ORDER.test(line))
    .map((line) => /"(\w+)"/.exec(line)?.[1]?.toUpperCase() ?? '');
}
