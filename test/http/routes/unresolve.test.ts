import { createShell } from '../../cli/shell';
import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, openMarket, type Trader } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** A result that can be taken back for ten minutes. */
const DELAY_MS = 600_000;
let exchange: WebReplicas;
let alice: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas({ env: { RESOLVE_DELAY: String(DELAY_MS / 1_000) } });
  alice = createTrader(exchange.client, await domainOf(exchange.client));
});
afterAll(() => exchange.stop());

const admin = (path: string, body: unknown = {}): Promise<Answer> =>
  exchange.client.call('POST', `/admin/${path}`, { token: ADMIN_TOKEN, body });
const BID = { side: 'BUY', outcome: 0, pips: 4_000, lots: 1_000 } as const;

test('a result pays nobody and cancels nothing before its time, and is taken back', async () => {
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const act = (step: string, body?: unknown): Promise<Answer> => admin(`markets/${market.id}/${step}`, body);
  await alice.post(`/markets/${market.id}/split`, { size: '10' });
  const { orderHash } = (await alice.submit(market, BID)).body;
  const before = (await alice.get('/me/balances')).body;

  const resolved = await act('resolve', { outcomeIndex: 1 });
  expect(resolved.body).toMatchObject({ status: 'RESOLVED', openInterest: '10', liquidity: '4' });
  const { resolvedAt, payoutAt } = resolved.body.resolution;
  expect(Date.parse(payoutAt) - Date.parse(resolvedAt)).toBe(DELAY_MS);
  // Repeated, and with another result.
  expect((await act('resolve', { outcomeIndex: 1 })).body).toEqual(resolved.body);
  expect((await act('resolve', { outcomeIndex: 0 })).body.code).toBe('MARKET_NOT_OPEN');
  expect((await alice.submit(market, BID)).body.code).toBe('MARKET_NOT_OPEN');
  expect((await alice.get('/me/balances')).body).toEqual(before);
  expect((await exchange.client.get(`/orders/${orderHash}`)).body.status).toBe('OPEN');

  const back = await act('unresolve');
  expect([back.status, back.body]).toMatchObject([
    200,
    { status: 'PAUSED', resolution: null, resolvedAt: null },
  ]);
  expect((await act('unresolve')).body).toEqual(back.body);
  await act('resume');
  expect((await alice.submit(market, BID)).status).toBe(200);
  await act('close');
  expect((await act('void')).body.status).toBe('VOIDED');
  expect((await act('unresolve')).body.status).toBe('CLOSED');
  expect((await exchange.client.get(`/orders/${orderHash}`)).body.reason).toBe('MARKET_CLOSED');
});

test('a result that is confirmed must have the name of its outcome', async () => {
  const market = await openMarket(exchange.client, ADMIN_TOKEN, { outcomes: ['Rain', 'Sun'] });
  const resolve = (body: unknown): Promise<Answer> => admin(`markets/${market.id}/resolve`, body);
  for (const confirm of ['Sun', 'rain', 'Yes', '0']) {
    const { status, body } = await resolve({ outcomeIndex: 0, confirm });
    const message = 'must be "Rain", the name of outcome 0';
    expect([status, body.code, body.errors]).toEqual([
      400,
      'INVALID_REQUEST',
      [{ path: 'confirm', message }],
    ]);
  }
  expect((await resolve({ outcomeIndex: 0, confirm: 'Rain' })).body.status).toBe('RESOLVED');
  expect((await admin('markets/none/unresolve')).body.code).toBe('MARKET_NOT_FOUND');
});

test('a command pays no holder sooner than web would, and takes a result back like web', async () => {
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const { url } = exchange.redis;
  const resolve = ['markets', 'resolve', market.id, '--outcome', 'yes', '--yes'];
  for (const words of [resolve, ['markets', 'void', market.id, '--yes']])
    expect(await createShell(url).exchange(...words)).toEqual({
      code: 3,
      out: '',
      err: 'error: INVALID_REQUEST: web pays holders 600 s after a result, and this command would after 0 s: set RESOLVE_DELAY=600 for it, too\n',
    });
  const shell = createShell(url, { RESOLVE_DELAY: '600' });
  const { status, resolution } = await shell.json(...resolve);
  expect([status, Date.parse(resolution.payoutAt) - Date.parse(resolution.resolvedAt)]).toEqual([
    'RESOLVED',
    DELAY_MS,
  ]);
  expect(await createShell(url).json('markets', 'unresolve', market.id)).toMatchObject({
    status: 'PAUSED',
    resolution: null,
  });
});
