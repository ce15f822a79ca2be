import { Redis } from 'ioredis';
import { createProfiles } from '../../../src/extensions/people/store/profiles';
import type { Answer } from '../../support/client';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, type Domain, domainOf, openMarket, type Trader } from '../../support/trader';
import { eventually } from '../../support/waiting';
import { ISO, limit } from '../../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

let exchange: WebReplicas;
let domain: Domain;
let redis: Redis;

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  domain = await domainOf(exchange.client);
  redis = new Redis(exchange.redis.url);
});
afterAll(async () => {
  redis?.disconnect();
  await exchange?.stop();
});

const SWITCHES = { hidden: false, portfolioPublic: false };
const newTrader = (at = 0): Trader => createTrader((exchange.replicas[at as 0] ?? exchange).client, domain);
const profileOf = (address: string): Promise<Answer> =>
  (exchange.replicas[1 as 0] ?? exchange).client.get(`/profiles/${address}`);
const edit = (trader: Trader, body: unknown): Promise<Answer> => trader.send('PATCH', '/me/profile', body);

test('with Redis full a wallet hides itself and takes its consent back, and writes nothing new', async () => {
  const profiles = createProfiles(exchange.store);
  const shown = newTrader();
  const { address } = shown;
  await edit(shown, { username: 'Shown_1', bio: 'rain', portfolioPublic: true });
  await redis.config('SET', 'maxmemory', '1');
  try {
    const answer = await edit(shown, { bio: null, portfolioPublic: false, hidden: true });
    expect([answer.status, answer.body.portfolioPublic]).toEqual([200, false]);
    for (const more of [{ bio: 'snow' }, { username: 'Shown_2' }, { avatarUrl: 'https://example.org/a' }]) {
      const { status, body } = await edit(shown, more);
      expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
    }
    await profiles.moderate(address, { muted: true });
  } finally {
    await redis.config('SET', 'maxmemory', '0');
  }
  expect(await profiles.profile(address)).toMatchObject({
    username: 'Shown_1',
    bio: null,
    avatarUrl: null,
    muted: true,
    hidden: true,
    portfolioPublic: false,
  });
});

test('a wallet that signs in has joined, and can edit its profile', async () => {
  const alice = newTrader();
  const { body: me, status } = await alice.get('/me');
  const nothing = { username: null, bio: null, avatarUrl: null };
  expect([status, me]).toEqual([
    200,
    {
      address: alice.address,
      ...nothing,
      joinedAt: ISO,
      hidden: false,
      portfolioPublic: false,
      session: { issuedAt: ISO, expiresAt: ISO },
    },
  ]);
  expect(Date.parse(me.session.expiresAt) - Date.parse(me.session.issuedAt)).toBe(900_000);
  const said = { username: 'Alice_1', bio: 'Ärger 🌧️\nand rain', avatarUrl: 'https://example.org/a.png?x=1' };
  const answer = await edit(alice, said);
  const profile = { address: alice.address, ...said, joinedAt: me.joinedAt, ...SWITCHES };
  expect([answer.status, answer.body]).toEqual([200, profile]);
  expect((await profileOf(alice.address)).body).toEqual(profile);
  expect((await profileOf(alice.address.toLowerCase())).body).toEqual(profile);
  expect((await alice.get('/me')).body).toEqual({ ...profile, session: me.session });
  // An omitted member stays, null clears, and an empty change changes nothing.
  expect((await edit(alice, { bio: null })).body).toEqual({ ...profile, bio: null });
  expect((await edit(alice, {})).body).toEqual({ ...profile, bio: null });
  expect((await edit(alice, { username: null, avatarUrl: null })).body).toEqual({ ...profile, ...nothing });
  expect((await edit(alice, { hidden: true })).body.hidden).toBe(true);
  expect((await edit(alice, { hidden: null })).body.hidden).toBe(false);
  // Signing in again does not change the time of joining.
  await alice.signIn();
  expect((await alice.get('/me')).body.joinedAt).toBe(me.joinedAt);
});

test('a profile shows only public facts, for any address', async () => {
  const stranger = newTrader();
  expect((await profileOf(stranger.address)).body).toEqual({
    address: stranger.address,
    username: null,
    bio: null,
    avatarUrl: null,
    joinedAt: null,
    ...SWITCHES,
  });
  // A wallet that trades without signing in has joined with its first order.
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const { body: order } = await stranger.submit(market, limit('BUY', 0, 1_000, 100));
  // The cached profile of an unknown wallet may be a moment old.
  const joinedAt = async () => (await profileOf(stranger.address)).body.joinedAt;
  await eventually(joinedAt, (seen) => expect(seen).toBe(order.createdAt));
  await stranger.post('/me/orders/cancel-all');
  expect((await profileOf(stranger.address)).body.joinedAt).toBe(order.createdAt);
  for (const address of ['0x12', stranger.address.slice(2), `${stranger.address}0`, '0xZZ', '%F0%9F%8C%A7']) {
    expect((await profileOf(address)).body.code).toBe('INVALID_ADDRESS');
  }
});

test('a username belongs to one wallet, in any case and however many request it at once', async () => {
  const traders = Array.from({ length: 8 }, (_, i) => newTrader(i % 2));
  await Promise.all(traders.map((trader) => trader.signIn()));
  const answers = await Promise.all(
    traders.map((trader, i) => edit(trader, { username: i % 2 ? 'Rainman' : 'RAINMAN', bio: `I am ${i}` })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  const winner = answers.findIndex(({ status }) => status === 200);
  const [owner, loser] = [traders[winner], traders[(winner + 1) % 8]] as [Trader, Trader];
  const refused = await edit(loser, { username: 'rainMan', bio: 'stolen' });
  expect(refused.body).toMatchObject({ status: 409, code: 'USERNAME_TAKEN', retryable: true });
  // A refusal does not change the other members either.
  expect((await profileOf(loser.address)).body).toMatchObject({ username: null, bio: null });
  // The wallet may take its own name in another spelling.
  expect((await edit(owner, { username: 'rAiNmAn' })).body.username).toBe('rAiNmAn');
  expect((await edit(loser, { username: 'rainman' })).status).toBe(409);
  expect((await edit(owner, { username: 'sunny' })).status).toBe(200);
  expect((await edit(loser, { username: 'rainman' })).status).toBe(409);
  expect((await edit(owner, { username: 'RainMan' })).body.username).toBe('RainMan');
});

test('the last username that a wallet gave up is another one’s after 30 days, an earlier one at once', async () => {
  const [owner, other] = [newTrader(0), newTrader(1)];
  await Promise.all([owner.signIn(), other.signIn()]);
  for (const username of ['first_name', 'second_name', 'third_name']) await edit(owner, { username });
  expect((await edit(other, { username: 'first_name' })).status).toBe(200);
  expect((await edit(other, { username: 'second_name' })).status).toBe(409);
  const [key, name] = ['{x0}:pn', 'second_name'];
  const held = await redis.hgetBuffer(key, name);
  expect(held).toHaveLength(26);
  const freeInMs = (held?.readUIntBE(20, 6) ?? 0) - Date.now();
  expect(Math.round(freeInMs / 86_400_000)).toBe(30);
  // Now the time has passed.
  held?.writeUIntBE(Date.now() - 1, 20, 6);
  await redis.hset(key, name, held ?? '');
  expect((await edit(other, { username: 'Second_Name' })).body.username).toBe('Second_Name');
  expect((await edit(owner, { username: 'second_name' })).status).toBe(409);
});

describe('an invalid profile changes nothing', () => {
  let alice: Trader;
  beforeAll(async () => {
    alice = newTrader();
    await edit(alice, { username: 'keeper', bio: 'kept', avatarUrl: 'https://example.org/kept' });
  });
  const longest = '🌧'.repeat(280);

  test('280 characters are counted as code points', async () => {
    expect((await edit(alice, { bio: longest })).body.bio).toBe(longest);
    await edit(alice, { bio: 'kept' });
  });

  test.each<[string, unknown]>([
    ['a member nobody knows', { username: 'other', admin: true }],
    ['a name too short', { username: 'ab' }],
    ['a name too long', { username: 'a'.repeat(21) }],
    ['a name with a space', { username: 'a bc' }],
    ['a name with a line end behind it', { username: 'abc\n' }],
    ['a name in other letters', { username: 'аlice' }],
    ['an empty name', { username: '' }],
    ['a name that is a number', { username: 12345 }],
    ['a name of __proto__', { username: ['__proto__'] }],
    ['a bio of 281 characters', { bio: `${longest}x` }],
    ['a bio with NUL', { bio: 'a\u0000b' }],
    ['a bio with an escape', { bio: '\u001b[31m' }],
    ['a bio with half a surrogate pair', { bio: 'a\ud83cb' }],
    ['a bio that turns its reader', { bio: 'abc\u202egpj.exe' }],
    ['a bio that is an object', { bio: { $gt: '' } }],
    ['a picture over http', { avatarUrl: 'http://example.org/a' }],
    ['a script for a picture', { avatarUrl: 'javascript:alert(1)' }],
    ['data for a picture', { avatarUrl: 'data:text/html,x' }],
    ['a picture with credentials', { avatarUrl: 'https://user:secret@example.org/a' }],
    ['a picture without a host', { avatarUrl: 'https://' }],
    ['a picture of another scheme inside', { avatarUrl: ' https://example.org' }],
    ['a picture with a quote and a space', { avatarUrl: 'https://example.org/" onerror=x' }],
    ['a picture of 2049 characters', { avatarUrl: `https://example.org/${'a'.repeat(2_029)}` }],
    ['a list', []],
    ['null', null],
    ['a text', 'username'],
  ])('%s', async (_, body) => {
    const before = (await profileOf(alice.address)).body;
    const answer = await edit(alice, body);
    expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect((await profileOf(alice.address)).body).toEqual(before);
    expect(before).toMatchObject({ username: 'keeper', bio: 'kept' });
  });

  test('a missing bearer, a body that is not JSON and a repeated member are refused', async () => {
    const { client } = exchange;
    const token = await alice.token();
    const sent = async (more: object) => (await client.call('PATCH', '/me/profile', more)).body.code;
    expect(await sent({ body: { bio: 'x' } })).toBe('UNAUTHORIZED');
    expect(await sent({ token: `${token}x`, body: { bio: 'x' } })).toBe('TOKEN_INVALID');
    expect(await sent({ token, raw: '{"bio":"x","bio":"y"}' })).toBe('INVALID_JSON');
    expect(await sent({ token, raw: '{"bio":"x"' })).toBe('INVALID_JSON');
    expect(await sent({ token, raw: new Uint8Array([0x7b, 0xff, 0x7d]) })).toBe('INVALID_JSON');
    expect(await sent({ token, raw: '{}', headers: { 'content-type': 'text/plain' } })).toBe(
      'UNSUPPORTED_MEDIA_TYPE',
    );
    expect(await sent({ token, body: { bio: 'x'.repeat(17_000) } })).toBe('PAYLOAD_TOO_LARGE');
    expect(await sent({ token })).toBe('UNSUPPORTED_MEDIA_TYPE');
    expect((await profileOf(alice.address)).body.bio).toBe('kept');
    const wrong = await client.call('PUT', '/me/profile', { token, body: {} });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'PATCH, OPTIONS']);
  });
});
