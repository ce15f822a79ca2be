import { request } from 'node:http';
import { createClient } from '../support/client';
import { sleep, until } from '../support/waiting';
import { violationsOf } from './invariants';
import type { Submission } from './load';
import { startTradingFleet, type TradingFleet } from './trading-fleet';

/** The time from the request on after which a 404 is final. */
const FINAL_MS = 5_000;
/** The time for which the network keeps sent data before it delivers it. */
const STALL_MS = 10_000;
/** After this time all delivered commands have run. */
const RUN_MS = 1_000;
const WISH = { side: 'BUY', outcome: 0, pips: 2_000, lots: 100, expiration: 0 } as const;

let stage: TradingFleet;
beforeAll(async () => {
  stage = await startTradingFleet({ seed: 'late', markets: 1, people: 2 });
});
afterAll(() => stage?.stop());

/** A prepared order that was not sent yet. */
function fresh() {
  const [market] = stage.markets;
  const [person] = stage.people;
  if (!market || !person) throw new Error('no stage');
  const signed = person.sign(market, WISH);
  const submission: Submission = {
    signed,
    marketId: market.id,
    person,
    orderType: 'GTC',
    accepted: [],
    refused: null,
    doubtfulUntilMs: 0,
    isGivenUp: true,
    cancelSequence: null,
    cancelUnknown: false,
  };
  stage.journal.submissions.push(submission);
  return { path: `/markets/${market.id}/orders`, order: signed.wire, hash: signed.orderHash };
}

const replicas = () => {
  const [one, other] = stage.fleet.webs;
  if (!other) throw new Error('one replica is not enough');
  return { one, other };
};

/** The answers of each replica about the orders, by their hashes. */
async function statuses(hashes: readonly string[]): Promise<number[]> {
  const asked: Promise<number>[] = [];
  for (const { client } of stage.fleet.webs) {
    await until('it is well', async () => (await client.get('/readyz')).status === 200);
    asked.push(...hashes.map(async (hash) => (await client.get(`/orders/${hash}`)).status));
  }
  return Promise.all(asked);
}

const nowhere = (hashes: readonly string[]): number[] => [...hashes, ...hashes].map(() => 404);

test('an order whose command is delivered ten seconds late is not booked, after a 503 and then a 404 were answered', async () => {
  const { one, other } = replicas();
  // The replica knows the market, and Redis the script, so a submission is now one command.
  const warm = fresh();
  expect((await one.client.post(`${warm.path}?dryRun=true`, { body: { order: warm.order } })).status).toBe(
    200,
  );

  const [alone, ...batch] = [fresh(), fresh(), fresh()];
  if (!alone) throw new Error('no order');
  const hashes = [alone, ...batch].map(({ hash }) => hash);
  one.link.stall();
  const sentAt = performance.now();
  const [first, second] = await Promise.all([
    createClient(one.client.url).once('POST', alone.path, {
      body: { order: alone.order, deadline: Date.now() + 60_000 },
    }),
    createClient(one.client.url).once('POST', `${alone.path}/batch`, {
      body: { orders: batch.map(({ order }) => ({ order })) },
    }),
  ]);
  // A batch is answered as a whole when its time is over, else order by order.
  const each: { status: number }[] = second.body.results ?? batch.map(() => second);
  expect([first, ...each].map(({ status }) => status)).toEqual([503, 503, 503]);
  await sleep(FINAL_MS - (performance.now() - sentAt));
  for (const hash of hashes) expect((await other.client.get(`/orders/${hash}`)).status).toBe(404);
  await sleep(STALL_MS - (performance.now() - sentAt));
  one.link.heal();
  await sleep(RUN_MS);
  expect(await statuses(hashes)).toEqual(nowhere(hashes));
  expect(violationsOf(await stage.evidence())).toEqual([]);
});

test('an order whose body arrives six seconds after its head is not booked', async () => {
  const { one, other } = replicas();
  const late = fresh();
  const body = JSON.stringify({ order: late.order });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const sent = request(`${one.client.url}${late.path}`, { method: 'POST', headers });
  const status = new Promise((resolve, reject) => {
    sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
  sent.write(body.slice(0, 20));
  await sleep(FINAL_MS);
  expect((await other.client.get(`/orders/${late.hash}`)).status).toBe(404);
  await sleep(RUN_MS);
  sent.end(body.slice(20));
  expect(await status).toBe(503);
  expect(await statuses([late.hash])).toEqual(nowhere([late.hash]));
});

test('a web process that was stopped for six seconds books no order that was sent to it before', async () => {
  const { one, other } = replicas();
  const late = fresh();
  one.pause();
  const sentAt = performance.now();
  const answer = createClient(one.client.url).once('POST', late.path, { body: { order: late.order } });
  await sleep(FINAL_MS + RUN_MS);
  expect((await other.client.get(`/orders/${late.hash}`)).status).toBe(404);
  one.resume();
  expect((await answer).status).toBe(503);
  await sleep(RUN_MS);
  expect(performance.now() - sentAt).toBeGreaterThan(FINAL_MS);
  expect(await statuses([late.hash])).toEqual(nowhere([late.hash]));
});
