import { connectLive, ExchangeError, type Fetch, type Live, orderSocket } from 'ctf-exchange-client';
import type { OpenMarket } from '../support/trader';
import { startTypedClients, type Trader, type TypedClients } from '../support/typed-clients';
import { until } from '../support/waiting';
import { startFrameProxy } from './frame-proxy';

/** Orders and cancels of the client over its socket, and by HTTP where there is none. */
let stage: TypedClients;
let market: OpenMarket;
let alice: Trader;
let live: Live;
/** The requests about orders that went by HTTP. */
let requests: string[];

const fetchNoted: Fetch = (url, init) => {
  const { pathname } = new URL(url);
  if (init?.method === 'POST' && pathname.includes('/orders')) requests.push(pathname);
  return fetch(url, init);
};

beforeAll(async () => {
  stage = await startTypedClients();
});
afterAll(() => stage.stop());
beforeEach(async () => {
  requests = [];
  [market, alice] = [await stage.market(), await stage.trader({ fetch: fetchNoted })];
});
afterEach(() => live.close());

async function open(
  baseUrl = stage.url(),
  getToken = alice.client.accessToken,
  accountEvents?: boolean,
): Promise<void> {
  live = connectLive({ baseUrl, getToken, accountEvents });
  alice.client.useSocket(orderSocket(live));
  await until('connected', () => live.isConnected);
}
const bid = (price: string) => ({ outcomeIndex: 0, side: 'BUY', price, size: '10' }) as const;
const place = (price: string) => alice.client.placeOrder(alice.wallet, market.id, bid(price));
const statusOf = async (hash: string) => (await alice.client.order(hash)).status;

test('orders, replacements, batches and cancels go over the socket, and answer as by HTTP', async () => {
  await open();
  const { client, wallet } = alice;
  const first = await place('0.3');
  expect(first).toMatchObject({ status: 'OPEN', size: '10', replayed: false });
  expect(await client.submitOrder(market.id, { order: first.signed })).toMatchObject({ replayed: true });
  const dry = await client.placeOrder(wallet, market.id, bid('0.31'), { dryRun: true });
  await expect(client.order(dry.orderHash)).rejects.toMatchObject({ status: 404 });
  const second = await client.replace(wallet, market.id, first.orderHash, bid('0.32'));
  expect(second.replaced).toMatchObject({ orderHash: first.orderHash, cancelledSize: '10' });
  const tried = await client.replace(wallet, market.id, second.orderHash, bid('0.33'), { dryRun: true });
  expect([await statusOf(second.orderHash), tried.replaced?.orderHash]).toEqual(['OPEN', second.orderHash]);
  const batch = await client.batch(wallet, market.id, [bid('0.2'), bid('0.21')]);
  expect(batch.map(({ status }) => status)).toEqual([200, 200]);
  expect(await client.cancel(second.orderHash)).toMatchObject({ cancelled: true });
  const [one] = (await client.orders({ status: 'open' })).data;
  expect(await client.cancelMany([one?.orderHash ?? ''])).toMatchObject({ cancelled: [one?.orderHash] });
  expect((await client.cancelAll({ marketId: market.id })).cancelled).toHaveLength(1);
  expect((await client.cancelAll()).cancelled).toEqual([]);
  expect(requests).toEqual([]);
});

test('a refusal over the socket is the error that HTTP gives', async () => {
  const tooMuch = { ...bid('0.5'), size: '999999999' };
  const attempt = () =>
    alice.client.placeOrder(alice.wallet, market.id, tooMuch).catch((error: unknown) => error);
  live = connectLive({ baseUrl: stage.url() });
  const byHttp = await attempt();
  await open();
  const bySocket = await attempt();
  if (!(byHttp instanceof ExchangeError) || !(bySocket instanceof ExchangeError))
    throw new Error('no refusals');
  const shown = ({ status, code, detail, problem }: ExchangeError) => {
    const { requestId, ...members } = problem ?? {};
    return { status, code, detail, members };
  };
  expect(shown(bySocket)).toEqual(shown(byHttp));
  expect(bySocket.code).toBe('INSUFFICIENT_BALANCE');
  expect(bySocket.requestId).not.toBe(byHttp.requestId);
  expect(requests).toHaveLength(1);
});

test('without a connection of the same wallet requests go by HTTP', async () => {
  await open();
  await place('0.3');
  expect(requests).toHaveLength(0);
  live.close();
  await place('0.31');
  expect(requests).toHaveLength(1);
  const bob = await stage.trader();
  await open(stage.url(), bob.client.accessToken);
  await place('0.32');
  expect(requests).toHaveLength(2);
  live.close();
  await open(stage.url(), async () => null as unknown as string);
  await place('0.33');
  expect(requests).toHaveLength(3);
  alice.client.useSocket(null);
  expect((await alice.client.cancelAll()).cancelled).toHaveLength(4);
});

test('a lane without account events takes orders, and has none of the events', async () => {
  await open(stage.url(), alice.client.accessToken, false);
  const heard: unknown[] = [];
  live.onOrder((order) => heard.push(order));
  live.onResumed((begun) => heard.push(begun));
  live.onBalance((balances) => heard.push(balances));
  const { orderHash } = await place('0.3');
  expect(await alice.client.cancel(orderHash)).toMatchObject({ cancelled: true });
  // The other socket of the wallet has them.
  const other = connectLive({ baseUrl: stage.url(), getToken: alice.client.accessToken });
  try {
    const orders: string[] = [];
    other.onOrder((order) => orders.push(order.orderHash));
    await new Promise<void>((resolve) => {
      other.onResumed(() => resolve());
    });
    const next = await place('0.31');
    await until('the other socket hears', () => orders.includes(next.orderHash));
  } finally {
    other.close();
  }
  expect([heard, requests]).toEqual([[], []]);
});

test.each<[string, unknown]>([
  ['a string', 'a-market'],
  ['an empty string', ''],
  ['null', null],
  ['a list', []],
  ['an undefined market', { marketId: undefined }],
  ['no market', { marketId: '' }],
  ['a misspelt member', { market: 'a-market' }],
  ['another outcome', { marketId: 'a-market', outcomeIndex: 2 }],
  ['a market as a whole', { marketId: { id: 'a-market' } }],
  ['a side without a market', { side: 'BUY' }],
  ['an unknown side', { marketId: 'a-market', side: 'buy' }],
])('cancelAll refuses %s, and cancels nothing', async (_what, filter) => {
  await open();
  await place('0.3');
  const attempt = alice.client.cancelAll(filter as never);
  await expect(attempt).rejects.toThrow(new RangeError('pass a marketId, and with it outcomeIndex and side'));
  expect((await alice.client.orders({ status: 'open' })).data).toHaveLength(1);
});

test.each([undefined, '0x00', [undefined]])('cancelMany refuses %p', async (hashes) => {
  await open();
  await expect(alice.client.cancelMany(hashes as never)).rejects.toThrow(RangeError);
});

test('an order whose acknowledgement is lost is sent again and booked once', async () => {
  const proxy = await startFrameProxy(stage.port());
  try {
    await open(proxy.url);
    // Socket.IO's acknowledgements begin with 43.
    proxy.filterPresent((text) => (text.startsWith('43') ? null : text));
    const placed = await place('0.3');
    expect(placed).toMatchObject({ status: 'OPEN', replayed: true });
    expect((await alice.client.orders({ status: 'open' })).data).toHaveLength(1);
    await until('another connection', () => live.isConnected && proxy.connections() > 1);
    const before = requests.length;
    expect(await place('0.31')).toMatchObject({ replayed: false });
    expect(requests).toHaveLength(before);
  } finally {
    await proxy.stop();
  }
});
