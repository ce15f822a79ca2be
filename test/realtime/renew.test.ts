import { listen } from '../support/listener';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, type Domain, domainOf, type Market, openMarket, type Trader } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { limit } from '../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/**
 * A private socket and its token. Short-lived tokens are API keys with an expiration; the stories that wait for it wait
 * together.
 */
/** Enough to connect in, and to renew, on a busy machine. */
const LIFE_MS = 5_000;

let exchange: WebReplicas;
let domain: Domain;
let market: Market;
let alice: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas();
  domain = await domainOf(exchange.client);
  market = await openMarket(exchange.client, ADMIN_TOKEN);
  alice = createTrader(exchange.client, domain);
});
afterAll(() => exchange.stop());

const connect = (auth: object) => listen(exchange.client.url, { ...auth });
const keyFor = async (
  ms: number,
  scopes = ['read'],
  trader = alice,
): Promise<{ id: string; key: string }> => {
  const expiresAt = new Date(Date.now() + ms).toISOString();
  return (await trader.post('/me/keys', { name: 'short', scopes, expiresAt })).body;
};

test.concurrent('a socket is warned that its token ends, continues under the renewed one, and misses nothing', async () => {
  const socket = await connect({ token: (await keyFor(LIFE_MS)).key });
  const { expiresAt } = await socket.heard('session:expiring');
  const endsAtMs = Date.parse(expiresAt);
  expect(endsAtMs - Date.now()).toBeLessThan(LIFE_MS + 500);
  const answer = await socket.ask('renew', { token: await alice.token() });
  expect(answer).toEqual({ ok: true, expiresAt: expect.any(String) });
  expect(Date.parse(answer.expiresAt) - Date.now()).toBeGreaterThan(800_000);
  let orders = 0;
  for (; Date.now() < endsAtMs + 1_000; orders++) {
    await alice.submit(market, limit('BUY', 0, 1_000 + 100 * (orders % 20), 100));
    await sleep(500);
  }
  await until('every order was told', () => socket.all('order:update').length === orders);
  expect([socket.ended(), socket.all('session:ended'), socket.all('session:expiring').length]).toEqual([
    null,
    [],
    1,
  ]);
  socket.close();
});

test.concurrent('without renewal the socket closes with its token, and after a renewal with the later one', async () => {
  const [left, renewed] = [
    await connect({ token: (await keyFor(LIFE_MS)).key }),
    await connect({ token: (await keyFor(LIFE_MS)).key }),
  ];
  const second = await keyFor(LIFE_MS + 2_000);
  expect(await renewed.ask('renew', { token: second.key })).toMatchObject({ ok: true });
  await until('the first ended', () => left.ended() !== null);
  expect(left.all('session:ended')).toMatchObject([{ code: 'TOKEN_EXPIRED' }]);
  expect(renewed.ended()).toBeNull();
  await until('the second ended', () => renewed.ended() !== null);
  expect(renewed.all('session:expiring')).toHaveLength(2);
});

test.concurrent('a renewed socket closes when the later token is revoked, not when the first one is', async () => {
  const [first, second] = [await keyFor(600_000), await keyFor(600_000)];
  const socket = await connect({ token: first.key });
  expect(await socket.ask('renew', { token: second.key })).toMatchObject({ ok: true });
  await alice.send('DELETE', `/me/keys/${first.id}`);
  await sleep(2_500);
  expect(socket.ended()).toBeNull();
  await alice.send('DELETE', `/me/keys/${second.id}`);
  await until('it ended', () => socket.ended() !== null);
  expect(socket.all('session:ended')).toMatchObject([{ code: 'TOKEN_INVALID' }]);
});

test('a refused renew leaves the socket unchanged', async () => {
  const bob = createTrader(exchange.client, domain);
  const cancelling = await keyFor(600_000, ['cancel']);
  const reading = await keyFor(600_000, ['read']);
  const socket = await connect({ token: await alice.token(), cancelOnDisconnect: true });
  const refusals = [
    [{ token: 'nothing' }, 'TOKEN_INVALID'],
    [{ token: await bob.token() }, 'FORBIDDEN'],
    [{ token: cancelling.key }, 'FORBIDDEN'],
    [{ token: reading.key }, 'FORBIDDEN'],
    [{}, 'INVALID_REQUEST'],
    [{ token: 7 }, 'INVALID_REQUEST'],
    [{ token: await alice.token(), more: 1 }, 'INVALID_REQUEST'],
  ] as const;
  for (const [message, code] of refusals) {
    expect(await socket.ask('renew', message)).toMatchObject({ ok: false, error: { code } });
  }
  await alice.submit(market, limit('BUY', 0, 500, 100));
  await socket.heard('order:update');
  socket.close();
  const open = await connect({});
  expect(await open.ask('renew', { token: await alice.token() })).toMatchObject({
    ok: false,
    error: { code: 'UNAUTHORIZED' },
  });
  open.close();
});
