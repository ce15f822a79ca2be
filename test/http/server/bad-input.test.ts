import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { Answer } from '../../support/client';
import { sampleOf } from '../../support/sample';
import { ADMIN_TOKEN, JWT_SECRET } from '../../support/settings';
import { play } from './bad-input/mutations';
import { playScenario } from './bad-input/scenarios';
import { type Case, type State, startTwoTraders, type TwoTraders } from './bad-input/two-traders';

const { cases } = JSON.parse(readFileSync(path.join(__dirname, '../../cases/bad-input.json'), 'utf8')) as {
  cases: Case[];
};
const STACK = /\n\s+at |node_modules|\.[jt]s:\d+|ioredis|ReplyError|EVALSHA/;
/** Its refusal comes from a race whose other order trades. */
const MOVES: ReadonlySet<string> = new Set(['BI-425']);
const SLOW_LIMIT_MS = 90_000;

let traders: TwoTraders;

const whole = cases.filter((item) => item.skip === undefined);
const kindOf = ({ area, mutation: { op, base } }: Case): string => JSON.stringify([area, op, base]);
const firsts = new Set(new Map([...whole].reverse().map((item) => [kindOf(item), item])).values());
const others = whole.filter((item) => !firsts.has(item));
/** A run of `npm test` plays the first case of each kind, and a sixth of the others. */
const sample = new Set([...firsts, ...sampleOf('cases of bad input', others, others.length / 6)]);
const isSlow = (item: Case): boolean => item.mutation.op === 'slowHeaders';
/** The slow one last: its connection opens at the beginning, and waits for its end while the others are played. */
const played = whole
  .filter((item) => sample.has(item))
  .sort((one, other) => Number(isSlow(one)) - Number(isSlow(other)));
let slow: Promise<Answer>[];
/** The state after the last case. */
let last: State | undefined;

beforeAll(async () => {
  traders = await startTwoTraders();
  slow = played.filter(isSlow).map((item) => slowHeaders(traders.next().port, item.path));
});
afterAll(() => traders.stop());

test.each(played.map((item) => [`${item.id} ${item.why}`, item] as const))('%s', async (_, item) => {
  const before = last ?? (await traders.state());
  const answer = await answerTo(item);
  expect(answer.status).toBeLessThan(500);
  if (item.method === 'WS') {
    // The exchange serves only WebSocket of Engine.IO 4; a client that polls, or speaks an older protocol, receives
    // that as an error.
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_REQUEST']);
  } else {
    expect(item.expect.status).toContain(answer.status);
    if (answer.status >= 400) checkProblem(answer, item);
  }
  const part = item.mutation.op === 'scenario' ? 'restored' : 'all';
  last = await traders.state();
  if (answer.status >= 400 && !MOVES.has(item.id)) expect(last[part]).toBe(before[part]);
  await checkAlive();
});

test('no secret and no bug was logged', () => {
  const log = traders.exchange.logged.join('\n');
  expect(log).not.toContain('INTERNAL');
  for (const secret of [JWT_SECRET, ADMIN_TOKEN]) expect(log).not.toContain(secret);
  expect(log).not.toMatch(/eyJ[\w-]+\.|0x[0-9a-f]{130}/);
});

function answerTo(item: Case): Promise<Answer> {
  const { op } = item.mutation;
  if (item.method === 'WS') {
    const query = String(item.mutation.variant).includes('EIO=3')
      ? 'EIO=3&transport=polling'
      : 'EIO=4&transport=polling&sid=x';
    return traders.next().client.get(`${item.path}?${query}`);
  }
  if (isSlow(item)) return slow.shift() as Promise<Answer>;
  return op === 'scenario' ? playScenario(traders, item) : play(traders, item);
}

function checkProblem({ status, headers, body, text }: Answer, item: Case): void {
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(headers.get('x-request-id')).toBe(body.requestId);
  expect(body).toMatchObject({
    status,
    code: expect.any(String),
    title: expect.any(String),
    detail: expect.any(String),
  });
  expect(typeof body.retryable).toBe('boolean');
  if (item.expect.code) expect(item.expect.code).toContain(body.code);
  expect(text).not.toMatch(STACK);
  for (const secret of [JWT_SECRET, ADMIN_TOKEN]) expect(text).not.toContain(secret);
}

async function checkAlive(): Promise<void> {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as Record<string, unknown>).x).toBeUndefined();
  for (const { client } of traders.exchange.replicas) expect((await client.get('/livez')).status).toBe(200);
}

/** Headers that arrive a byte a second: the connection receives 408 and ends. */
function slowHeaders(port: number, target: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-Slow: `);
    const drip = setInterval(() => socket.write('a'), 1_000);
    const limit = setTimeout(() => socket.destroy(new Error('not ended in time')), SLOW_LIMIT_MS);
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearInterval(drip);
      clearTimeout(limit);
      const [head = '', body = ''] = text.split('\r\n\r\n');
      const [first = '', ...lines] = head.split('\r\n');
      const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]));
      resolve({ status: Number(first.split(' ')[1]), headers, text: body, body: JSON.parse(body) });
    });
  });
}
