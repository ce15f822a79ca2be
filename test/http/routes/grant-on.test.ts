import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Market, openMarket, type Trader } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** GRANT_ON=sign-in: wallets that only sign orders do not fill Redis. */
let exchange: WebReplicas;
let market: Market;
beforeAll(async () => {
  exchange = await startWebReplicas({ env: { GRANT_ON: 'sign-in', PAPER_GRANT: '1000' } });
  market = await openMarket(exchange.client, ADMIN_TOKEN);
});
afterAll(() => exchange?.stop());

const BID = { side: 'BUY', outcome: 0, pips: 5_000, lots: 100 } as const;
const trader = async (): Promise<Trader> => createTrader(exchange.client, await domainOf(exchange.client));

test('the first order of a wallet that never signed in has no funds', async () => {
  const stranger = await trader();
  const { status, body } = await stranger.submit(market, BID);
  expect([status, body.code, body.available]).toEqual([422, 'INSUFFICIENT_BALANCE', '0']);
  expect((await exchange.client.get(`/profiles/${stranger.address}`)).body.joinedAt).toBeNull();
});

test('signing in grants collateral once, and the wallet can trade with it', async () => {
  const alice = await trader();
  for (let i = 0; i < 3; i++) expect((await alice.signIn()).status).toBe(200);
  expect((await alice.get('/me/balances')).body.collateral).toMatchObject({
    total: '1000',
    available: '1000',
  });
  expect((await alice.submit(market, BID)).status).toBe(200);
  expect((await alice.get('/me/balances')).body.collateral).toMatchObject({
    total: '1000',
    available: '999.5',
  });
  expect((await exchange.client.get('/admin/audit', { token: ADMIN_TOKEN })).body).toMatchObject({
    ok: true,
  });
});

test('while the exchange is halted nothing is granted, and the next sign-in grants it', async () => {
  const mode = (name: string) =>
    exchange.client.call('PUT', '/admin/mode', { token: ADMIN_TOKEN, body: { mode: name } });
  const alice = await trader();
  await mode('HALTED');
  expect((await alice.signIn()).status).toBe(200);
  expect((await alice.get('/me/balances')).body.collateral.total).toBe('0');
  await mode('NORMAL');
  await alice.signIn();
  expect((await alice.get('/me/balances')).body.collateral.total).toBe('1000');
});
