import { createTokens, parseJwtSecrets } from '../../src/auth/tokens';
import { chainScale } from '../../src/exchange/order';
import { createSettle } from '../../src/jobs/settle';
import { decodeMarket } from '../../src/store/records/market';
import { createScripts } from '../../src/store/redis/scripts';
import { createMatches } from '../../src/store/settlement/matches';
import { createSettlements } from '../../src/store/settlement/settlements';
import { patiently } from '../support/client';
import { type Listener, listen, refusal } from '../support/listener';
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/settings';
import { createTrader, type Domain, domainOf, type OpenMarket, type Trader } from '../support/trader';
import { until } from '../support/waiting';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

interface Update {
  readonly fillCount: number;
  readonly fills: readonly unknown[];
}

let exchange: WebReplicas;
let replicas: [Replica, Replica];
let market: OpenMarket;
let domain: Domain;
const open: { close(): void }[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true });
  replicas = [await exchange.replica(), await exchange.replica()];
  domain = await domainOf(replicas[0].client);
});
beforeEach(async () => {
  market = await exchange.market(replicas[0]);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => exchange.stop());

/** A private event without its numbers. */
function bare<T extends object>(event: T) {
  const { accountSequence: _, previousAccountSequence: __, ...body } = event as T & Record<string, unknown>;
  return body;
}

const trader = (): Trader => createTrader(replicas[0].client, domain);

/** A private socket at the replica that does not take the orders. */
async function listener(owner: Trader, at = 1): Promise<Listener> {
  const one = await listen((replicas[at] ?? replicas[0]).url, { token: await owner.token() });
  open.push(one);
  return one;
}

test('a wallet receives its own orders, trades and balances, and no others', async () => {
  const [alice, bob] = [trader(), trader()];
  const [toAlice, toBob] = [await listener(alice), await listener(bob)];
  const bid = { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 } as const;
  const maker = await alice.submit(market, bid, { clientOrderId: 'mine.1' });
  const opened = await toAlice.heard('order:update');
  const shown = (await replicas[0].client.get(`/orders/${maker.body.orderHash}`)).body;
  expect([bare(opened), shown.clientOrderId]).toEqual([{ ...shown, clientOrderId: 'mine.1' }, null]);
  expect(bare(await toAlice.heard('balance:update'))).toEqual((await alice.get('/me/balances')).body);
  expect(toBob.told).toEqual([]);

  const taker = await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 400 });
  for (const [owner, told, order, role] of [
    [alice, toAlice, maker, 'MAKER'],
    [bob, toBob, taker, 'TAKER'],
  ] as const) {
    const [trade] = (await owner.get('/me/trades')).body.data;
    const isTaker = role === 'TAKER';
    expect(trade).toMatchObject({
      role,
      own: {
        orderHash: order.body.orderHash,
        clientOrderId: isTaker ? null : 'mine.1',
        role,
        side: 'BUY',
        outcomeIndex: isTaker ? 1 : 0,
        price: isTaker ? '0.4' : '0.6',
        size: '4',
        fee: '0',
        feeAsset: isTaker ? 'NO' : 'YES',
      },
    });
    expect(bare(await told.heard('trade:update'))).toEqual(trade);
    expect(told.all('order:update').at(-1).fills[0].matchedAt).toBe(trade.matchedAt);
    const { clientOrderId: _, ...shown } = (await replicas[0].client.get(`/orders/${order.body.orderHash}`))
      .body;
    expect(told.all('order:update').at(-1)).toMatchObject(shown);
    await until('the balance', () => told.all('balance:update').at(-1)?.tokens.length === 1);
    expect(bare(told.all('balance:update').at(-1))).toEqual((await owner.get('/me/balances')).body);
    expect(told.all('trade:update')).toHaveLength(1);
  }
  // Neither receives the other's order, nor any public event without subscribing.
  expect(new Set(toBob.told.map(([event]) => event))).toEqual(
    new Set(['order:update', 'trade:update', 'balance:update']),
  );
  expect(toBob.all('order:update').map(({ orderHash }) => orderHash)).toEqual([taker.body.orderHash]);
});

test('an update of an order contains only its new fills and those whose settlement changed', async () => {
  const [alice, bob] = [trader(), trader()];
  const one = await listener(alice);
  const maker = await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 });
  await one.heard('order:update');
  const told = (): Update[] => one.all('order:update').slice(1);
  for (let fills = 1; fills <= 3; fills++) {
    await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 100 });
    await until('the fill', () => told().length === fills);
  }
  const { fills } = (await replicas[0].client.get(`/orders/${maker.body.orderHash}`)).body;
  expect(told().map(({ fillCount }) => fillCount)).toEqual([1, 2, 3]);
  expect(told().map((order) => order.fills)).toEqual(fills.map((fill: unknown) => [fill]));

  await settleSecondMatch();
  await until('the settlement', () => told().length === 4);
  expect(told().at(-1)).toMatchObject({
    fillCount: 3,
    fills: [{ ...fills[1], settlementStatus: 'CONFIRMED' }],
  });
});

test('cancels, the closing of a market, and money without an order are sent', async () => {
  const alice = trader();
  const one = await listener(alice);
  const { body } = await alice.submit(market, { side: 'BUY', outcome: 0, pips: 5_000, lots: 100 });
  await one.heard('order:update');
  await alice.post(`/markets/${market.id}/orders/cancel`, { orderHash: body.orderHash });
  expect(await one.heard('order:update', 2)).toMatchObject({ status: 'CANCELLED', reason: 'USER' });
  const balances = one.all('balance:update').length;
  const split = await alice.post(`/markets/${market.id}/split`, { size: '5' });
  expect(bare(await one.heard('balance:update', balances + 1))).toEqual(split.body);
  const more = await alice.submit(market, { side: 'SELL', outcome: 0, pips: 5_000, lots: 100 });
  await one.heard('order:update', 3);
  await replicas[0].client.post(`/admin/markets/${market.id}/close`, { token: ADMIN_TOKEN });
  expect(await one.heard('order:update', 4)).toMatchObject({
    orderHash: more.body.orderHash,
    reason: 'MARKET_CLOSED',
  });
});

test.each<[string, unknown, string]>([
  ['no token of ours', 'x.y.z', 'TOKEN_INVALID'],
  ['a number', 5, 'TOKEN_INVALID'],
  ['an object', { a: 1 }, 'TOKEN_INVALID'],
  ['an empty one', '', 'TOKEN_INVALID'],
])('%s refuses the connection', async (_what, token, code) => {
  expect(await refusal(listen(replicas[0].url, { token }))).toEqual({ code, detail: expect.any(String) });
});

test('a refresh token, an expired token and a non-boolean cancelOnDisconnect refuse the connection', async () => {
  const alice = trader();
  const session = await alice.signIn();
  const expired = signer().sign('access', {
    address: alice.address,
    sid: 'a'.repeat(32),
    jti: `${'a'.repeat(32)}.1.a`,
    issuedAtSec: Math.floor(Date.now() / 1_000) - 1_000,
  });
  const { refreshToken: token } = session.body;
  expect(await refusal(listen(replicas[0].url, { token }))).toMatchObject({ code: 'TOKEN_INVALID' });
  expect(await refusal(listen(replicas[0].url, { token: expired }))).toMatchObject({ code: 'TOKEN_EXPIRED' });
  const flag = { token: await alice.token(), cancelOnDisconnect: 'yes' };
  expect(await refusal(listen(replicas[0].url, flag))).toMatchObject({ code: 'INVALID_REQUEST' });
  const nobody = { cancelOnDisconnect: true };
  expect(await refusal(listen(replicas[0].url, nobody))).toMatchObject({ code: 'UNAUTHORIZED' });
});

test('logging out ends the sockets of that session on every replica, and no others', async () => {
  const [alice, again] = [trader(), trader()];
  const gone = [await listener(alice, 0), await listener(alice, 1)];
  const stays = await listener(again, 1);
  expect((await alice.post('/auth/logout')).status).toBe(204);
  for (const one of gone) {
    await until('the socket ends', () => one.ended() !== null);
    expect(one.ended()).toBe('io server disconnect');
    expect(one.all('session:ended')).toEqual([{ code: 'TOKEN_INVALID', detail: expect.any(String) }]);
  }
  expect(stays.ended()).toBeNull();
  const token = await alice.token();
  expect(await refusal(listen(replicas[1].url, { token }))).toMatchObject({ code: 'TOKEN_INVALID' });
});

test('a session that ends in another way closes its sockets, too', async () => {
  const alice = trader();
  const one = await listener(alice);
  const sid = JSON.parse(Buffer.from((await alice.token()).split('.')[1] ?? '', 'base64url').toString()).sid;
  await exchange.store.redis.del(`{s:${sid}}`);
  await until('the socket ends', () => one.ended() !== null);
});

test('a socket ends with its token', async () => {
  const alice = trader();
  await alice.token();
  const claims = JSON.parse(Buffer.from((await alice.token()).split('.')[1] ?? '', 'base64url').toString());
  /** A busy machine needs a token that lives longer, or it has ended before the socket is open. */
  async function withSecondsLeft(seconds: number): Promise<Listener> {
    const token = signer().sign('access', {
      address: alice.address,
      sid: claims.sid,
      jti: claims.jti,
      issuedAtSec: Math.floor(Date.now() / 1_000) - 900 + seconds,
    });
    return listen(replicas[0].url, { token }).catch((error) => {
      if (error.code !== 'TOKEN_EXPIRED' || seconds > 60) throw error;
      return withSecondsLeft(2 * seconds);
    });
  }
  const one = await withSecondsLeft(2);
  open.push(one);
  await until('the socket ends', () => one.ended() !== null);
  expect(one.all('session:ended')).toEqual([{ code: 'TOKEN_EXPIRED', detail: expect.any(String) }]);
});

test('events during a restart of Redis are sent when it is back', async () => {
  const alice = trader();
  const one = await listener(alice);
  await alice.submit(market, { side: 'BUY', outcome: 0, pips: 5_000, lots: 100 });
  await one.heard('order:update');
  await exchange.restartRedis();
  const order = await alice.order(market, { side: 'BUY', outcome: 0, pips: 4_900, lots: 100 });
  const submit = () => replicas[0].client.post(`/markets/${market.id}/orders`, { body: { order } });
  const { body } = await patiently(submit);
  await until('the order', () => one.all('order:update').some((o) => o.orderHash === body.orderHash));
  expect(one.ended()).toBeNull();
});

async function settleSecondMatch(): Promise<void> {
  const { redis, keys } = exchange.store;
  const run = createScripts(redis);
  const settlements = createSettlements({ redis, run, keys });
  const matches = createMatches({ redis, run, keys, settlements });
  const document = await redis.hgetBuffer(keys.markets, market.id);
  const { terms } = decodeMarket(document ?? Buffer.alloc(0));
  const settle = createSettle({ matches, settlements, termsOf: async () => terms, scale: chainScale(18) });
  const [, second] = await redis.xrange(keys.trades(market.id), '-', '+');
  const [tradeMs = 0, sequence = 0] = (second?.[0] ?? '').split('-').map(Number);
  expect(await settle([{ marketId: market.id, tradeMs, sequence }])).toEqual([]);
}

/** Signs as the replicas do. */
function signer() {
  return createTokens({
    secrets: parseJwtSecrets(ENVIRONMENT.JWT_SECRET),
    issuer: 'https://exchange.test',
    audience: 'chain:97',
    nowMs: Date.now,
  });
}
