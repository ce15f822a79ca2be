import { connect } from 'node:net';
import { PACE } from '../../../src/wire/limits';
import { type StoppedClock, stopClock } from '../../support/stopped-clock';
import { until } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** The patience of a test on a busy machine. */
const PATIENCE_MS = 100_000;
jest.setTimeout(2 * PATIENCE_MS);

/** An address that goes on after it was refused is slowed down, and no other is. Points are counted, with their clock stopped. */
let exchange: WebReplicas;
let clock: StoppedClock;
beforeAll(async () => {
  exchange = await startWebReplicas({ env: { RATE_LIMIT: 'on', TRUST_PROXY: '1' } });
});
beforeEach(() => {
  clock = stopClock();
});
afterEach(() => clock.release());
afterAll(() => exchange.stop());

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
/** The points of an address that was quiet. */
const BURST = 1_000;

/** Statuses as they come in. */
function send(count: number, one: () => Promise<{ status: number }>) {
  const statuses: number[] = [];
  const all = Promise.all(Array.from({ length: count }, async () => statuses.push((await one()).status)));
  return { statuses, all };
}

/** Another address is served meanwhile, many times over. */
async function lookAround(address: string): Promise<void> {
  for (let i = 0; i < 20; i++) expect((await exchange.client.get('/time', from(address))).status).toBe(200);
}

test('requests of an address in debt are held, and those of others are not', async () => {
  // A request costs a point, and its refusal 3 more; what has been paid to the last point lets one more through.
  const paid = BURST / 4 + 1;
  const flood = send(paid + 50, () => exchange.client.get('/nothing/here', from('203.0.113.1')));
  await until('the burst is used up', () => flood.statuses.length >= paid, { patienceMs: PATIENCE_MS });
  await lookAround('203.0.113.2');
  expect(flood.statuses).toHaveLength(paid);
  clock.release();
  await flood.all;
  expect(new Set(flood.statuses)).toEqual(new Set([404]));
});

test('a body that is too large is charged by its bytes', async () => {
  const raw = 'x'.repeat(200_000);
  // 48 points for its bytes, 4 for the refusal.
  const paid = Math.ceil(BURST / 52);
  const flood = send(paid + 10, () =>
    exchange.client.post('/markets/any/orders', { raw, ...from('203.0.113.3') }),
  );
  await until('the burst is used up', () => flood.statuses.length >= paid, { patienceMs: PATIENCE_MS });
  await lookAround('203.0.113.4');
  expect(flood.statuses).toHaveLength(paid);
  clock.release();
  await flood.all;
  expect(new Set(flood.statuses)).toEqual(new Set([413]));
});

test('a large answer is charged by its bytes', async () => {
  const plain = (address: string) => ({
    headers: { ...from(address).headers, 'accept-encoding': 'identity' },
  });
  const ask = () => exchange.client.get('/openapi.json', plain('203.0.113.7'));
  const { text } = await exchange.client.get('/openapi.json', plain('203.0.113.8'));
  const cost = 1 + Math.floor(Buffer.byteLength(text) / 16_384);
  expect(cost).toBeGreaterThan(10);
  for (let i = 0; i <= BURST / cost; i++) expect((await ask()).status).toBe(200);
  let isAnswered = false;
  const late = ask().finally(() => {
    isAnswered = true;
  });
  await lookAround('203.0.113.8');
  expect(isAnswered).toBe(false);
  clock.release();
  expect((await late).status).toBe(200);
});

const PIPELINED = 8;
/** The longest time from the arrival of a submission until it is booked. */
const BOOKED_MS = 3_000;

test('the waits of an address in debt and the time to book an order are together 5 s, after which a 404 is final', () => {
  expect(2 * PACE.holdMs + BOOKED_MS).toBeLessThanOrEqual(5_000);
  // Otherwise the first request in line could be refused.
  expect(PACE.debtMs).toBeLessThan(PACE.holdMs);
});

/** Requests that are no refusals, pipelined on several connections of one address; what came back, by connection. */
function pipelined(address: string, connections: number) {
  const head = `GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\nX-Forwarded-For: ${address}\r\n`;
  const requests = `${`${head}\r\n`.repeat(PIPELINED - 1)}${head}Connection: close\r\n\r\n`;
  const texts = new Map<number, string>();
  const ended = Array.from({ length: connections }, (_, i) => {
    const socket = connect(exchange.replicas[0].port, '127.0.0.1', () => socket.write(requests));
    socket.on('error', () => undefined);
    socket.on('data', (data) => texts.set(i, `${texts.get(i) ?? ''}${data}`));
    return new Promise((resolve) => socket.on('close', resolve));
  });
  const text = (): string => [...texts.values()].join();
  return { ended: Promise.all(ended), text, served: () => text().split('"alive"').length - 1 };
}

test('requests of an address are served one after the other by its points, however many connections it opens', async () => {
  const flood = pipelined('203.0.113.5', 200);
  const paid = BURST + 1;
  await until('the burst is used up', () => flood.served() >= paid, { patienceMs: PATIENCE_MS });
  await lookAround('203.0.113.6');
  expect(flood.served()).toBe(paid);
  clock.forward(PACE.holdMs);
  await flood.ended;
  expect(new Set(flood.text().match(/"scope":"\w+"/g))).toEqual(new Set(['"scope":"pace"']));
  expect(flood.text()).toContain('RateLimit: "pace";r=0;t=1');
  expect(new Set(flood.text().match(/"requestId":"[^"]+"/g))).toEqual(new Set(['"requestId":"mine"']));
  // The burst is whole again, and lends each request that is under way what its refusal may cost.
  expect(flood.served()).toBeLessThanOrEqual(paid + BURST / 10 + 1);
});

test('an address with thousands of requests that wait takes no place from those of another', async () => {
  const flood = pipelined('203.0.113.9', 400);
  await until('the burst is used up', () => flood.served() > BURST, { patienceMs: PATIENCE_MS });
  const other = send(BURST / 4 + 20, () => exchange.client.get('/nothing/here', from('203.0.113.10')));
  await until('the other waits, too', () => other.statuses.length > BURST / 4, { patienceMs: PATIENCE_MS });
  clock.release();
  await other.all;
  expect(new Set(other.statuses)).toEqual(new Set([404]));
  await flood.ended;
});
