import {
  type AccountResumed,
  type BalanceUpdate,
  connectLive,
  type Live,
  type LiveOptions,
  type Market,
  type OrderUpdate,
  type Session,
  type TradeUpdate,
} from 'ctf-exchange-client';
import { createTokens, parseJwtSecrets } from '../../src/auth/tokens';
import { ENVIRONMENT } from '../support/settings';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type Trader, type TypedClients } from '../support/typed-clients';
import { sleep, until } from '../support/waiting';
import { startFrameProxy } from './frame-proxy';

const TOKEN_SEC = 900;
/** Enough to connect in on a busy machine. */
const LEFT_SEC = 9;

let stage: TypedClients;
let market: OpenMarket;
let alice: Trader;
let live: Live;
let connections: boolean[];
let orders: OrderUpdate[];
let trades: TradeUpdate[];
let balances: BalanceUpdate[];
let resumed: AccountResumed[];

/** A socket under a token that soon ends; the other stories are played meanwhile. */
let renewing: Awaited<ReturnType<typeof connectEnding>>;

beforeAll(async () => {
  stage = await startTypedClients({}, 2);
  renewing = await connectEnding();
});
afterAll(() => stage.stop());
beforeEach(async () => {
  [connections, orders, trades, balances, resumed] = [[], [], [], [], []];
  [market, alice] = [await stage.market(), await stage.trader()];
});
afterEach(() => live.close());
afterAll(() => renewing.live.close());

async function connectEnding() {
  const { client, wallet } = await stage.trader();
  const { accessToken = '' } = client.session ?? {};
  const claims = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString());
  const ending = createTokens({
    secrets: parseJwtSecrets(ENVIRONMENT.JWT_SECRET),
    issuer: claims.iss,
    audience: claims.aud,
    nowMs: Date.now,
  }).sign('access', {
    address: wallet.address,
    sid: claims.sid,
    jti: claims.jti,
    issuedAtSec: Math.floor(Date.now() / 1_000) - TOKEN_SEC + LEFT_SEC,
  });
  const endsAtMs = Date.now() + LEFT_SEC * 1_000;
  const tokens = [ending];
  const [connected, heard]: [boolean[], OrderUpdate[]] = [[], []];
  const own = connectLive({
    baseUrl: stage.url(),
    getToken: async () => tokens.shift() ?? client.accessToken(),
  });
  own.onConnect(({ authenticated }) => connected.push(authenticated));
  own.onOrder((order) => heard.push(order));
  await until('connected', () => connected.length > 0);
  return { trader: { client, wallet }, live: own, connected, heard, endsAtMs };
}

async function connect(getToken: LiveOptions['getToken'], baseUrl = stage.url()): Promise<void> {
  live = connectLive({ baseUrl, getToken });
  live.onConnect(({ authenticated }) => connections.push(authenticated));
  live.onOrder((order) => orders.push(order));
  live.onTrade((trade) => trades.push(trade));
  live.onResumed((begun) => resumed.push(begun));
  live.onBalance((balance) => balances.push(balance));
  await until('connected', () => connections.length > 0);
}
const buy = ({ client, wallet }: Trader, price: string, outcomeIndex: 0 | 1 = 0) =>
  client.placeOrder(wallet, market.id, { outcomeIndex, side: 'BUY', price, size: '10' });

test('a wallet receives its orders, trades and balances as REST shows them', async () => {
  await connect(alice.client.accessToken);
  const bob = await stage.trader();
  const placed = await buy(alice, '0.4');
  await buy(bob, '0.6', 1);
  await until('filled', () => orders.some(({ status }) => status === 'FILLED'));
  await until('the trade', () => trades.length > 0);
  expect(orders.at(-1)).toMatchObject({ orderHash: placed.orderHash, averagePrice: '0.4' });
  expect(trades).toMatchObject([{ role: 'MAKER', matchType: 'MINT', makerOrderHash: placed.orderHash }]);
  const held = await alice.client.balances();
  await until('the balance', () => balances.at(-1)?.tokens.length === 1);
  expect(balances.at(-1)).toMatchObject(held);
});

test('a session that ends disconnects its socket, which returns for books, and as the wallet after a sign-in', async () => {
  await connect(alice.client.accessToken);
  const book = live.watch(market.conditionId);
  await until('live', () => book.state === 'live');
  const kept = alice.client.session;
  await alice.client.signOut();
  // As in another tab that was not notified.
  alice.client.useSession(kept);
  await until('back', () => connections.length === 2 && book.state === 'live');
  expect(connections).toEqual([true, false]);
  await alice.client.signIn(alice.wallet);
  live.reauthenticate();
  await until('again', () => connections.length === 3 && book.state === 'live');
  await buy(alice, '0.4');
  await until('heard', () => orders.length > 0);
  expect(connections).toEqual([true, false, true]);
});

test('a socket whose token could not be read becomes the wallet’s as soon as it can', async () => {
  let fails = true;
  await connect(async () => {
    if (fails) throw new TypeError('fetch failed');
    return alice.client.accessToken();
  });
  const book = live.watch(market.conditionId);
  await until('live', () => book.state === 'live');
  expect(connections).toEqual([false]);
  fails = false;
  await until('the wallet’s', () => connections.length === 2);
  await buy(alice, '0.4');
  await until('heard', () => orders.length > 0);
  expect(connections).toEqual([false, true]);
});

test('a token that the exchange refuses is named to the caller, and the client renews it whatever its clock says', async () => {
  const refusals: (string | null)[] = [];
  const { session } = alice.client;
  // For the client it lasts another hour.
  alice.client.useSession({
    ...(session as Session),
    accessToken: 'no.such.token',
    expiresAt: Date.now() + 3_600_000,
  });
  await connect(async (refused) => {
    refusals.push(refused);
    return alice.client.accessToken(refused);
  });
  expect([connections, refusals]).toEqual([[true], [null, 'no.such.token']]);
  expect(await alice.client.accessToken()).not.toBe('no.such.token');
});

test('a refused token is not tried again, but the next token is', async () => {
  const tokens = ['no.such.token', 'no.such.token'];
  await connect(async () => tokens.shift() ?? alice.client.accessToken());
  expect(connections).toEqual([false]);
  live.reauthenticate();
  await until('again', () => connections.length === 2);
  expect(connections).toEqual([false, true]);
});

test('a connection that is restored begins with the missed events, without any action of the caller', async () => {
  const proxy = await startFrameProxy(stage.port(1));
  await connect(alice.client.accessToken, proxy.url);
  await buy(alice, '0.4');
  await until('the balance', () => balances.length === 1);
  // Another process replaces this one.
  await stage.exchange.replicas[1]?.web.stop(0);
  proxy.retarget(stage.port(0));
  await until('back', () => connections.length === 2);
  await until('resumed', () => resumed.length === 2);
  expect(resumed[1]).toEqual({ accountSequence: balances[0]?.accountSequence, resumed: true });
  await buy(alice, '0.3');
  await until('the next order', () => orders.length === 2);
  expect(orders[1]?.previousAccountSequence).toBe(balances[0]?.accountSequence);
  await proxy.stop();
});

test('the client renews its socket before the token ends, without losing the connection', async () => {
  const { trader, connected, heard, endsAtMs } = renewing;
  await sleep(endsAtMs + 1_000 - Date.now());
  await buy(trader, '0.4');
  await until('heard', () => heard.length === 1);
  expect(connected).toEqual([true]);
});

test('a client that watches the list of markets receives the new ones and the changes', async () => {
  await connect(alice.client.accessToken);
  const [created, changed]: [Market[], Market[]] = [[], []];
  const end = live.watchMarkets({
    onNew: (one) => created.push(one),
    onChange: (one) => changed.push(one),
  });
  // The messages of a socket are served one after the other: when this one is, so was the one before.
  const book = live.watch(market.conditionId);
  await until('live', () => book.state === 'live');
  const fresh = await stage.market();
  await until('the new market', () => created.some(({ id }) => id === fresh.id));
  await buy(alice, '0.4');
  end();
  expect(changed.every(({ id }) => id === fresh.id || id === market.id)).toBe(true);
});
