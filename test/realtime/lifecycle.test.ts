import { type Listener, listen } from '../support/listener';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, type Domain, domainOf, type OpenMarket, type Trader } from '../support/trader';
import { type Replica, startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** The socket events of a market that changes and ends, at the replica that did not receive the request. */
let exchange: WebReplicas;
let replicas: [Replica, Replica];
let market: OpenMarket;
let domain: Domain;
const open: Listener[] = [];

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true });
  replicas = [await exchange.replica(), await exchange.replica()];
  domain = await domainOf(replicas[0].client);
});
beforeEach(async () => {
  market = await exchange.market(replicas[0]);
});
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(() => exchange.stop());

async function listener(owner?: Trader): Promise<Listener> {
  const one = await listen(replicas[1].url, owner ? { token: await owner.token() } : {});
  open.push(one);
  return one;
}
const admin = (method: string, path: string, body?: unknown) =>
  replicas[0].client.call(method, `/admin/markets/${market.id}${path}`, {
    token: ADMIN_TOKEN,
    ...(body === undefined ? {} : { body }),
  });
const shown = async () => (await replicas[1].client.get(`/markets/${market.id}`)).body;

test('an edit is sent as market:update, and as an update of the book without a change', async () => {
  const one = await listener();
  await one.ask('subscribe', { conditionId: market.conditionId });
  const { body } = await admin('PATCH', '', { question: 'Will it hail?', tags: ['ice'] });
  expect(await one.heard('market:update')).toEqual(body);
  expect(await one.heard('orderbook:update')).toMatchObject({
    reason: 'MARKET',
    sequence: body.sequence,
    changes: { bids: [], asks: [] },
  });
});

test('every step of a market’s life is sent, and at last that all holders are paid', async () => {
  const one = await listener();
  await one.ask('subscribe', { conditionId: market.conditionId });
  const [alice, bob] = [createTrader(replicas[0].client, domain), createTrader(replicas[0].client, domain)];
  await alice.submit(market, { side: 'BUY', outcome: 0, pips: 6_000, lots: 1_000 });
  await bob.submit(market, { side: 'BUY', outcome: 1, pips: 4_000, lots: 1_500 });
  const [toAlice, toBob] = [await listener(alice), await listener(bob)];
  const told: string[] = [];
  for (const step of ['pause', 'resume', 'close']) {
    await admin('POST', `/${step}`);
    told.push((await one.heard('market:update', told.length + 1)).status);
  }
  expect(told).toEqual(['PAUSED', 'OPEN', 'CLOSED']);
  const { body } = await admin('POST', '/resolve', { outcomeIndex: 0 });
  // Resolving and the last payout are two commands, which may come in one update.
  let last = await one.heard('market:update', 4);
  if (last.openInterest !== '0') last = await one.heard('market:update', 5);
  expect(last).toEqual(body);
  expect(last).toEqual(await shown());
  expect(last).toMatchObject({ status: 'RESOLVED', resolution: { outcomeIndex: 0 }, openInterest: '0' });
  for (const [owner, socket, total] of [
    [alice, toAlice, '1000004'],
    [bob, toBob, '999996'],
  ] as const) {
    const balances = (await owner.get('/me/balances')).body;
    expect(balances).toEqual({ collateral: { total, available: total, reserved: '0' }, tokens: [] });
    let n = 1;
    while ((await socket.heard('balance:update', n)).tokens.length > 0) n++;
    expect(socket.all('balance:update').at(-1)).toMatchObject(balances);
  }
  expect(await toBob.heard('order:update')).toMatchObject({ status: 'CANCELLED', reason: 'MARKET_CLOSED' });
});
