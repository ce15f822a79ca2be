import { createTrader, siweText, type Trader } from '../../support/trader';
import { startReplica, startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let alice: Trader;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
});
afterAll(() => exchange.stop());
beforeEach(async () => {
  const { body } = await exchange.client.get('/config');
  alice = createTrader(exchange.client, body.eip712.domain);
});

const second = () => (exchange.replicas[1] ?? exchange.replicas[0]).client;

test('the challenge and the session have exactly the documented bodies, over two replicas', async () => {
  const { body: challenge } = await exchange.client.get(`/auth/nonce/${alice.address.toLowerCase()}`);
  expect(challenge).toEqual({
    nonce: expect.stringMatching(/^[A-Za-z0-9]{17,}$/),
    address: alice.address,
    domain: 'exchange.test',
    uri: 'https://exchange.test',
    chainId: 97,
    version: '1',
    statement: expect.any(String),
    issuedAt: expect.any(String),
    expiresAt: expect.any(String),
  });
  const message = siweText(challenge);
  const signature = await alice.wallet.signMessage(message);
  const { status, body } = await second().post('/auth/verify', { body: { message, signature } });
  expect(status).toBe(200);
  expect(body).toEqual({
    accessToken: expect.any(String),
    refreshToken: expect.any(String),
    tokenType: 'Bearer',
    expiresIn: 900,
    refreshExpiresIn: 2_592_000,
    user: { id: alice.address, address: alice.address, chainId: 97 },
  });
  const again = await exchange.client.post('/auth/verify', { body: { message, signature } });
  expect([again.status, again.body.code]).toEqual([401, 'NONCE_INVALID']);
});

test('requests of strangers for a wallet’s nonces do not disturb the wallet', async () => {
  const path = `/auth/nonce/${alice.address}`;
  const { body: challenge } = await exchange.client.get(path);
  for (let i = 0; i < 30; i++) await (i % 2 === 0 ? exchange.client : second()).get(path);
  const message = siweText(challenge);
  const signature = await alice.wallet.signMessage(message);
  expect((await second().post('/auth/verify', { body: { message, signature } })).status).toBe(200);
});

test('a nonce from before a restart can be used to sign in after it, once', async () => {
  const { body: challenge } = await exchange.client.get(`/auth/nonce/${alice.address}`);
  const message = siweText(challenge);
  const body = { message, signature: await alice.wallet.signMessage(message) };
  const restarted = await startReplica({ REDIS_URL: exchange.redis.url });
  expect((await restarted.client.post('/auth/verify', { body })).status).toBe(200);
  await restarted.web.stop(1_000);
  expect((await exchange.client.post('/auth/verify', { body })).body.code).toBe('NONCE_INVALID');
});

test('refreshing returns a new pair and invalidates the old one', async () => {
  const { body: first } = await alice.signIn();
  const { status, body: next } = await second().post('/auth/refresh', {
    body: { refreshToken: first.refreshToken },
  });
  expect(status).toBe(200);
  expect(Object.keys(next).sort()).toEqual(Object.keys(first).sort());
  expect(next.refreshToken).not.toBe(first.refreshToken);
  expect((await exchange.client.get('/me/orders', { token: next.accessToken })).status).toBe(200);
  expect((await exchange.client.post('/auth/refresh', { body: {} })).body.code).toBe('INVALID_REQUEST');
});

test('logout ends the session on every replica at once', async () => {
  const { body } = await alice.signIn();
  const token = body.accessToken;
  const { status, text } = await exchange.client.post('/auth/logout', { token });
  expect([status, text]).toEqual([204, '']);
  for (const { client } of exchange.replicas) {
    const answer = await client.get('/me/orders', { token });
    expect([answer.status, answer.body.code]).toEqual([401, 'TOKEN_INVALID']);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="exchange", error="invalid_token"');
  }
});

test('logout everywhere ends every session of the wallet, and of no other one', async () => {
  const bob = createTrader(exchange.client, (await exchange.client.get('/config')).body.eip712.domain);
  const [first, other, third, bobs] = [
    (await alice.signIn()).body,
    (await alice.signIn()).body,
    (await alice.signIn()).body,
    (await bob.signIn()).body,
  ];
  const { body: renewed } = await exchange.client.post('/auth/refresh', {
    body: { refreshToken: other.refreshToken },
  });
  const statusOf = async ({ accessToken: token }: { accessToken: string }) =>
    (await second().get('/me', { token })).status;
  const end = (everywhere: boolean, { accessToken: token }: { accessToken: string }) =>
    exchange.client.post('/auth/logout', { token, body: { everywhere } });
  expect((await end(false, third)).status).toBe(204);
  expect([await statusOf(first), await statusOf(renewed), await statusOf(third)]).toEqual([200, 200, 401]);
  expect((await end(true, first)).status).toBe(204);
  expect([await statusOf(first), await statusOf(renewed), await statusOf(bobs)]).toEqual([401, 401, 200]);
  const refused = await exchange.client.post('/auth/refresh', {
    body: { refreshToken: renewed.refreshToken },
  });
  expect([refused.status, refused.body.code]).toEqual([401, 'TOKEN_INVALID']);
});

test('a refused sign-in names the field', async () => {
  const { body: challenge } = await exchange.client.get(`/auth/nonce/${alice.address}`);
  const message = siweText(challenge, { chainId: 56 });
  const { status, body } = await exchange.client.post('/auth/verify', {
    body: { message, signature: await alice.wallet.signMessage(message) },
  });
  expect([status, body.code, body.field]).toEqual([401, 'SIWE_INVALID', 'chainId']);
  const missing = await exchange.client.post('/auth/verify', { body: { message } });
  expect(missing.body).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ path: 'signature' }] });
  expect((await exchange.client.get('/auth/nonce/0x12')).body.code).toBe('INVALID_ADDRESS');
});
