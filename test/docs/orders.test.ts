import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Wallet } from 'ethers';
import { ORDER_STATUSES, REASONS } from '../../src/exchange/status';
import * as story from '../../src/wire/documents/openapi/examples/story';
import { LIMITS, SUBMISSION_COSTS } from '../../src/wire/limits';
import { BATCH_ORDERS_MAX, CANCEL_HASHES_MAX } from '../../src/wire/requests/orders';
import { OPEN_API } from '../support/api';
import type { Answer } from '../support/client';
import { ROOT } from '../support/processes';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, openMarket, type Trader } from '../support/trader';
import { limit } from '../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** Tests docs/use/orders.md with a running exchange: its requests are sent unchanged, and its tables compared with the code. */
const PAGE = readFileSync(path.join(ROOT, 'docs/use/orders.md'), 'utf8');
const SIGNING = readFileSync(path.join(ROOT, 'docs/use/signing.md'), 'utf8');

function block(name: string): string {
  const text = new RegExp(`\`\`\`\\w+ ${name}\\n([\\s\\S]*?)\\n\`\`\``).exec(PAGE)?.[1];
  if (text === undefined) throw new Error(`docs/use/orders.md has no block ${name}`);
  return text;
}
/** The cells of the tables under a heading, by row. */
function rows(heading: string): string[][] {
  const section = PAGE.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return section
    .split('\n')
    .filter((line) => /^\| (?!-|what|member|status|side|`reason`)/.test(line) && !line.startsWith('|--'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
const bare = (cell = ''): string => cell.replaceAll('`', '');

let exchange: WebReplicas;
let alice: Trader;
let feeMarket: Awaited<ReturnType<typeof openMarket>>;
let traders: Trader[];

beforeAll(async () => {
  exchange = await startWebReplicas();
  const domain = await domainOf(exchange.client);
  const key = /^\| Alice \| `(0x[0-9a-f]{64})`/m.exec(SIGNING)?.[1] ?? '';
  alice = createTrader(exchange.client, domain, new Wallet(key));
  traders = [createTrader(exchange.client, domain), createTrader(exchange.client, domain)];
  await openMarket(exchange.client, ADMIN_TOKEN, { questionId: story.QUESTION_ID, minOrderSize: '1' });
  feeMarket = await openMarket(exchange.client, ADMIN_TOKEN, { feeRateBps: 200 });
  for (const trader of traders) await trader.post(`/markets/${feeMarket.id}/split`, { size: '500' });
});
afterAll(() => exchange.stop());

const ATTEMPTS_MAX = 5;

/** Sends a request of the page unchanged, and again after a 503, as the page says. */
async function send(name: string, bearer = false, attempt = 1): Promise<Answer> {
  const [line = '', ...body] = block(name).split('\n');
  const [method = '', target = ''] = line.split(' ');
  const text = body.join('\n').trim();
  const answer = await exchange.client.call(method, target, {
    ...(bearer ? { token: await alice.token() } : {}),
    ...(text === '' ? {} : { body: JSON.parse(text) }),
  });
  return answer.status === 503 && attempt < ATTEMPTS_MAX ? send(name, bearer, attempt + 1) : answer;
}

test('the requests of the page get the answers on the page', async () => {
  const bob = await send('bob');
  expect([bob.status, bob.body]).toEqual([200, expect.objectContaining(JSON.parse(block('bob-answer')))]);
  const bought = await send('alice');
  const { fills, ...told } = JSON.parse(block('alice-answer'));
  expect([bought.status, bought.body]).toEqual([200, expect.objectContaining(told)]);
  expect(bought.body.fills).toEqual([expect.objectContaining(fills[0])]);
  const cancelled = await send('cancel', true);
  expect(cancelled.status).toBe(200);
  expect(cancelled.body).toEqual(expect.objectContaining(JSON.parse(block('cancel-answer'))));
  for (const name of ['cancel-list', 'cancel-all']) {
    const answer = await send(name, true);
    expect([name, answer.status, answer.text]).toEqual([name, 200, expect.any(String)]);
  }
});

test('the tables of members have every member of a submission, with an example that the documents have, too', () => {
  const { schemas } = OPEN_API.components as {
    schemas: Record<string, { properties: object; required: string[] }>;
  };
  const told = rows('The members of a submission');
  expect(told.map(([name]) => bare(name)).sort()).toEqual(
    Object.keys(schemas.SubmissionBody?.properties ?? {}).sort(),
  );
  const signed = rows('The members of the signed order');
  expect(signed.map(([name]) => bare(name))).toEqual(Object.keys(schemas.OrderToSubmit?.properties ?? {}));
  for (const [name, , , example] of signed) {
    const value = String(story.ALICE_ORDER[bare(name) as keyof typeof story.ALICE_ORDER]);
    expect([name, value.startsWith(bare(example).replace('…', ''))]).toEqual([name, true]);
  }
});

test('the table of fees shows the real costs of fills', async () => {
  const [maker, taker] = traders as [Trader, Trader];
  const told = rows('Fees');
  expect(told).toHaveLength(4);
  for (const [side = '', price = '', fee = '', receives = ''] of told) {
    const pips = Number(price) * 10_000;
    const more = { more: { feeRateBps: '200' } };
    await maker.submit(feeMarket, limit(side === 'BUY' ? 'SELL' : 'BUY', 0, pips, 4_000), more);
    const { body } = await taker.submit(feeMarket, limit(side as 'BUY' | 'SELL', 0, pips, 4_000), more);
    const [{ fee: taken, feeAsset }] = body.fills;
    const unit = feeAsset === 'COLLATERAL' ? 'collateral' : 'tokens';
    expect([side, price, fee]).toEqual([side, price, `${taken} ${unit}`]);
    const whole = side === 'BUY' ? 40 : 40 * Number(price);
    expect(receives).toBe(`${Number((whole - Number(taken)).toFixed(6))} ${unit}`);
  }
});

test('the tables of limits and of the life of an order agree with the code', () => {
  const said = rows('Limits').map(([what = '', number = '', by = '']) => [what.split(';')[0], number, by]);
  const per = (sec: number): string => (sec === 1 ? '/s' : '/min');
  const words = { ip: 'IP', maker: 'maker', wallet: 'wallet' };
  const real = [LIMITS.submissions, LIMITS.orders, LIMITS.cancels, LIMITS.reads, LIMITS.signIn].map((one) => [
    one.what,
    `${one.points}${per(one.durationSec)}${one.burst ? `, burst ${one.points + one.burst}` : ''}`,
    words[one.by],
  ]);
  expect(said).toEqual(real);
  expect(PAGE).toContain(
    `a dry run ${SUBMISSION_COSTS.dryRun}, a refused FOK ${SUBMISSION_COSTS.refusedFok}`,
  );
  expect(PAGE).toContain(`at most ${BATCH_ORDERS_MAX} orders`);
  expect(PAGE).toContain(`at most ${CANCEL_HASHES_MAX} hashes`);
  const life = rows("An order's life").map(([name]) => bare(name));
  expect(life.sort()).toEqual([...ORDER_STATUSES, ...REASONS.filter((reason) => reason !== null)].sort());
});
