import { readFileSync } from 'node:fs';
import path from 'node:path';
import { play } from '../http/server/bad-input/mutations';
import { type Case, RESTING, startTwoTraders, type TwoTraders } from '../http/server/bad-input/two-traders';
import type { Answer } from '../support/client';
import { laneClient, messageFor, type OrderLane, openLane } from '../support/order-lane';
import { sampleOf } from '../support/sample';
import { ADMIN_TOKEN, JWT_SECRET } from '../support/settings';
import { bodyRows, textRows } from './bodies';
import { largeRows } from './large';
import type { Row } from './row';

/** The hostile bodies of the HTTP suites as order messages: the same refusals, and nothing changed. */
const { cases } = JSON.parse(readFileSync(path.join(__dirname, '../cases/bad-input.json'), 'utf8')) as {
  cases: Case[];
};
const STACK = /\n\s+at |node_modules|\.[jt]s:\d+|ioredis|ReplyError|EVALSHA|\{x0\}/;
/** A message above the limit closes its socket, so those bodies have no answer. */
const MESSAGE_MAX = 262_144;
const SAMPLE = 40;

let traders: TwoTraders;
let lane: OrderLane;
beforeAll(async () => {
  traders = await startTwoTraders();
  lane = await openLane(traders.exchange.client.url, await traders.alice.token());
});
afterAll(async () => {
  lane.close();
  await traders.stop();
});

function check({ status, body, headers, text }: Answer): void {
  expect(status).toBeLessThan(500);
  expect(body).toMatchObject({ status, code: expect.any(String), detail: expect.any(String) });
  expect(headers.get('x-request-id')).toBe(body.requestId);
  expect(text).not.toMatch(STACK);
  for (const secret of [JWT_SECRET, ADMIN_TOKEN]) expect(text).not.toContain(secret);
}

const isText = ({ sent: { raw } }: Row): boolean =>
  raw === undefined || (typeof raw === 'string' && raw.length < MESSAGE_MAX);

test('hostile bodies are refused as over HTTP', async () => {
  const { alice, market } = traders;
  const open = await alice.get('/me/orders?status=open');
  const victim = {
    marketId: market.id,
    orderHash: open.body.data[0].orderHash,
    address: alice.address,
    token: await alice.token(),
    refreshToken: '',
    order: await alice.order(market, RESTING),
    adminToken: ADMIN_TOKEN,
  };
  const rows = [bodyRows, textRows, largeRows]
    .flatMap((rowsOf) => rowsOf(victim))
    .filter((row) => isText(row) && row.sent.headers === undefined)
    .flatMap((row) => {
      const message = messageFor(row.method, row.path, row.sent);
      return message ? [{ ...row, message }] : [];
    });
  expect(rows.length).toBeGreaterThan(SAMPLE);
  const before = await traders.state();
  for (const { name, message, expected } of sampleOf('hostile order messages', rows, SAMPLE)) {
    const answer = await lane.send(...message);
    expect({ name, expected, got: `${answer.status} ${answer.body.code}` }).toEqual({
      name,
      expected,
      got: expect.stringMatching(new RegExp(`^(?:${expected.join('|')})$`)),
    });
    check(answer);
  }
  expect(await traders.state()).toEqual(before);
});

/** The cases of one request with a body that an order message can have: no header but that of JSON. */
const sendable = cases.filter(
  ({ skip, method, path: target, mutation: { op }, headers = {} }) =>
    skip === undefined &&
    method === 'POST' &&
    /\/orders(?:\/cancel|\/\{orderHash:A\}\/replace)?$/.test(target) &&
    !['scenario', 'header', 'prependBOM'].includes(op) &&
    Object.entries(headers).every(
      ([name, value]) => name === 'Authorization' || value === 'application/json',
    ),
);

test.each(sendable.map((item) => [`${item.id} ${item.why}`, item] as const))('%s', async (_, item) => {
  const before = await traders.state();
  const [replica] = traders.exchange.replicas;
  const client = laneClient(replica.client, lane);
  const answer = await play({ ...traders, next: () => ({ ...replica, client }) }, item);
  if (answer.status === 200) {
    expect(item.expect.status).toContain(200);
    return;
  }
  // The socket has a caller where the request had none.
  const isKnown = item.expect.status.includes(401) && item.headers?.Authorization === undefined;
  if (!isKnown) expect(item.expect.status).toContain(answer.status);
  if (!isKnown && item.expect.code) expect(item.expect.code).toContain(answer.body.code);
  check(answer);
  expect(await traders.state()).toEqual(before);
});

test('no secret and no bug was logged', async () => {
  const log = traders.exchange.logged.join('\n');
  expect(log).not.toContain('INTERNAL');
  for (const secret of [JWT_SECRET, ADMIN_TOKEN, await traders.alice.token()])
    expect(log).not.toContain(secret);
});
