import { startExchange, type TestExchange } from '../support/exchange';

/** An address that goes on after it was refused is slowed down, and nobody else is. */
let exchange: TestExchange;
beforeAll(async () => {
  exchange = await startExchange({ env: { RATE_LIMIT: 'on', TRUST_PROXY: '1' } });
});
afterAll(() => exchange.stop());

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const MORE_THAN_ITS_PACE = 1_200;

test('requests of an address in debt are held, and those of others are not', async () => {
  const startedAt = performance.now();
  const flood = Array.from({ length: MORE_THAN_ITS_PACE }, () =>
    exchange.client.get('/nothing/here', from('203.0.113.1')).then(({ status }) => ({
      status,
      afterMs: performance.now() - startedAt,
    })),
  );
  const answers = await Promise.all(flood);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  // 1,200 refusals cost 4 points each, 4,800 in all: the burst pays for a quarter of them at once.
  expect(Math.max(...answers.map(({ afterMs }) => afterMs))).toBeGreaterThan(900);
  // The debt of the last refusals stands: the debtor waits, somebody else does not.
  const order: string[] = [];
  const ask = async (address: string) => {
    expect((await exchange.client.get('/time', from(address))).status).toBe(200);
    order.push(address);
  };
  await Promise.all([ask('203.0.113.1'), ask('203.0.113.2')]);
  expect(order).toEqual(['203.0.113.2', '203.0.113.1']);
});

test('a body that is too large is charged by its bytes', async () => {
  const raw = 'x'.repeat(200_000);
  const send = () =>
    exchange.client.post('/markets/any/orders', { raw, ...from('203.0.113.3') }).then(({ status }) => status);
  const startedAt = performance.now();
  // 52 points each: the 20th has no more points.
  const statuses = await Promise.all(Array.from({ length: 40 }, send));
  expect(new Set(statuses)).toEqual(new Set([413]));
  expect(performance.now() - startedAt).toBeGreaterThan(500);
});
