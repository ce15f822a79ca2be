import type { Answer } from '../../support/client';
import { openLink } from '../../support/redis';
import { createTrader, domainOf } from '../../support/trader';
import { sleep } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';
import { openStreet, type Street, told, Visitor } from './from-address';

/** The submissions and bytes of one address. */
let street: Street;
let visitor: Visitor;
beforeAll(async () => {
  street = await openStreet();
});
beforeEach(() => {
  visitor = new Visitor(street);
});
afterAll(() => street?.stop());

const MICROS_EACH = 5_000;
/** Looks, one every 10 ms. */
const TRIES_MAX = 2_000;
const LIMIT = { side: 'BUY', outcome: 0, pips: 100, lots: 100 } as const;

const submit = (body: unknown, query = '', turn = 0): Promise<Answer> =>
  visitor.send('POST', `/markets/${street.market.id}/orders${query}`, { body }, turn);
/** In a market that does not exist: the orders are counted, and not read. */
const submitAll = (count: number, query = ''): Promise<Answer> =>
  visitor.send('POST', `/markets/nowhere/orders/batch${query}`, {
    body: { orders: Array.from({ length: count }, () => ({})) },
  });

/** Pretends that this address has just used a number of points at other replicas. */
async function owe(points: number, bucket = 'submissions', aSecond = 200): Promise<number> {
  const whole = Date.now() * 1_000 + (points * 1_000_000) / aSecond;
  await street.link.ask(`SET rl:${bucket}:${visitor.address} ${Math.trunc(whole)} EX 60`);
  return whole;
}

/** Points that were reported since. */
async function since(whole: number): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const now = Number(await street.link.ask(`GET rl:submissions:${visitor.address}`));
    if (now > whole) return (now - whole) / MICROS_EACH;
    await sleep(10);
  }
  return 0;
}

describe('cancels', () => {
  test('of an address are limited whatever its wallets are, by their hashes, and orders still pass', async () => {
    const trader = await street.trader();
    const token = await trader.token();
    const orderHashes = Array.from({ length: 100 }, (_, i) => `0x${String(i).padStart(64, '0')}`);
    const cancel = (body: unknown): Promise<Answer> =>
      visitor.send('POST', '/orders/cancel', { body, token });
    const { headers } = await cancel({ orderHashes });
    expect(headers.get('ratelimit')).toContain('"cancels-by-ip";r=');
    await owe(10_000, 'cancels-by-ip', 300);
    // A process asks the others when it has granted some.
    let answer = await cancel({ orderHashes });
    for (let i = 0; i < 60 && answer.status === 200; i++) answer = await cancel({ orderHashes });
    expect(told(answer)).toEqual([429, 'cancels-by-ip', true]);
    expect((await submit({ order: await trader.order(street.market, LIMIT) })).status).toBe(200);
    visitor = new Visitor(street);
    expect((await cancel({ orderHashes: orderHashes.slice(0, 3) })).status).toBe(200);
  });
});

describe('submissions', () => {
  test('may take 400 points at once from one address, whatever they are for', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => submitAll(20, '?dryRun=true')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(2);
    for (const answer of refused) {
      expect(told(answer)).toEqual([429, 'submissions', true]);
      expect(answer.headers.get('ratelimit')).toBe('"submissions";r=0;t=1');
      expect(answer.headers.get('ratelimit-policy')).toBe('"submissions";q=200;w=1;burst=400');
    }
    visitor = new Visitor(street);
    expect((await submit({})).status).toBe(400);
  });

  test('count the points taken at other replicas', async () => {
    await owe(10_000);
    for (const turn of [0, 1]) {
      const statuses: number[] = [];
      for (let i = 0; i < 60; i++) statuses.push((await submit({}, '', turn)).status);
      expect(statuses.filter((status) => status === 400).length).toBeLessThanOrEqual(40);
      expect(statuses.at(-1)).toBe(429);
    }
  });

  test('cost a point for each order of a batch', async () => {
    const whole = await owe(399);
    expect((await submitAll(20)).status).toBe(404);
    expect(await since(whole)).toBe(20);
  });

  test('cost one point for a batch that is too long, and its orders are not read', async () => {
    const whole = await owe(399);
    for (let i = 0; i < 20; i++) {
      const answer = await submitAll(21);
      expect([answer.status, answer.body.errors]).toEqual([
        400,
        [{ path: 'orders', message: 'must contain less than or equal to 20 items' }],
      ]);
    }
    expect(await since(whole)).toBe(20);
  });

  test('cost ten points for a dry run, even with a wrong signature', async () => {
    const whole = await owe(399);
    const order = { ...(await (await street.trader()).order(street.market, LIMIT)), salt: '1' };
    for (let i = 0; i < 2; i++) expect((await submit({ order }, '?dryRun=true')).status).toBe(400);
    expect(await since(whole)).toBe(20);
  });

  test('cost the same for a replacement as for any order', async () => {
    const alice = await street.trader();
    const token = await alice.token();
    const replace = (query = '') =>
      visitor.send('POST', `/markets/nowhere/orders/0x${'12'.repeat(32)}/replace${query}`, {
        token,
        body: {},
      });
    const whole = await owe(360);
    for (let i = 0; i < 10; i++) expect((await replace()).status).toBe(400);
    // The twentieth point is reported, and the debt is received then.
    expect((await replace('?dryRun=true')).status).toBe(400);
    expect(await since(whole)).toBeGreaterThanOrEqual(20);
    await owe(10_000);
    const statuses: number[] = [];
    for (let i = 0; i < 60; i++) statuses.push((await replace()).status);
    expect(statuses.at(-1)).toBe(429);
  });

  test('cost five points for a refused FOK', async () => {
    const alice = await street.trader();
    const orders = await Promise.all(Array.from({ length: 4 }, () => alice.order(street.market, LIMIT)));
    const whole = await owe(399);
    for (const order of orders) {
      expect((await submit({ order, orderType: 'FOK' })).body.code).toBe('FOK_NOT_FILLED');
    }
    expect(await since(whole)).toBe(20);
  });

  test('count the look-up that explains a refusal as a read', async () => {
    const order = { ...(await (await street.trader()).order(street.market, LIMIT)), salt: '1' };
    expect((await submit({ order })).body.code).toBe('INVALID_SIGNATURE');
    await visitor.spend('reads', 100);
    expect(told(await submit({ order }))).toEqual([429, 'reads', true]);
  });
});

describe('new wallets', () => {
  test('are limited to 60 a minute of one address, by their first order', async () => {
    await visitor.spend('new-wallets', 59);
    const [known, late] = [await street.trader(), await street.trader()];
    expect((await submit({ order: await known.order(street.market, LIMIT) })).status).toBe(200);
    const order = await late.order(street.market, LIMIT);
    for (const turn of [0, 1]) {
      expect(told(await submit({ order }, '', turn))).toEqual([429, 'new-wallets', true]);
      expect((await submit({ order: await known.order(street.market, LIMIT) }, '', turn)).status).toBe(200);
    }
    expect((await submit({ order }, '?dryRun=true')).status).toBe(200);
  });

  test('are limited by their first sign-in, too', async () => {
    await visitor.spend('new-wallets', 60);
    const client = visitor.client();
    const domain = await domainOf(street.exchange.client);
    const [stranger, known] = [createTrader(client, domain), createTrader(client, domain)];
    expect(told(await stranger.signIn())).toEqual([429, 'new-wallets', true]);
    expect(
      (
        await street.exchange.client.post(`/markets/${street.market.id}/orders`, {
          body: { order: await known.order(street.market, LIMIT) },
        })
      ).status,
    ).toBe(200);
    expect((await known.signIn()).status).toBe(200);
  });

  test('are counted once, with a sign-in and orders at every replica', async () => {
    const client = visitor.client();
    const alice = createTrader(client, await domainOf(street.exchange.client));
    expect((await alice.signIn()).status).toBe(200);
    for (const turn of [0, 1, 0, 1]) {
      expect((await submit({ order: await alice.order(street.market, LIMIT) }, '', turn)).status).toBe(200);
    }
    expect(await street.link.ask(`GET rl:new-wallets:${visitor.address}`)).toBe('1');
  });

  test('are counted once for orders that come at once', async () => {
    const alice = await street.trader();
    const orders = await Promise.all(Array.from({ length: 70 }, () => alice.order(street.market, LIMIT)));
    const answers = await Promise.all(orders.map((order) => submit({ order })));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await street.link.ask(`GET rl:new-wallets:${visitor.address}`)).toBe('1');
  });
});

describe('a Redis that cannot count', () => {
  const fifteen = async (at: WebReplicas): Promise<number[]> => {
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => at.client.get(`/auth/nonce/0x${'1'.repeat(40)}`)),
    );
    return answers.map(({ status }) => status);
  };

  test.each([
    [
      'is full',
      async (at: WebReplicas) => {
        const full = await openLink(at.redis.port);
        await full.ask('CONFIG SET maxmemory 1');
        full.close();
      },
    ],
    ['is away', (at: WebReplicas) => at.redis.stop()],
  ] as const)('does not let everybody pass: it %s', async (_, spoil) => {
    const spoilt = await startWebReplicas({ env: { RATE_LIMIT: 'on' } });
    try {
      expect((await spoilt.client.get('/livez')).status).toBe(200);
      await spoil(spoilt);
      expect((await fifteen(spoilt)).filter((status) => status === 429)).toHaveLength(5);
      const orders = Array.from({ length: 20 }, () => ({}));
      const junk = await Promise.all(
        Array.from({ length: 10 }, () =>
          spoilt.client.post('/markets/x/orders/batch?dryRun=true', { body: { orders } }),
        ),
      );
      expect(junk.some(({ status }) => status === 429)).toBe(true);
    } finally {
      await spoilt.stop();
    }
  });
});
