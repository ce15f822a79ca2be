import jwt from 'jsonwebtoken';
import { createTokens, parseJwtSecrets, type TokenOptions } from '../../src/auth/tokens';
import { alice, refusal } from './orders';

const SECRET = 'a secret of more than thirty-two bytes';
const HOME = { issuer: 'https://exchange.test', audience: 'chain:97' };
const NOW_SEC = 1_788_953_990;
const SUBJECT = {
  address: alice.address,
  sid: 'ab'.repeat(16),
  jti: `${'ab'.repeat(16)}.1.a`,
  issuedAtSec: NOW_SEC,
};

const create = (more: Partial<TokenOptions> = {}) =>
  createTokens({ secrets: parseJwtSecrets(SECRET), ...HOME, nowMs: () => NOW_SEC * 1_000, ...more });
const tokens = create();
const codeOf = async (token: unknown, by = tokens) => (await refusal(() => by.verify('access', token))).code;

/** A token with the right key and chosen members; undefined omits one. */
const forged = (more: object, options: jwt.SignOptions = {}, secret = SECRET) => {
  const payload = {
    iss: HOME.issuer,
    aud: HOME.audience,
    sub: alice.address,
    jti: 'j',
    sid: 's',
    use: 'access',
    iat: NOW_SEC,
    exp: NOW_SEC + 900,
  };
  const present = Object.entries({ ...payload, ...more }).filter(([, value]) => value !== undefined);
  return jwt.sign(Object.fromEntries(present), secret, options);
};

test.each([
  ['access', 900],
  ['refresh', 2_592_000],
] as const)('an %s token says who, where and until when', (use, lifetimeSec) => {
  const token = tokens.sign(use, SUBJECT);
  expect(jwt.decode(token, { complete: true })).toMatchObject({
    header: { alg: 'HS256', typ: 'JWT' },
    payload: {
      iss: HOME.issuer,
      aud: 'chain:97',
      sub: alice.address,
      jti: SUBJECT.jti,
      sid: SUBJECT.sid,
      use,
      iat: NOW_SEC,
      exp: NOW_SEC + lifetimeSec,
    },
  });
  expect(tokens.verify(use, token)).toEqual({ ...SUBJECT, expiresAtSec: NOW_SEC + lifetimeSec });
  expect(tokens.sign(use, SUBJECT)).toBe(token);
});

test('a token is valid until its last second', async () => {
  const token = tokens.sign('access', SUBJECT);
  const at = (sec: number) => create({ nowMs: () => sec * 1_000 });
  expect(at(NOW_SEC + 899.999).verify('access', token).address).toBe(alice.address);
  expect(await codeOf(token, at(NOW_SEC + 900))).toBe('TOKEN_EXPIRED');
});

test('a correctly forged token passes, so each refusal below has the stated reason', () => {
  expect(tokens.verify('access', forged({}))).toMatchObject({ sid: 's', jti: 'j' });
  expect(tokens.verify('access', forged({ iat: NOW_SEC + 60 }))).toMatchObject({ sid: 's' });
});

test.each<[string, () => unknown]>([
  ['for another use', () => tokens.sign('refresh', SUBJECT)],
  ['for another network', () => create({ audience: 'chain:56' }).sign('access', SUBJECT)],
  ['of another issuer', () => create({ issuer: 'https://evil.test' }).sign('access', SUBJECT)],
  ['with another secret', () => create({ secrets: parseJwtSecrets(`${SECRET}!`) }).sign('access', SUBJECT)],
  ['without exp', () => forged({ exp: undefined })],
  ['without iat', () => forged({ iat: undefined }, { noTimestamp: true })],
  ['without sub', () => forged({ sub: undefined })],
  ['without jti', () => forged({ jti: undefined })],
  ['without sid', () => forged({ sid: undefined })],
  ['without use', () => forged({ use: undefined })],
  ['with nbf in the future', () => forged({ nbf: NOW_SEC + 60 })],
  ['expired and for another network', () => forged({ aud: 'chain:56', exp: NOW_SEC - 1 })],
  ['of HS512', () => forged({}, { algorithm: 'HS512' })],
  ['of no algorithm', () => forged({}, { algorithm: 'none' }, '')],
  [
    'with its last character changed',
    () => tokens.sign('access', SUBJECT).replace(/.$/, (c) => (c === 'A' ? 'Q' : 'A')),
  ],
  ['that is of more than a minute ahead', () => forged({ iat: NOW_SEC + 61 })],
  ['with crit', () => forged({}, { header: { alg: 'HS256', crit: ['exp'] } as never })],
  ['whose sub is no address', () => forged({ sub: 'alice' })],
  ['longer than 4 kB', () => forged({ more: 'x'.repeat(4_000) })],
  ['that is text', () => 'hello'],
  ['that is three dots', () => '..'],
  ['that is empty', () => ''],
  ['that is no text', () => ({ toString: () => tokens.sign('access', SUBJECT) })],
])('a token %s is TOKEN_INVALID', async (_, make) => {
  expect(await codeOf(make())).toBe('TOKEN_INVALID');
});

describe('rotation of keys', () => {
  const [old, both, last] = ['old:0123456789', 'new:abcdefghij,old:0123456789', 'new:abcdefghij'].map(
    (secrets) => create({ secrets: parseJwtSecrets(secrets) }),
  );
  if (!old || !both || !last) throw new Error('unreachable');

  test('lets the first key sign, verifies with all, and refuses a dropped one', async () => {
    const before = old.sign('access', SUBJECT);
    const after = both.sign('access', SUBJECT);
    expect(jwt.decode(after, { complete: true })?.header.kid).toBe('new');
    expect(both.verify('access', before).sid).toBe(SUBJECT.sid);
    expect(last.verify('access', after).sid).toBe(SUBJECT.sid);
    expect(await codeOf(before, last)).toBe('TOKEN_INVALID');
    expect(await codeOf(after, old)).toBe('TOKEN_INVALID');
  });

  test('verifies a token from before keys had names under the named key', () => {
    const unnamed = create({ secrets: parseJwtSecrets('0123456789') }).sign('access', SUBJECT);
    expect(both.verify('access', unnamed).sid).toBe(SUBJECT.sid);
  });

  test('lets a process whose only secret has no name yet accept the tokens of one that has named it', async () => {
    const unnamed = create({ secrets: parseJwtSecrets('0123456789') });
    const named = create({ secrets: parseJwtSecrets('a:0123456789,b:abcdefghij') });
    expect(unnamed.verify('access', named.sign('access', SUBJECT)).sid).toBe(SUBJECT.sid);
    expect(named.verify('access', unnamed.sign('access', SUBJECT)).sid).toBe(SUBJECT.sid);
    expect(await codeOf(both.sign('access', SUBJECT), unnamed)).toBe('TOKEN_INVALID');
  });

  test('refuses a name that no key of a list has', async () => {
    const token = create({ secrets: parseJwtSecrets('k9:0123456789') }).sign('access', SUBJECT);
    expect(await codeOf(token, both)).toBe('TOKEN_INVALID');
  });

  test('refuses the right key under the wrong name', async () => {
    expect(
      await codeOf(create({ secrets: parseJwtSecrets('new:0123456789') }).sign('access', SUBJECT), both),
    ).toBe('TOKEN_INVALID');
  });
});

test('JWT_SECRET is one secret or a list of named ones', () => {
  expect(parseJwtSecrets('a+b/c=')).toEqual([{ kid: null, secret: 'a+b/c=' }]);
  expect(parseJwtSecrets('one, two')).toEqual([{ kid: null, secret: 'one, two' }]);
  expect(parseJwtSecrets('k1:a:b, k2:c')).toEqual([
    { kid: 'k1', secret: 'a:b' },
    { kid: 'k2', secret: 'c' },
  ]);
  for (const bad of ['', 'k1:hidden,other', 'k1:hidden,k1:other']) {
    expect(() => parseJwtSecrets(bad)).toThrow(/^(?!.*hidden).*JWT_SECRET/);
  }
});
