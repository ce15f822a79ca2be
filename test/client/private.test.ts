import { type Balances, connectLive, type Live, type Order, type TradeUpdate } from 'ctf-exchange-client';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type Trader, type TypedClients } from '../support/typed-clients';
import { until } from '../support/waiting';

let stage: TypedClients;
let market: OpenMarket;
let alice: Trader;
let live: Live;
let connections: boolean[];
let orders: Order[];
let trades: TradeUpdate[];
let balances: Balances[];

beforeAll(async () => {
  stage = await startTypedClients();
});
afterAll(() => stage.stop());
beforeEach(async () => {
  [connections, orders, trades, balances] = [[], [], [], []];
  [market, alice] = [await stage.market(), await stage.trader()];
});
afterEach(() => live.close());

async function connect(getToken: () => Promise<string | null>): Promise<void> {
  live = connectLive({ baseUrl: stage.url(), getToken });
  live.onConnect(({ authenticated }) => connections.push(authenticated));
  live.onOrder((order) => orders.push(order));
  live.onTrade((trade) => trades.push(trade));
  live.onBalance((balance) => balances.push(balance));
  await until('connected', () => connections.length > 0);
}
const buy = ({ client, wallet }: Trader, price: string, outcomeIndex: 0 | 1 = 0) =>
  client.placeOrder(wallet, market.id, { outcomeIndex, side: 'BUY', price, size: '10' });

test('a wallet hears of its orders, trades and balances as REST shows them', async () => {
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
  expect(balances.at(-1)).toEqual(held);
});

test('a session that ends takes its socket along: it comes back for the books, and as the wallet after a sign-in', async () => {
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

test('a token that is refused is not tried again, the next one is', async () => {
  const tokens = ['no.such.token', 'no.such.token'];
  await connect(async () => tokens.shift() ?? alice.client.accessToken());
  expect(connections).toEqual([false]);
  live.reauthenticate();
  await until('again', () => connections.length === 2);
  expect(connections).toEqual([false, true]);
});
