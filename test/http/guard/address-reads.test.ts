import { ADMIN_TOKEN } from '../../support/settings';
import type { Trader } from '../../support/trader';
import { until } from '../../support/waiting';
import { openStreet, type Street, told, Visitor } from './from-address';

/** The reads, texts and guesses of one address. */
let street: Street;
let visitor: Visitor;
beforeAll(async () => {
  street = await openStreet();
});
beforeEach(() => {
  visitor = new Visitor(street);
});
afterAll(() => street?.stop());

describe('reads', () => {
  const left = async (path: string): Promise<unknown> => {
    await visitor.spend('reads', 0);
    const { headers } = await visitor.send('GET', path);
    return headers.get('ratelimit')?.split(';')[1];
  };

  test('cost a point for each 50 requested rows', async () => {
    const trades = `/markets/${street.market.id}/trades`;
    expect(await left(trades)).toBe('r=99');
    expect(await left(`${trades}?limit=51`)).toBe('r=98');
    expect(await left(`${trades}?limit=500`)).toBe('r=90');
    expect(await left(`${trades}?limit=99999`)).toBe('r=90');
    expect(await left('/markets?limit=100')).toBe('r=98');
    expect(await left(`${trades}?limit=x`)).toBe('r=99');
  });

  test('cost what they look at: ids, texts, pages of the site', async () => {
    const { id } = street.market;
    const { slug } = (await street.exchange.client.get(`/markets/${id}`)).body;
    expect(await left(`/tickers?ids=${id}`)).toBe('r=99');
    expect(
      await left(`/tickers?ids=${Array.from({ length: 6 }, (_, i) => (i === 0 ? id : slug)).join()}`),
    ).toBe('r=99');
    expect(await left('/markets?q=rain')).toBe('r=97');
    expect(await left(`/m/${slug}`)).toBe('r=99');
  });

  test('with a filter take ten points and give back what they did not look at', async () => {
    const trader = await street.trader();
    await trader.submit(street.market, { side: 'BUY', outcome: 0, pips: 100, lots: 100 });
    const token = await trader.token();
    const leftOf = async (path: string): Promise<number> => {
      const { headers } = await visitor.send('GET', path, { token });
      return Number(/"reads";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    };
    const filters = [
      '/me/orders?clientOrderId=none',
      '/me/trades',
      `/me/activity?marketId=${street.market.id}`,
      '/me/positions',
    ];
    for (const path of filters) {
      await visitor.spend('reads', 0);
      expect([path, await leftOf(path)]).toEqual([path, 90]);
      // The window of these points lasts a minute.
      await until('the points are back', async () => (await leftOf('/me')) > 90);
    }
    for (const path of ['/me/orders', '/me/orders?status=open', '/me/activity']) {
      await visitor.spend('reads', 0);
      expect([path, await leftOf(path)]).toEqual([path, 99]);
    }
  });

  test('with a filter look at 500 rows a page, and cost what they look at', async () => {
    const trader = await street.trader();
    const oldest = await trader.submit(
      street.market,
      { side: 'BUY', outcome: 0, pips: 100, lots: 100 },
      { clientOrderId: 'oldest' },
    );
    const other = await trader.submit(street.market, { side: 'BUY', outcome: 0, pips: 100, lots: 100 });
    const { redis, keys } = street.exchange.store;
    const raw = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
    // 560 newer orders like the second one.
    const record = (await redis.hgetBuffer(keys.orders, raw(other.body.orderHash))) ?? Buffer.alloc(0);
    const rank = Number(await redis.zscore(keys.wallet(raw(trader.address)), raw(other.body.orderHash)));
    for (let i = 1; i <= 560; i++) {
      const hash = Buffer.alloc(32, 'hash');
      hash.writeUInt32BE(i);
      await redis.hset(keys.orders, hash, record);
      await redis.zadd(keys.wallet(raw(trader.address)), rank + i, hash);
    }
    const token = await trader.token();
    const pageOf = (query: string) =>
      visitor.send('GET', `/me/orders?clientOrderId=oldest&limit=1${query}`, { token });
    await visitor.spend('reads', 0);
    const first = await pageOf('');
    expect([first.status, first.body.data]).toEqual([200, []]);
    const second = await pageOf(`&cursor=${first.body.nextCursor}`);
    expect(second.body.data.map(({ orderHash }: { orderHash: string }) => orderHash)).toEqual([
      oldest.body.orderHash,
    ]);
    expect(second.body.nextCursor).toBeNull();
    // 500 rows are ten points; the 62 others are two. Each look at what is left is one.
    let looks = 0;
    await until('the second page has given back what it did not need', async () => {
      const { headers } = await visitor.send('GET', '/me', { token });
      looks++;
      return Number(/"reads";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]) + looks === 100 - 10 - 2;
    });
  });

  test('have at most 32 query members, and none that their operation does not have', async () => {
    for (const { method, path, bearer } of street.exchange.replicas[0].web.endpoints) {
      const target = path.replace('{id}', street.market.id).replace(/\{\w+\}/g, '0');
      const token = bearer === 'admin' ? ADMIN_TOKEN : undefined;
      const answer = await visitor.send(method, `${target}?nonsense=1`, { token });
      if (bearer === 'required') expect(answer.body.code).toBe('UNAUTHORIZED');
      else
        expect(answer.body.errors).toEqual([
          { path: 'nonsense', message: 'is not a query parameter of this operation' },
        ]);
    }
    const many = await visitor.send('GET', `/markets?${'limit=1&'.repeat(32)}limit=1`);
    expect([many.status, many.body.detail]).toEqual([400, 'the query may have at most 32 parameters']);
  });

  test('refuse a cursor that no list has had by its length', async () => {
    const cursor = `volume24h.${'A'.repeat(10_000)}`;
    expect((await visitor.send('GET', `/markets?cursor=${cursor}`)).body.code).toBe('INVALID_CURSOR');
  });
});

describe('wrong admin tokens', () => {
  test('are limited to ten a minute of one address, then no admin route accepts it, at any replica', async () => {
    const guess = (turn: number) =>
      visitor.send('PUT', '/admin/mode', { token: `guess-${turn}`, body: {} }, turn);
    const guesses = await Promise.all(Array.from({ length: 60 }, (_, i) => guess(i * 2)));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10);
    for (const [method, path] of [
      ['PUT', '/admin/mode'],
      ['GET', '/admin/log'],
      ['POST', '/admin/markets'],
      ['GET', '/admin/queues'],
    ] as const) {
      for (const turn of [0, 1]) {
        const answer = await visitor.send(
          method,
          path,
          { token: ADMIN_TOKEN, ...(method === 'GET' ? {} : { body: {} }) },
          turn,
        );
        expect([path, ...told(answer)]).toEqual([path, 429, 'admin-tokens', true]);
      }
    }
    const lines = street.exchange.logged.filter((line) => line.includes('a wrong admin token'));
    expect(lines).toHaveLength(10);
    expect(lines.join('')).not.toContain('guess-');
    visitor = new Visitor(street);
    expect((await visitor.send('GET', '/admin/log', { token: ADMIN_TOKEN })).status).toBe(200);
  });

  test('include the password of the queues', async () => {
    const headers = { authorization: `Basic ${Buffer.from('admin:guess').toString('base64')}` };
    for (let i = 0; i < 10; i++)
      expect((await visitor.send('GET', '/admin/queues', { headers })).status).toBe(401);
    expect(told(await visitor.send('GET', '/admin/queues', { headers }))).toEqual([
      429,
      'admin-tokens',
      true,
    ]);
  });
});

test('comments are limited to 30 a minute of one address, besides the limit of each wallet', async () => {
  const alice = await street.trader();
  const token = await alice.token();
  const path = `/markets/${street.market.id}/comments`;
  await visitor.spend('comments-by-ip', 29);
  const said = await visitor.send('POST', path, { token, body: { body: 'One.' } });
  expect([said.status, said.headers.get('ratelimit-policy')]).toEqual([
    201,
    '"comments-by-ip";q=30;w=60, "comments";q=5;w=60, "comment-bytes";q=250000;w=86400',
  ]);
  const refused = await visitor.send('POST', path, { token, body: { body: 'Two.' } }, 1);
  expect(told(refused)).toEqual([429, 'comments-by-ip', true]);
});

test('comments are limited by their bytes, 250 kB a day of one address', async () => {
  const [alice, bob] = [await street.trader(), await street.trader()];
  const path = `/markets/${street.market.id}/comments`;
  await visitor.spend('comment-bytes', 250_000 - 6_000);
  const say = async (trader: Trader, text: string) =>
    visitor.send('POST', path, { token: await trader.token(), body: { body: text } });
  expect((await say(alice, '\u{1f327}'.repeat(1_500))).status).toBe(201);
  expect(told(await say(bob, 'x'))).toEqual([429, 'comment-bytes', true]);
});

test.each(['x\n'.repeat(51), `x${'\n'.repeat(60)}x`])('a comment has at most 50 line ends', async (body) => {
  const alice = await street.trader();
  const path = `/markets/${street.market.id}/comments`;
  const refused = await visitor.send('POST', path, { token: await alice.token(), body: { body } });
  expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_REQUEST']);
  expect(refused.body.detail).toBe('body must be a valid text with at most 50 line ends');
});

test('people behind one address sign in with their own ten tries a minute, a hundred together', async () => {
  const nonce = (wallet: string) => visitor.send('GET', `/auth/nonce/${wallet}`);
  const [alice, bob] = [await street.trader(), await street.trader()];
  for (let i = 0; i < 10; i++) expect((await nonce(alice.address)).status).toBe(200);
  expect(told(await nonce(alice.address.toLowerCase()))).toEqual([429, 'signIn', true]);
  expect((await nonce(bob.address)).status).toBe(200);
  await visitor.spend('sign-ins-by-ip', 100, 'nonce:');
  expect(told(await nonce(bob.address))).toEqual([429, 'sign-ins-by-ip', true]);
});

test('GET /config shows every limit', async () => {
  const { limits } = (await visitor.send('GET', '/config')).body;
  expect(limits.rates).toMatchObject({
    submissions: { requests: 200, seconds: 1, burst: 400, by: 'ip' },
    'new-wallets': { requests: 60, seconds: 60, burst: 60, by: 'ip' },
    'comments-by-ip': { requests: 30, seconds: 60, burst: 30, by: 'ip' },
    'admin-tokens': { requests: 10, seconds: 60, burst: 10, by: 'ip' },
  });
  expect(limits.costs).toEqual({
    order: 1,
    dryRun: 10,
    refusedFok: 5,
    wrongSignature: 5,
    rowsPerPoint: 50,
    bytesPerSubmission: 4_096,
  });
  expect(limits.pace).toMatchObject({ pointsPerSecond: 1_000, burst: 1_000, holdMs: 1_000 });
  expect(limits.sockets).toMatchObject({
    pace: { pointsPerSecond: 2_000, burst: 8_000, holdMs: 1_000, message: 1, upgrade: 10, cut: 1_000 },
    perIp: 100,
    messagesPerSecond: 50,
    bytesPerSecond: 64_000,
    refusals: 100,
  });
});
