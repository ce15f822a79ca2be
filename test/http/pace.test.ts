import { sendRaw } from '../support/raw-http';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** An address that continues after refusals is slowed down, and no other is. */
let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas({ env: { RATE_LIMIT: 'on', TRUST_PROXY: '1' } });
});
afterAll(() => exchange.stop());

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
const LANES = 60;
/** 600 refusals cost 4 points each, 2,400 in all: the burst pays for less than half of them at once. */
const MORE_THAN_ITS_PACE = 600;

test('requests of an address in debt are held, and those of others are not', async () => {
  const startedAt = performance.now();
  let answered = 0;
  const lane = async () => {
    const statuses: number[] = [];
    for (let i = 0; i < MORE_THAN_ITS_PACE / LANES; i++) {
      const { status } = await exchange.client.get('/nothing/here', from('203.0.113.1'));
      statuses.push(status);
      answered++;
    }
    return statuses;
  };
  const flood = Promise.all(Array.from({ length: LANES }, lane));
  const other = exchange.client
    .get('/time', from('203.0.113.2'))
    .then(({ status }) => ({ status, answered }));
  expect(new Set((await flood).flat())).toEqual(new Set([404]));
  expect(performance.now() - startedAt).toBeGreaterThan(900);
  const bystander = await other;
  expect(bystander.status).toBe(200);
  expect(bystander.answered).toBeLessThan(MORE_THAN_ITS_PACE);
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

test('requests of an address are served one after the other by its points, however many connections it opens', async () => {
  // A hundred a second are answered for a point each, and the others refused for 10: five seconds pay for some 1,000.
  const request = 'GET /time HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.4\r\n\r\n';
  const opened = Array.from({ length: 220 }, () =>
    sendRaw(exchange.replicas[0].port, request.repeat(8), 10_000),
  );
  const texts = (await Promise.all(opened)).map(({ text }) => text).join('');
  expect([...new Set(texts.match(/"scope":"\w+"/g))].sort()).toEqual(['"scope":"pace"', '"scope":"reads"']);
  expect((await exchange.client.get('/time', from('203.0.113.5'))).status).toBe(200);
});
