import jwt from 'jsonwebtoken';
import { createSessions, type SessionStore, type Sessions } from '../../src/auth/sessions';
import { createTokens, parseJwtSecrets } from '../../src/auth/tokens';
import type { TokenPair } from '../../src/exchange/session';
import { createSessionStore } from '../../src/store/people/sessions';
import { sessionKey } from '../../src/store/redis/keys';
import { createScripts } from '../../src/store/redis/scripts';
import { alice, bob, refusal } from './orders';
import { startRedis, type TestRedis } from './redis';

const tokens = createTokens({
  secrets: parseJwtSecrets('x'.repeat(32)),
  issuer: 'https://exchange.test',
  audience: 'chain:97',
  nowMs: Date.now,
});
const GRACE_MS = 10_000;

let server: TestRedis;
let here: Sessions;
let there: Sessions;
let store: SessionStore;

beforeAll(async () => {
  server = await startRedis();
  const replica = (): SessionStore => {
    const redis = server.client();
    return createSessionStore({ redis, run: createScripts(redis) });
  };
  store = replica();
  here = createSessions({ tokens, store });
  there = createSessions({ tokens, store: replica() });
});
afterAll(() => server?.stop());

const sidOf = (pair: TokenPair): string => tokens.verify('access', pair.accessToken).sid;
const codeOf = async (act: () => Promise<unknown>) => (await refusal(act)).code;

/** Sets back the time at which the refresh token of pair `generation` was first used. */
const ageUse = async (pair: TokenPair, generation: number, ms: number) => {
  const key = `{s:${sidOf(pair)}}`;
  await server.client().hincrby(key, `u${generation}`, -ms);
};

test('opening a session returns a pair that authenticates on every replica', async () => {
  const pair = await here.open(alice.address);
  expect(pair).toEqual({
    address: alice.address,
    accessToken: expect.any(String),
    refreshToken: expect.any(String),
    tokenType: 'Bearer',
    expiresIn: 900,
    refreshExpiresIn: 2_592_000,
  });
  const caller = await there.authenticate(pair.accessToken);
  expect(caller).toMatchObject({ address: alice.address, sid: sidOf(pair) });
  expect(Date.parse(caller.expiresAt ?? '') - Date.parse(caller.issuedAt)).toBe(900_000);
  expect(Math.abs(Date.parse(caller.issuedAt) - Date.now())).toBeLessThan(60_000);
});

test('a token of one use is not accepted for the other', async () => {
  const pair = await here.open(alice.address);
  expect(await codeOf(() => here.authenticate(pair.refreshToken))).toBe('TOKEN_INVALID');
  expect(await codeOf(() => here.refresh(pair.accessToken))).toBe('TOKEN_INVALID');
  expect(await codeOf(() => here.refresh(undefined))).toBe('TOKEN_INVALID');
});

test('refreshing returns a new pair each time, and the session stays the same', async () => {
  const pairs = [await here.open(alice.address)];
  for (let i = 0; i < 5; i++) {
    const last = pairs.at(-1) as TokenPair;
    pairs.push(await (i % 2 === 0 ? here : there).refresh(last.refreshToken));
  }
  expect(new Set(pairs.map(({ refreshToken }) => refreshToken)).size).toBe(6);
  expect(new Set(pairs.map(({ accessToken }) => accessToken)).size).toBe(6);
  expect(new Set(pairs.map(sidOf)).size).toBe(1);
  expect(new Set(pairs.map(({ accessToken }) => (jwt.decode(accessToken) as jwt.JwtPayload).jti)).size).toBe(
    6,
  );
});

test('within 10 s after a lost reply, the old token returns the identical pair on either replica', async () => {
  const first = await here.open(alice.address);
  const second = await here.refresh(first.refreshToken);
  expect(await there.refresh(first.refreshToken)).toEqual(second);
  await ageUse(first, 1, GRACE_MS - 5_000);
  // The pair is dated at its creation, so its age must not change it: the test compares the members without a date.
  const again = await there.refresh(first.refreshToken);
  expect(tokens.verify('refresh', again.refreshToken).jti).toBe(
    tokens.verify('refresh', second.refreshToken).jti,
  );
});

test('the old token returns the identical pair even if the new pair has been used meanwhile', async () => {
  const first = await here.open(alice.address);
  const second = await here.refresh(first.refreshToken);
  const third = await here.refresh(second.refreshToken);
  expect(await there.refresh(first.refreshToken)).toEqual(second);
  expect(await there.refresh(second.refreshToken)).toEqual(third);
  expect((await here.authenticate(third.accessToken)).address).toBe(alice.address);
});

test('a reply that is lost for longer than 10 s does not end the session: the next pair was never used', async () => {
  const first = await here.open(alice.address);
  const lost = await here.refresh(first.refreshToken);
  // This belongs to a request that was sent before: it says nothing about the new pair.
  expect((await there.authenticate(first.accessToken)).sid).toBe(sidOf(first));
  for (const ageMs of [GRACE_MS + 1, 86_400_000]) {
    await ageUse(first, 1, ageMs);
    const second = await there.refresh(first.refreshToken);
    expect(tokens.verify('refresh', second.refreshToken).jti).toBe(
      tokens.verify('refresh', lost.refreshToken).jti,
    );
    expect(tokens.verify('access', second.accessToken).jti).toBe(
      tokens.verify('access', lost.accessToken).jti,
    );
  }
  // The same for each pair of a session.
  const second = await here.refresh(first.refreshToken);
  await here.authenticate(second.accessToken);
  const third = await here.refresh(second.refreshToken);
  await ageUse(first, 2, GRACE_MS + 1);
  const again = await there.refresh(second.refreshToken);
  expect(tokens.verify('refresh', again.refreshToken).jti).toBe(
    tokens.verify('refresh', third.refreshToken).jti,
  );
});

test.each(['access', 'refresh'] as const)(
  'once the %s token of the next pair was used, a reuse after 10 s ends the whole session',
  async (use) => {
    const first = await here.open(alice.address);
    const second = await here.refresh(first.refreshToken);
    if (use === 'access') await there.authenticate(second.accessToken);
    else await there.refresh(second.refreshToken);
    expect(await there.refresh(first.refreshToken)).toMatchObject({ address: alice.address });
    await ageUse(first, 1, GRACE_MS + 1);
    expect(await codeOf(() => there.refresh(first.refreshToken))).toBe('REFRESH_REUSED');
    expect(await codeOf(() => here.authenticate(second.accessToken))).toBe('TOKEN_INVALID');
  },
);

test('a token that is used after its session has ended leaves nothing in Redis', async () => {
  const first = await here.open(alice.address);
  const second = await here.refresh(first.refreshToken);
  await here.logout(sidOf(first));
  expect(await codeOf(() => there.authenticate(second.accessToken))).toBe('TOKEN_INVALID');
  const run = createScripts(server.client());
  expect(await run('note_pair', [sessionKey(sidOf(first))], [2])).toBe(0);
  expect(await server.client().exists(sessionKey(sidOf(first)))).toBe(0);
});

test('a reuse after 10 s ends the whole family, at once and everywhere', async () => {
  const first = await here.open(alice.address);
  const second = await here.refresh(first.refreshToken);
  await here.authenticate(second.accessToken);
  await ageUse(first, 1, GRACE_MS + 1);
  const other = await here.open(alice.address);
  expect(await codeOf(() => there.refresh(first.refreshToken))).toBe('REFRESH_REUSED');
  for (const sessions of [here, there]) {
    expect(await codeOf(() => sessions.authenticate(first.accessToken))).toBe('TOKEN_INVALID');
    expect(await codeOf(() => sessions.authenticate(second.accessToken))).toBe('TOKEN_INVALID');
    expect(await codeOf(() => sessions.refresh(second.refreshToken))).toBe('TOKEN_INVALID');
    expect(await codeOf(() => sessions.refresh(first.refreshToken))).toBe('REFRESH_REUSED');
  }
  expect((await there.authenticate(other.accessToken)).sid).toBe(sidOf(other));
});

test('the 10 s count from the first use, not from the last', async () => {
  const first = await here.open(alice.address);
  const second = await here.refresh(first.refreshToken);
  await here.authenticate(second.accessToken);
  await ageUse(first, 1, GRACE_MS - 5_000);
  await here.refresh(first.refreshToken);
  await ageUse(first, 1, 5_001);
  expect(await codeOf(() => here.refresh(first.refreshToken))).toBe('REFRESH_REUSED');
});

test('a token from two pairs ago counts as a reuse', async () => {
  const first = await here.open(alice.address);
  const second = await here.refresh(first.refreshToken);
  await ageUse(first, 1, GRACE_MS + 1);
  const third = await here.refresh(second.refreshToken);
  expect(await codeOf(() => here.refresh(first.refreshToken))).toBe('REFRESH_REUSED');
  expect(await codeOf(() => here.authenticate(third.accessToken))).toBe('TOKEN_INVALID');
});

test('ten parallel uses over two replicas return one pair', async () => {
  for (let round = 0; round < 5; round++) {
    const { refreshToken } = await here.open(bob.address);
    const uses = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? here : there).refresh(refreshToken));
    const pairs = await Promise.all(uses);
    expect(new Set(pairs.map((pair) => JSON.stringify(pair))).size).toBe(1);
    const [pair] = pairs;
    expect((await there.refresh(pair?.refreshToken)).address).toBe(bob.address);
  }
});

test('logout ends the session at once, on every replica, and no other', async () => {
  const [phone, laptop] = [await here.open(alice.address), await here.open(alice.address)];
  await here.logout(sidOf(phone));
  await here.logout(sidOf(phone));
  for (const sessions of [here, there]) {
    expect(await codeOf(() => sessions.authenticate(phone.accessToken))).toBe('TOKEN_INVALID');
    expect(await codeOf(() => sessions.refresh(phone.refreshToken))).toBe('TOKEN_INVALID');
    expect((await sessions.authenticate(laptop.accessToken)).address).toBe(alice.address);
  }
});

test('a session that Redis does not know has ended, although its tokens are ours', async () => {
  const sid = 'f'.repeat(32);
  const sign = (jti: string) =>
    tokens.sign('refresh', { address: alice.address, sid, jti, issuedAtSec: Math.floor(Date.now() / 1_000) });
  expect(await codeOf(() => here.refresh(sign(`${sid}.1.r`)))).toBe('TOKEN_INVALID');
  expect(await codeOf(() => here.refresh(sign('something')))).toBe('TOKEN_INVALID');
});

describe('the store of sessions', () => {
  const ttl = (sid: string) => server.client().pttl(`{s:${sid}}`);

  test('forgets a session when its last refresh token expires, later with each rotation', async () => {
    await store.open('a', 100);
    expect(await ttl('a')).toBeGreaterThan(90_000);
    expect(await store.rotate('a', 1, 1_000, GRACE_MS)).toMatchObject({ kind: 'rotated', generation: 2 });
    expect(await ttl('a')).toBeGreaterThan(900_000);
    expect(await ttl('a')).toBeLessThanOrEqual(1_000_000);
  });

  test('keeps only uses that can be repeated, at most 32', async () => {
    await store.open('b', 100);
    for (let i = 1; i <= 100; i++) await store.rotate('b', i, 100, GRACE_MS);
    const fields = await server.client().hkeys('{s:b}');
    expect(fields).toHaveLength(33);
    await server.client().hset('{s:b}', 'u100', 1);
    await store.rotate('b', 101, 100, GRACE_MS);
    expect(await server.client().hexists('{s:b}', 'u100')).toBe(0);
  });

  test('refuses a generation from the future', async () => {
    await store.open('c', 100);
    expect(await store.rotate('c', 2, 100, GRACE_MS)).toEqual({ kind: 'gone' });
    expect(await store.isLive('c')).toBe(true);
  });

  test('works while Redis is out of memory, because people must sign in to cancel', async () => {
    const redis = server.client();
    await redis.config('SET', 'maxmemory', '1');
    try {
      await expect(redis.set('x', 'y')).rejects.toThrow('OOM');
      const openedMs = await store.open('d', 100);
      await store.remember(alice.address, 'd', openedMs, 100);
      expect(await store.sessionsOf(alice.address)).toContain('d');
      expect((await store.rotate('d', 1, 100, GRACE_MS)).kind).toBe('rotated');
      await store.revoke('d');
      expect(await store.isLive('d')).toBe(false);
    } finally {
      await redis.config('SET', 'maxmemory', '0');
    }
  });
});
