import { createShell } from '../../cli/shell';
import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, type Domain, domainOf, openMarket, type Trader } from '../../support/trader';
import { ISO, limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** The operators' moderation. */
let exchange: WebReplicas;
let domain: Domain;
let shell: ReturnType<typeof createShell>;
beforeAll(async () => {
  exchange = await startWebReplicas();
  domain = await domainOf(exchange.client);
  shell = createShell(exchange.redis.url);
});
afterAll(() => exchange?.stop());

const newTrader = (): Trader => createTrader(exchange.client, domain);
const admin = (method: string, path: string, body?: unknown): Promise<Answer> =>
  exchange.client.call(method, `/admin/${path}`, {
    token: ADMIN_TOKEN,
    ...(body === undefined ? {} : { body }),
  });
const name = (trader: Trader, username: string): Promise<Answer> =>
  trader.send('PATCH', '/me/profile', { username });
const latest = async () => (await admin('GET', 'log?limit=1')).body.data[0];

async function commented(text: string) {
  const [author, market] = [newTrader(), await openMarket(exchange.client, ADMIN_TOKEN)];
  const { body } = await author.post(`/markets/${market.id}/comments`, { body: text });
  const read = async () => (await exchange.client.get(`/markets/${market.id}/comments`)).body.data[0];
  return { author, market, id: String(body.id), read };
}

test('an operator deletes a comment of any author permanently, and the log contains it', async () => {
  const { id, read } = await commented('buy my rain');
  expect((await admin('DELETE', `comments/${id}`)).status).toBe(204);
  expect(await read()).toMatchObject({ id, body: '', deleted: true });
  expect(await latest()).toMatchObject({
    action: 'DELETE /admin/comments/{comment_id}',
    path: `/admin/comments/${id}`,
    status: 204,
  });
  expect((await admin('DELETE', `comments/${id}`)).status).toBe(204);
  for (const none of [id.replace(/1$/, '7'), 'x', '%00']) {
    expect((await admin('DELETE', `comments/${none}`)).body.code).toBe('COMMENT_NOT_FOUND');
  }
});

test('a muted wallet can be neither read nor add comments, until it is unmuted', async () => {
  const { author, market, read } = await commented('buy my rain, all of you');
  const said = { username: 'Loud_1', bio: 'rain', avatarUrl: 'https://example.org/rain.png' };
  await author.send('PATCH', '/me/profile', said);
  const path = `profiles/${author.address}`;
  const seen = async () => (await exchange.client.get(`/profiles/${author.address}`)).body;
  expect((await admin('PATCH', path, { muted: true })).status).toBe(200);
  expect(await read()).toMatchObject({
    body: '',
    deleted: true,
    author: { username: null, avatarUrl: null },
  });
  expect(await seen()).toMatchObject({ username: null, bio: null, avatarUrl: null });
  const own = (await author.get('/me/comments')).body.data[0];
  expect(own).toMatchObject({
    body: 'buy my rain, all of you',
    deleted: false,
    author: { username: 'Loud_1' },
  });
  expect((await admin('GET', `accounts/${author.address}`)).body).toMatchObject({ ...said, muted: true });
  const refused = await author.post(`/markets/${market.id}/comments`, { body: 'again' });
  expect([refused.status, refused.body.code]).toEqual([403, 'FORBIDDEN']);
  expect((await shell.json('profiles', 'unmute', author.address)).address).toBe(author.address);
  expect(await read()).toMatchObject({ body: 'buy my rain, all of you', deleted: false });
  expect(await seen()).toMatchObject(said);
  expect((await author.post(`/markets/${market.id}/comments`, { body: 'again' })).status).toBe(201);
});

test('other callers are refused', async () => {
  const { id, read } = await commented('it will rain');
  const stranger = newTrader();
  await stranger.signIn();
  const path = `/admin/comments/${id}`;
  expect((await stranger.send('DELETE', path)).status).toBe(401);
  expect((await exchange.client.call('DELETE', path)).status).toBe(401);
  expect((await stranger.send('DELETE', `/comments/${id}`)).status).toBe(403);
  expect(await read()).toMatchObject({ body: 'it will rain', deleted: false });
});

test('an operator can clear parts of a profile, and cannot write them', async () => {
  const alice = newTrader();
  const said = { username: 'Rude_1', bio: 'rude', avatarUrl: 'https://example.org/rude.png' };
  await alice.send('PATCH', '/me/profile', said);
  const path = `profiles/${alice.address.toLowerCase()}`;
  const first = await admin('PATCH', path, { username: null });
  expect(first.body).toEqual({
    address: alice.address,
    ...said,
    username: null,
    joinedAt: ISO,
    hidden: false,
    portfolioPublic: false,
  });
  expect(await latest()).toMatchObject({ body: { username: null }, status: 200 });
  expect((await name(newTrader(), 'rude_1')).status).toBe(200);
  const rest = await admin('PATCH', path, { bio: null, avatarUrl: null });
  expect(rest.body).toMatchObject({ username: null, bio: null, avatarUrl: null });
  for (const body of [{ username: 'Better' }, { bio: '' }, { joinedAt: null }, null, []]) {
    expect((await admin('PATCH', path, body)).body.code).toBe('INVALID_REQUEST');
  }
  expect((await admin('PATCH', 'profiles/0x12', { bio: null })).body.code).toBe('INVALID_ADDRESS');
});

test('an operator sees all data of a wallet', async () => {
  const [alice, market] = [newTrader(), await openMarket(exchange.client, ADMIN_TOKEN)];
  const nobody = await admin('GET', `accounts/${alice.address}`);
  expect(nobody.body).toMatchObject({ joinedAt: null, positions: 0, openOrders: 0 });
  await alice.submit(market, limit('BUY', 0, 5_000, 1_000));
  await alice.submit(market, limit('BUY', 0, 4_000, 1_000));
  await alice.post(`/markets/${market.id}/split`, { size: '10' });
  await name(alice, 'alice_7');
  const { status, body } = await admin('GET', `accounts/${alice.address.toLowerCase()}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    address: alice.address,
    username: 'alice_7',
    bio: null,
    avatarUrl: null,
    joinedAt: ISO,
    hidden: false,
    portfolioPublic: false,
    balances: (await alice.get('/me/balances')).body,
    muted: false,
    positions: 2,
    openOrders: 2,
  });
  expect((await alice.get(`/admin/accounts/${alice.address}`)).status).toBe(401);
  expect((await admin('GET', 'accounts/alice')).body.code).toBe('INVALID_ADDRESS');
});

test.each([
  ...['admin', 'Administrator', 'OPERATOR', 'exchange', 'support', 'Moderator', 'official', 'system', 'null'],
  ...[
    'undefined',
    'exchange_support',
    'supportadmin',
    '_admin_',
    'admin1',
    '007_system',
    'Official_Exchange_1',
  ],
  ...['ad_min', '__null__', 'adminah', 'my_support', 'sysadmin', 'exchanger', 'exchange_team'],
  // Look-alikes.
  ...[
    'adm1n',
    'supp0rt',
    'Admln',
    'adrnin',
    '0perator',
    'offic1aI',
    'm0derat0r',
    'exch4nge',
    'sy5tem',
    '5upp0rt',
  ],
])('nobody is called %s', async (username) => {
  const answer = await name(newTrader(), username);
  expect([answer.status, answer.body.code]).toEqual([409, 'USERNAME_TAKEN']);
});

test.each(['nullable', 'alice', 'l1am', 'barn_owl', '12345'])(
  'a wallet may have the name %s',
  async (username) => {
    expect((await name(newTrader(), username)).status).toBe(200);
  },
);

test('the command line does the same, and the log contains it', async () => {
  const { id, author, read } = await commented('buy my snow');
  expect(await shell.json('comments', 'delete', id, '--yes')).toEqual({ id, deleted: true });
  expect(await read()).toMatchObject({ body: '', deleted: true });
  expect(await latest()).toMatchObject({ action: 'DELETE /admin/comments/{comment_id}', address: 'local' });
  expect((await shell.exchange('comments', 'delete', 'x', '--yes')).code).toBe(3);
  await author.send('PATCH', '/me/profile', { username: 'Rude_2', bio: 'rude' });
  const reset = await shell.json('profiles', 'reset', author.address, '--username', '--yes');
  expect(reset).toMatchObject({ address: author.address, username: null, bio: 'rude' });
  expect(await shell.json('profiles', 'reset', author.address, '--yes')).toMatchObject({ bio: null });
  expect(await latest()).toMatchObject({ body: { username: null, bio: null, avatarUrl: null }, status: 200 });
  const shown = await shell.json('accounts', 'show', author.address);
  expect(shown).toEqual((await admin('GET', `accounts/${author.address}`)).body);
  expect((await shell.exchange('accounts', 'show', '0x12')).code).toBe(3);
});
