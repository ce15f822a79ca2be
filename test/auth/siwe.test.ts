import { Signature, toBeHex, type Wallet } from 'ethers';
import type { SiweMessage } from 'siwe';
import type { BurntNonces, SignIn, SignInOptions } from '../../src/auth/siwe';
import { createNonceStore } from '../../src/store/people/nonces';
import { createScripts } from '../../src/store/redis/scripts';
import { alice, bob, refusal } from './orders';
import { startRedis, type TestRedis } from './redis';
import { createSignInHere, HOME, messageOf, refusedBy } from './sign-in';

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const MINUTE_MS = 60_000;

let server: TestRedis;
let burnt: BurntNonces;
let signIn: SignIn;

const create = (more: Partial<SignInOptions> = {}) => createSignInHere({ burnt, ...more });

beforeAll(async () => {
  server = await startRedis();
  burnt = createNonceStore({ run: createScripts(server.client()) });
  signIn = create();
});
afterAll(() => server?.stop());

const message = (wallet: Wallet, more?: Partial<SiweMessage>) => messageOf(signIn, wallet, more);

const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();
const refused = (text: unknown, signature: unknown, by = signIn) => refusedBy(by, text, signature);
const refusedMessage = async (text: string, by = signIn) => refused(text, await alice.signMessage(text), by);

describe('the challenge', () => {
  test('contains everything that a client needs', async () => {
    const challenge = signIn.challenge(alice.address.toLowerCase());
    expect(Object.keys(challenge).sort()).toEqual([
      'address',
      'chainId',
      'domain',
      'expiresAt',
      'issuedAt',
      'nonce',
      'statement',
      'uri',
      'version',
    ]);
    expect(challenge).toMatchObject({ ...HOME, address: alice.address, version: '1' });
    expect(challenge.nonce).toMatch(/^[A-Za-z0-9]{17,}$/);
    expect(Date.parse(challenge.expiresAt) - Date.parse(challenge.issuedAt)).toBe(300_000);
    expect(signIn.challenge(alice.address).nonce).not.toBe(challenge.nonce);
  });

  test('is given for a valid address only', async () => {
    expect((await refusal(() => signIn.challenge('alice'))).code).toBe('INVALID_ADDRESS');
  });
});

describe('signing in', () => {
  test('works for alice, but only once with the same message', async () => {
    const text = await message(alice);
    const signature = await alice.signMessage(text);
    expect(await signIn.verify(text, signature)).toMatchObject({ address: alice.address });
    expect(await refused(text, signature)).toBe('NONCE_INVALID');
  });

  test('works again with a nonce that was given back, because no session could be opened', async () => {
    const text = await message(alice);
    const signature = await alice.signMessage(text);
    const { nonce } = await signIn.verify(text, signature);
    await signIn.giveBack(nonce);
    expect(await signIn.verify(text, signature)).toEqual({ address: alice.address, nonce });
    expect(await refused(text, signature)).toBe('NONCE_INVALID');
  });

  test('succeeds once for ten requests at the same moment over two replicas', async () => {
    const text = await message(alice);
    const signature = await alice.signMessage(text);
    const other = create({ burnt: createNonceStore({ run: createScripts(server.client()) }) });
    const tries = Array.from({ length: 10 }, (_, i) =>
      (i % 2 === 0 ? signIn : other).verify(text, signature),
    );
    const results = await Promise.allSettled(tries);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('accepts times at their limits, v 0 or 1, a final slash and the scheme', async () => {
    const taken: Partial<SiweMessage>[] = [
      { issuedAt: fromNow(-9.9 * MINUTE_MS) },
      { issuedAt: fromNow(0.9 * MINUTE_MS) },
      { expirationTime: fromNow(MINUTE_MS), notBefore: fromNow(-MINUTE_MS) },
      { uri: `${HOME.uri}/` },
      { scheme: 'https' },
      { requestId: 'r1', resources: ['https://example.com/terms'] },
    ];
    for (const more of taken) {
      const text = await message(alice, more);
      const { r, s, yParity } = Signature.from(await alice.signMessage(text));
      const signature = `${r}${s.slice(2)}0${yParity}`;
      expect(await signIn.verify(text, signature)).toMatchObject({ address: alice.address });
    }
  });
});

test.each<[string, Partial<SiweMessage>]>([
  ['domain', { domain: 'evil.test' }],
  ['domain', { domain: 'exchange.test' }],
  ['domain', { scheme: 'http' }],
  ['uri', { uri: 'https://evil.test' }],
  ['uri', { uri: `${HOME.uri}/login` }],
  ['chainId', { chainId: 56 }],
  ['issuedAt', { issuedAt: fromNow(-11 * MINUTE_MS) }],
  ['issuedAt', { issuedAt: fromNow(2 * MINUTE_MS) }],
  ['expirationTime', { expirationTime: fromNow(-1_000) }],
  ['notBefore', { notBefore: fromNow(MINUTE_MS) }],
])('a message with another %s is refused and keeps its nonce', async (field, more) => {
  const nonce = signIn.challenge(alice.address).nonce;
  expect(await refusedMessage(await message(alice, { ...more, nonce }))).toBe(`SIWE_INVALID ${field}`);
  const right = await message(alice, { nonce });
  expect(await signIn.verify(right, await alice.signMessage(right))).toMatchObject({
    address: alice.address,
  });
});

test('checks every member of the message', async () => {
  const text = await message(alice);
  const edits: [string, string, string][] = [
    ['address', alice.address, alice.address.toLowerCase()],
    ['version', 'Version: 1', 'Version: 2'],
    ['chainId', 'Chain ID: 97', 'Chain ID: x'],
    ['nonce', 'Nonce: ', 'Nonce: -'],
    ['issuedAt', 'Issued At: 2', 'Issued At: yesterday, 2'],
    ['message', 'Version: 1\n', ''],
  ];
  for (const [field, from, to] of edits) {
    expect(text).toContain(from);
    expect(await refusedMessage(text.replace(from, to))).toBe(`SIWE_INVALID ${field}`);
  }
});

test('names the usual reason why a text that looks right is no sign-in message', async () => {
  const text = await message(alice);
  for (const [sent, field, detail] of [
    [text.replace(alice.address, alice.address.toLowerCase()), 'address', alice.address],
    [text.replaceAll('\n', '\r\n'), 'message', '\\r'],
    [`${text}\n`, 'message', 'line end'],
  ] as const) {
    const refusal = signIn.verify(sent, await alice.signMessage(sent));
    await expect(refusal).rejects.toMatchObject({
      code: 'SIWE_INVALID',
      extra: { field },
      message: expect.stringContaining(detail),
    });
  }
});

test('refuses a text that is not a sign-in message without a log line', async () => {
  const said = (['log', 'warn', 'error'] as const).map((method) =>
    jest.spyOn(console, method).mockImplementation(),
  );
  const signature = await alice.signMessage('hello');
  for (const text of [
    '',
    'hello',
    '\n'.repeat(100),
    'é'.repeat(100),
    undefined,
    null,
    7,
    {},
    { domain: 'x' },
    ['a'],
  ]) {
    expect(await refused(text, signature)).toBe('SIWE_INVALID message');
  }
  const text = await message(alice);
  for (const bad of ['', '0x', '0x00', `0x${'0'.repeat(130)}`, 'zz', null, {}, 5, signature.slice(0, -2)]) {
    expect(await refused(text, bad)).toBe('SIWE_INVALID signature');
  }
  for (const spy of said) {
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  }
});

test('accepts messages of up to 2 kB', async () => {
  const padded = async (bytes: number) => {
    const base = await message(alice, { requestId: 'x' });
    return base.replace('Request ID: x', `Request ID: ${'x'.repeat(bytes - base.length + 1)}`);
  };
  const longest = await padded(2048);
  expect(longest).toHaveLength(2048);
  expect(await signIn.verify(longest, await alice.signMessage(longest))).toMatchObject({
    address: alice.address,
  });
  expect(await refusedMessage(await padded(2049))).toBe('SIWE_INVALID message');
});

describe('the signature', () => {
  test('of another wallet is refused, and the nonce is used up', async () => {
    const text = await message(alice);
    expect(await refused(text, await bob.signMessage(text))).toBe('SIWE_INVALID signature');
    expect(await refusedMessage(text)).toBe('NONCE_INVALID');
  });

  test('over another message is refused', async () => {
    const [text, other] = [await message(alice), await message(alice)];
    expect(await refused(text, await alice.signMessage(other))).toBe('SIWE_INVALID signature');
  });

  test('with a high s is refused', async () => {
    const text = await message(alice);
    const { r, s, v } = Signature.from(await alice.signMessage(text));
    const high = `${r}${toBeHex(N - BigInt(s), 32).slice(2)}${(55 - v).toString(16)}`;
    expect(await refused(text, high)).toBe('SIWE_INVALID signature');
  });
});

describe('the nonce', () => {
  test('must be one that the exchange made', async () => {
    expect(await refusedMessage(await message(alice, { nonce: 'a'.repeat(40) }))).toBe('NONCE_INVALID');
  });

  test('of bob cannot be used by alice, and bob can still use it', async () => {
    const { nonce } = signIn.challenge(bob.address);
    expect(await refusedMessage(await message(alice, { nonce }))).toBe('NONCE_INVALID');
    const text = await message(bob, { nonce });
    expect(await signIn.verify(text, await bob.signMessage(text))).toMatchObject({ address: bob.address });
  });

  test('is not displaced by any number of others for the same wallet', async () => {
    const text = await message(alice);
    for (let i = 0; i < 1_000; i++) signIn.challenge(alice.address);
    expect(await signIn.verify(text, await alice.signMessage(text))).toMatchObject({
      address: alice.address,
    });
  });

  test('takes no storage until it is used, and then only until it expires', async () => {
    const held = async () => (await server.client().keys('{n:*')).length;
    const before = await held();
    const { nonce } = signIn.challenge(alice.address);
    expect(await held()).toBe(before);
    const text = await message(alice, { nonce });
    await signIn.verify(text, await alice.signMessage(text));
    expect(await held()).toBe(before + 1);
    const ttlMs = await server.client().pttl(`{n:${nonce}}`);
    expect(ttlMs).toBeGreaterThan(290_000);
    expect(ttlMs).toBeLessThanOrEqual(300_000);
  });

  test('expires after 300 s, by the clock of the store', async () => {
    const late = create({ nowMs: () => Date.now() - 300_001 });
    const { nonce } = late.challenge(alice.address);
    expect(await refusedMessage(await message(alice, { nonce }))).toBe('NONCE_INVALID');
    const early = create({ nowMs: () => Date.now() - 290_000 });
    const text = await message(alice, { nonce: early.challenge(alice.address).nonce });
    expect(await signIn.verify(text, await alice.signMessage(text))).toMatchObject({
      address: alice.address,
    });
  });

  test('can be used once while Redis is full', async () => {
    const redis = server.client();
    await redis.config('SET', 'maxmemory', '1');
    try {
      const text = await message(alice);
      const signature = await alice.signMessage(text);
      expect(await signIn.verify(text, signature)).toMatchObject({ address: alice.address });
      expect(await refused(text, signature)).toBe('NONCE_INVALID');
    } finally {
      await redis.config('SET', 'maxmemory', '0');
    }
  });
});
