import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { type OpenMarket, openMarket, type Trader } from '../../support/trader';
import { limit, openWeatherMarket, type WeatherMarket } from '../../support/weather-market';
import type { WebReplicas } from '../../support/web-replicas';

let weather: WeatherMarket;
let exchange: WebReplicas;
let market: OpenMarket;
let alice: Trader;
let bob: Trader;
let makerHash: string;

beforeAll(async () => {
  weather = await openWeatherMarket();
  ({ exchange, market, alice, bob, makerHash } = weather);
});
afterAll(() => weather.exchange.stop());

const get = (path: string, headers = {}): Promise<Answer> => weather.exchange.client.get(path, { headers });

test('my orders can be filtered and paged', async () => {
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
  for (const query of [
    '?status=open&status=FILLED',
    '?status=OPENED',
    '?side=buy',
    '?marketId=',
    '?clientOrderId=%20',
  ]) {
    expect((await bob.get(`/me/orders${query}`)).body.code).toBe('INVALID_REQUEST');
  }
  expect((await bob.get('/me/orders?cursor=nonsense')).body.code).toBe('INVALID_CURSOR');
  expect((await get('/me/orders')).body.code).toBe('UNAUTHORIZED');
});

test('clientOrderId is in every record of the order, and finds it', async () => {
  const named = limit('BUY', 0, 1_100, 100);
  const { body: first } = await alice.submit(market, named, { clientOrderId: 'bot-7:a.b_c' });
  // The client chooses the names, and may use one twice.
  const { body: second } = await alice.submit(market, named, { clientOrderId: 'bot-7:a.b_c' });
  const { body: other } = await alice.submit(market, named);
  const found = async (query: string) => (await alice.get(`/me/orders?${query}`)).body.data;
  const byName = await found('clientOrderId=bot-7:a.b_c');
  expect(byName.map(({ orderHash }: { orderHash: string }) => orderHash)).toEqual([
    second.orderHash,
    first.orderHash,
  ]);
  expect(byName[0].clientOrderId).toBe('bot-7:a.b_c');
  expect((await alice.get(`/orders/${first.orderHash}`)).body.clientOrderId).toBe('bot-7:a.b_c');
  expect((await get(`/orders/${other.orderHash}`)).body.clientOrderId).toBeNull();
  expect(await found('clientOrderId=bot-7')).toEqual([]);
  expect(await found('clientOrderId=bot-7:a.b_c&status=FILLED')).toEqual([]);
  for (const clientOrderId of ['', 'a b', 'x'.repeat(65), 'ä', 7, null, ['a']]) {
    expect((await alice.submit(market, named, { clientOrderId })).body.code).toBe('INVALID_REQUEST');
  }
  for (const { orderHash } of [first, second, other]) await alice.post(`/orders/${orderHash}/cancel`);
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

test('the list of markets can be filtered, sorted and paged, and never contains a draft', async () => {
  const draft = await openMarket(exchange.client, ADMIN_TOKEN, {
    category: 'secret',
    slug: 'draft-to-hide',
    draft: true,
  });
  const soon = await openMarket(exchange.client, ADMIN_TOKEN, {
    question: 'Will the Roof hold?',
    category: 'weather',
    closesAt: '2030-01-01T00:00:00Z',
  });
  const ids = async (query: string): Promise<string[]> =>
    (await get(`/markets${query}`)).body.data.map(({ id }: { id: string }) => id);
  expect((await ids('?limit=100')).includes(draft.id)).toBe(false);
  for (const name of [draft.id, 'draft-to-hide'])
    for (const part of [
      '',
      '/orderbook',
      '/trading',
      '/ticker',
      '/trades',
      '/comments',
      '/price-history?timeframe=1d',
    ]) {
      const answer = await exchange.client.get(`/markets/${name}${part}`);
      expect([part, answer.status, answer.body.code]).toEqual([part, 404, 'MARKET_NOT_FOUND']);
    }
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
