import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RESTING, startTwoTraders, type TwoTraders } from '../http/server/bad-input/two-traders';
import { sampleOf, sizeOf } from '../support/sample';
import { ADMIN_TOKEN, JWT_SECRET } from '../support/settings';
import { tell } from '../support/telling';
import { bodyRows, textRows } from './bodies';
import { largeRows } from './large';
import { pathRows, tokenRows } from './paths';
import type { Row, Victim } from './row';

/**
 * Hostile requests made systematically; test/cases/bad-input.json has those written one by one. Each row lists its allowed
 * answers: none changes data, shows a stack or is a 5xx.
 */
const ROWS_MIN = sizeOf('HOSTILE_ROWS', 250, 400);
const AT_ONCE = 8;
/** `npm test` plays one in five of a longer list. No member or path has a multiple of five values, so each is still played. */
const MANY = 250;
const STEP = 5;
const STACK = /\n\s+at |node_modules|\.[jt]s:\d+|ioredis|ReplyError|EVALSHA|\{x0\}/;
const GROWTH_MAX_BYTES = 60_000_000;

/** The memory in use, without garbage. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

let traders: TwoTraders;
let victim: Victim;
beforeAll(async () => {
  traders = await startTwoTraders();
  const { alice, market } = traders;
  const { body } = await alice.signIn();
  const open = await alice.get('/me/orders?status=open');
  victim = {
    marketId: market.id,
    orderHash: open.body.data[0].orderHash,
    address: alice.address,
    token: body.accessToken,
    refreshToken: body.refreshToken,
    order: await alice.order(market, RESTING),
    adminToken: ADMIN_TOKEN,
  };
});
afterAll(() => traders.stop());

let played = 0;

/** The answers of rows that are not among their allowed ones. */
async function play(rows: readonly Row[]): Promise<string[]> {
  const wrong: string[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let i = next++; i < rows.length; i = next++) {
      const { name, method, path, sent, expected } = rows[i] as Row;
      const { status, headers, body, text } = await traders.next().client.call(method, path, sent);
      const got = `${status} ${body?.code}`;
      const isProblem = headers.get('content-type') === 'application/problem+json' && body?.status === status;
      if (!expected.includes(got) || !isProblem) wrong.push(`${name}: ${got}, not ${expected.join(' or ')}`);
      const echo = text.replaceAll(JSON.stringify(decoded(path)).slice(1, -1), '');
      if (STACK.test(echo) || text.includes(JWT_SECRET) || text.includes(ADMIN_TOKEN))
        wrong.push(`${name} shows ${text}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  played += rows.length;
  return wrong;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path.split('?')[0] ?? '');
  } catch {
    return path;
  }
}

test.each([
  ['members that are not what they should be', bodyRows],
  ['bodies that are no JSON, too large, or something else', textRows],
  ['far too much of anything', largeRows],
  ['paths, queries and methods', pathRows],
  ['tokens and sign-ins', tokenRows],
] as const)('%s', async (what, rowsOf) => {
  const before = await traders.state();
  const rows = rowsOf(victim);
  expect(await play(rows.length < MANY ? rows : sampleOf(what, rows, rows.length / STEP))).toEqual([]);
  expect(await traders.state()).toEqual(before);
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test('the requests were many, no bug was logged, and memory did not grow with them', async () => {
  expect(played).toBeGreaterThanOrEqual(ROWS_MIN);
  const log = traders.exchange.logged.join('\n');
  expect(log).not.toContain('INTERNAL');
  for (const secret of [JWT_SECRET, ADMIN_TOKEN, victim.token, victim.refreshToken])
    expect(log).not.toContain(secret);
  const before = heldBytes();
  for (let turn = 0; turn < 2; turn++) await play(textRows(victim));
  expect(heldBytes() - before).toBeLessThan(GROWTH_MAX_BYTES);
  tell(`${played} hostile requests`);
});
