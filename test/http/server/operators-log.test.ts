import { Redis } from 'ioredis';
import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { openMarket } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas();
});
afterAll(() => exchange.stop());

const ask = (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> =>
  exchange.client.call(method, `/admin/${path}`, {
    token: ADMIN_TOKEN,
    headers,
    ...(body === undefined ? {} : { body }),
  });
const log = async (query = ''): Promise<Answer> => ask('GET', `log${query}`);

test("an operator's action is stored with its result, and logged once under its request id", async () => {
  const market = await openMarket(exchange.client, ADMIN_TOKEN, { description: 'x'.repeat(1_000) });
  await ask('POST', `markets/${market.id}/pause`, undefined, {
    'x-request-id': 'pause-1',
    'user-agent': 'desk',
  });
  await ask('POST', `markets/${market.id}/open`, {});
  const { status, body } = await log();
  expect(status).toBe(200);
  expect(body.nextCursor).toBeNull();
  expect(body.data).toHaveLength(3);
  const [open, pause, create] = body.data;
  expect(pause).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    requestId: 'pause-1',
    action: 'POST /admin/markets/{id}/pause',
    path: `/admin/markets/${market.id}/pause`,
    body: {},
    address: expect.stringContaining('127.0.0.1'),
    agent: 'desk',
    status: 200,
    code: null,
    at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect(open).toMatchObject({ status: 409, code: 'MARKET_NOT_OPEN' });
  expect(create).toMatchObject({ action: 'POST /admin/markets', status: 201 });
  expect(create.body.description).toBe(`${'x'.repeat(200)}…`);
  const lines = exchange.logged.filter((line) => line.includes('"msg":"operator"'));
  expect(lines.map((line) => JSON.parse(line).status)).toEqual([201, 200, 409]);
  expect(lines[1]).toContain('"requestId":"pause-1"');
  expect(exchange.logged.join()).not.toContain(ADMIN_TOKEN);
});

test('a request that is refused for its shape or its token is not logged, and neither is a read', async () => {
  const before = (await log()).body.data.length;
  await ask('PUT', 'mode', { mode: 'OFF' });
  await exchange.client.call('PUT', '/admin/mode', { token: 'wrong', body: { mode: 'HALTED' } });
  await log();
  expect((await log()).body.data).toHaveLength(before);
});

test('a walk by cursor neither repeats nor skips, whatever is added meanwhile', async () => {
  for (let i = 0; i < 12; i++) await ask('PUT', 'mode', { mode: 'NORMAL' }, { 'x-request-id': `walk-${i}` });
  const all = (await log('?limit=200')).body.data.map(({ id }: { id: string }) => id);
  const walked: string[] = [];
  let cursor: string | null = null;
  do {
    const { body } = await log(`?limit=5${cursor === null ? '' : `&cursor=${cursor}`}`);
    walked.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.nextCursor;
    await ask('PUT', 'mode', { mode: 'NORMAL' });
  } while (cursor !== null);
  expect(walked).toEqual(all);
  for (const [query, code] of [
    ['?cursor=nonsense', 'INVALID_CURSOR'],
    ['?limit=0', 'INVALID_LIMIT'],
    ['?limit=x', 'INVALID_LIMIT'],
  ] as const) {
    expect((await log(query)).body.code).toBe(code);
  }
});

test('no action is done that cannot be logged', async () => {
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const own = new Redis(exchange.redis.url);
  try {
    // The key of the log has another type, so the script that writes the entry fails first.
    await own.rename('{x0}:al', '{x0}:al-away');
    await own.set('{x0}:al', 'no set');
    expect((await ask('POST', `markets/${market.id}/pause`)).status).toBe(500);
    await own.rename('{x0}:al-away', '{x0}:al');
    expect((await exchange.client.get(`/markets/${market.id}`)).body.status).toBe('OPEN');
  } finally {
    own.disconnect();
  }
});
