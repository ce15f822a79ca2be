import type { Answer } from '../support/client';
import { messageFor, type OrderLane, openLane } from '../support/order-lane';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, type OpenMarket, openMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { limit } from '../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** Order messages of sockets: each answers what the HTTP route answers. */
let exchange: WebReplicas;
let market: OpenMarket;
let alice: Trader;
let lane: OrderLane;

beforeAll(async () => {
  exchange = await startWebReplicas();
  market = await openMarket(exchange.client, ADMIN_TOKEN);
});
afterAll(() => exchange.stop());
beforeEach(async () => {
  alice = createTrader(exchange.client, await domainOf(exchange.client));
  lane = await openLane(exchange.client.url, await alice.token());
});
afterEach(() => lane.close());

const path = (rest = ''): string => `/markets/${market.id}/orders${rest}`;
const BID = () => limit('BUY', 0, 4_000, 1_000);

/** The same request by the lane. */
function overLane(target: string, body: unknown): Promise<Answer> {
  const message = messageFor('POST', target, { body });
  if (!message) throw new Error(`no message is ${target}`);
  return lane.send(...message);
}

/** The parts of an answer that both ways in have in common. */
const shown = ({ status, headers, body }: Answer) => {
  const { requestId, ...rest } = body;
  return {
    status,
    body: rest,
    isNamed: requestId === undefined || requestId === headers.get('x-request-id'),
    replayed: headers.get('idempotent-replayed'),
    retryAfter: headers.get('retry-after'),
  };
};

const onBook = async (hash: string) => (await exchange.client.get(`/orders/${hash}`)).body.status;

test('an order over the socket is booked, and sent again by either way it is the same order', async () => {
  const body = { order: await alice.order(market, BID()), clientOrderId: 'lane-1' };
  const first = await overLane(path(), body);
  expect([first.status, first.body.status, first.body.size]).toEqual([200, 'OPEN', '10']);
  expect(first.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  expect(await onBook(first.body.orderHash)).toBe('OPEN');
  const [byHttp, byLane] = [await alice.post(path(), body), await overLane(path(), body)];
  expect(shown(byLane)).toEqual(shown(byHttp));
  expect(byLane.headers.get('idempotent-replayed')).toBe('true');
});

test('a dry run books nothing, and both ways in answer the same', async () => {
  const body = { order: await alice.order(market, BID()) };
  const [byHttp, byLane] = [
    await alice.post(path('?dryRun=true'), body),
    await overLane(path('?dryRun=true'), body),
  ];
  expect(byLane.status).toBe(200);
  const resting = (await alice.submit(market, limit('BUY', 0, 1_000, 1_000))).body.orderHash;
  const tried = await overLane(path(`/${resting}/replace?dryRun=true`), {
    order: await alice.order(market, BID()),
  });
  expect([tried.status, await onBook(resting)]).toEqual([200, 'OPEN']);
  const strip = ({ body: { createdAt, updatedAt, sequence, ...rest } }: Answer) => rest;
  expect(strip(byLane)).toEqual(strip(byHttp));
  expect((await exchange.client.get(`/orders/${byLane.body.orderHash}`)).status).toBe(404);
});

test('cancels, replacements and batches do what their routes do', async () => {
  const rest = async (pips: number): Promise<string> =>
    (await overLane(path(), { order: await alice.order(market, limit('BUY', 0, pips, 1_000)) })).body
      .orderHash;
  const one = await rest(3_000);
  const cancelled = await overLane(path('/cancel'), { orderHash: one });
  expect([cancelled.status, cancelled.body.cancelled]).toEqual([200, true]);
  expect(shown(await overLane(path('/cancel'), { orderHash: one })).body.cancelled).toBe(false);

  const byHash = await rest(2_900);
  const named = await overLane(`/orders/${byHash}/cancel`, {});
  expect([named.status, named.body.cancelled, await onBook(byHash)]).toEqual([200, true, 'CANCELLED']);

  const two = await rest(3_100);
  const better = await alice.order(market, limit('BUY', 0, 3_200, 1_000));
  const replaced = await overLane(path(`/${two}/replace`), { order: better });
  expect([replaced.status, replaced.body.replaced.orderHash]).toEqual([200, two]);
  expect([await onBook(two), await onBook(replaced.body.orderHash)]).toEqual(['CANCELLED', 'OPEN']);

  const orders = await Promise.all(
    [2_000, 2_100, 9_999_999].map(async (pips) => ({
      order: await alice.order(market, limit('BUY', 0, pips, 1_000)),
    })),
  );
  const batch = await overLane(path('/batch'), { orders });
  expect(batch.body.results.map(({ status }: { status: number }) => status)).toEqual([200, 200, 400]);
  const [first, second] = batch.body.results;
  const several = await overLane('/orders/cancel', { orderHashes: [first.order.orderHash, one] });
  expect(several.body).toEqual({
    cancelled: [first.order.orderHash],
    notCancelled: { [one]: 'ORDER_NOT_CANCELLABLE' },
  });
  const here = await overLane(path('/cancel-all'), { side: 'BUY' });
  expect([...here.body.cancelled].sort()).toEqual([second.order.orderHash, replaced.body.orderHash].sort());
  const last = await rest(3_300);
  const everywhere = await overLane('/me/orders/cancel-all', {});
  expect([everywhere.body.cancelled, Object.keys(everywhere.body.sequences)]).toEqual([[last], [market.id]]);
});

test('a refusal is the problem of the route, member by member', async () => {
  const bob = createTrader(exchange.client, await domainOf(exchange.client));
  const order = await alice.order(market, BID());
  const wrong = { ...order, signature: `0x${'11'.repeat(64)}1b` };
  const unknown = `0x${'12'.repeat(32)}`;
  const [resting] = [(await alice.submit(market, limit('BUY', 0, 1_000, 1_000))).body.orderHash];
  await alice.post(path('/cancel'), { orderHash: resting });
  const requests: readonly (readonly [string, unknown])[] = [
    [path(), {}],
    [path(), []],
    [path(), 'order'],
    [path(), { order: { ...order, salt: '01' } }],
    [path(), { order: { ...order, maker: '0x12' } }],
    [path(), { order, more: 1 }],
    [path(), { order: wrong }],
    [path(), { order: await bob.order(market, BID()) }],
    [path(), { order: await alice.order(market, BID(), { nonce: '5' }) }],
    [path(), { order: await alice.order(market, limit('BUY', 0, 4_000, 999_999_999)) }],
    [path(), { order: await alice.order(market, BID()), orderType: 'FOK' }],
    [path(), { order: await alice.order(market, BID()), deadline: 1 }],
    ['/markets/nowhere/orders', { order }],
    [path('/batch'), { orders: [] }],
    [path('/cancel'), { orderHash: unknown }],
    [path('/cancel'), { orderHash: resting.toUpperCase() }],
    [path('/cancel'), {}],
    [`/orders/${unknown}/cancel`, {}],
    ['/markets/nowhere/orders/cancel', { orderHash: unknown }],
    [path(`/${unknown}/replace`), { order: await alice.order(market, BID()) }],
    [`/markets/%20/orders/cancel`, { orderHash: unknown }],
    [path(`/${resting}/replace`), { order: await alice.order(market, BID()) }],
    ['/orders/cancel', { orderHashes: [] }],
    ['/markets/nowhere/orders/cancel-all', {}],
    [path('/cancel-all'), { side: 'HOLD' }],
  ];
  const statuses: number[] = [];
  for (const [target, body] of requests) {
    const [byHttp, byLane] = [await alice.post(target, body), await overLane(target, body)];
    expect({ target, ...shown(byLane) }).toEqual({ target, ...shown(byHttp) });
    statuses.push(byLane.status);
  }
  expect(new Set(statuses)).toEqual(new Set([200, 400, 403, 404, 409, 422].filter((one) => one !== 200)));
});

test('a payload that has no HTTP form is refused with what is wrong', async () => {
  const order = await alice.order(market, BID());
  const rows: readonly (readonly [Parameters<OrderLane['send']>, string, string | null])[] = [
    [['order:submit', ''], 'INVALID_JSON', null],
    [['order:submit', '{"marketId":"x"'], 'INVALID_JSON', null],
    [['order:submit', '{},{}'], 'INVALID_JSON', null],
    [['order:submit', '{"marketId":"a","marketId":"b"}'], 'INVALID_JSON', null],
    [['order:submit', '{"marketId":"a","__proto__":{}}'], 'INVALID_REQUEST', '__proto__'],
    [['order:submit', JSON.stringify({ order })], 'INVALID_REQUEST', 'marketId'],
    [['order:submit', JSON.stringify({ marketId: 7, order })], 'INVALID_REQUEST', 'marketId'],
    [
      ['order:submit', JSON.stringify({ marketId: market.id, dryRun: 'true', order })],
      'INVALID_REQUEST',
      'dryRun',
    ],
    [['order:cancel', JSON.stringify({ marketId: market.id, dryRun: true })], 'INVALID_REQUEST', 'orderHash'],
    [['order:replace', JSON.stringify({ marketId: market.id, order })], 'INVALID_REQUEST', 'orderHash'],
    [['orders:cancel', 'null'], 'INVALID_REQUEST', ''],
    [['order:cancel', '{"orderHash":"0x12"}'], 'INVALID_REQUEST', 'orderHash'],
    [
      ['order:replace', JSON.stringify({ marketId: market.id, orderHash: '0x12', order })],
      'INVALID_REQUEST',
      'orderHash',
    ],
    [['orders:cancel', '{"all":true,"side":"BUY"}'], 'INVALID_REQUEST', 'side'],
    [['orders:cancel', ''], 'INVALID_JSON', null],
  ];
  for (const [sent, code, where] of rows) {
    const { status, body } = await lane.send(...sent);
    expect({ sent, status, code: body.code }).toEqual({ sent, status: 400, code });
    if (where !== null) expect(body.errors[0].path).toBe(where);
  }
  for (const payload of ['', '{},{}'])
    expect((await lane.send('order:submit', payload)).body.detail).toBe(
      'an order message has exactly one payload, a JSON object',
    );
});

test.each([
  '{}',
  '{"all":false}',
  '{"all":"true"}',
  '{"side":"BUY"}',
  '{"orderHashes":null}',
  '{"marketId":null,"all":true}',
])('orders:cancel %s cancels nothing: every order needs { all: true }', async (payload) => {
  const { orderHash } = (await alice.submit(market, limit('BUY', 0, 1_000, 1_000))).body;
  const refused = await lane.send('orders:cancel', payload);
  expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_REQUEST']);
  if (!/marketId|orderHashes/.test(payload))
    expect(refused.body.detail).toBe('the payload must have orderHashes, marketId or "all": true');
  expect(await onBook(orderHash)).toBe('OPEN');
  const all = await lane.send('orders:cancel', '{"all":true}');
  expect([all.status, all.body.cancelled]).toEqual([200, [orderHash]]);
});

test('a refusal says where an order was not found, and how a market is named', async () => {
  const other = await openMarket(exchange.client, ADMIN_TOKEN);
  const { orderHash } = (await alice.submit(market, limit('BUY', 0, 1_000, 1_000))).body;
  const unknown = `0x${'12'.repeat(32)}`;
  const listed = 'GET /me/orders lists its orders';
  const elsewhere = { marketId: other.id, orderHash };
  const order = await alice.order(other, BID());
  const rows: readonly (readonly [Parameters<OrderLane['send']>, string])[] = [
    [
      ['order:cancel', JSON.stringify(elsewhere)],
      `the wallet has no order ${orderHash} in this market; ${listed}`,
    ],
    [
      ['order:replace', JSON.stringify({ ...elsewhere, order })],
      `the wallet has no order ${orderHash} in this market; ${listed}`,
    ],
    [
      ['order:cancel', JSON.stringify({ orderHash: unknown })],
      `the wallet has no order ${unknown}; ${listed}`,
    ],
    ...['', ' ', 'x'.repeat(300)].map(
      (marketId) =>
        [
          ['order:cancel', JSON.stringify({ marketId, orderHash })] as Parameters<OrderLane['send']>,
          'a market is named by its id, slug or condition id; GET /markets lists them',
        ] as const,
    ),
  ];
  for (const [sent, detail] of rows) {
    const { status, body } = await lane.send(...sent);
    expect([status, body.detail]).toEqual([404, detail]);
  }
});

test('without a number the message is performed all the same, as other messages are', async () => {
  const order = await alice.order(market, limit('BUY', 0, 1_200, 1_000));
  lane.tell('order:submit', JSON.stringify({ marketId: market.id, order }));
  await lane.listener.heard('order:update');
  expect(lane.listener.all('order:update')).toMatchObject([{ price: '0.12', status: 'OPEN' }]);
});

test('spaces and the name of the namespace in a frame change nothing', async () => {
  const { engine } = lane.listener.socket.io;
  const heard: string[] = [];
  engine.on('message', (message: unknown) => heard.push(String(message)));
  engine.write(`2/,7000[ "order:cancel" , {"marketId": "${market.id}"} ]`);
  await until('it is answered', () => heard.some((text) => text.startsWith('37000[{"status":400,')));
});

test('an order message of a form that no client writes is refused, with an answer', async () => {
  const { engine } = lane.listener.socket.io;
  const heard: string[] = [];
  engine.on('message', (message: unknown) => heard.push(String(message)));
  const forms = [
    '27001["order:submit",{}] ',
    '27002["\\u006frder:submit",{}]',
    '27004 ["order:submit",{}]',
    `27003[${' '.repeat(60)}"order:submit",{}]`,
  ];
  for (const form of forms) engine.write(form);
  for (const number of [7001, 7002, 7003, 7004])
    await until(`${number} is answered`, () =>
      heard.some((text) => text.startsWith(`3${number}[{"status":400,`) && text.includes('INVALID_REQUEST')),
    );
});

test('a connection has one socket: the second one that it asks for ends it', async () => {
  const token = await alice.token();
  const { engine } = lane.listener.socket.io;
  for (let i = 0; i < 3; i++) engine.write(`0${JSON.stringify({ token })}`);
  await until('it is closed', () => lane.listener.ended() !== null);
  expect(lane.listener.ended()).toMatch(/transport/);
});
