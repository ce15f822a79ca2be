import { AbiCoder, concat, hashMessage, type Wallet } from 'ethers';
import type { SiweMessage } from 'siwe';
import type { SignIn } from '../../src/auth/siwe';
import { Refusal } from '../../src/exchange/errors';
import { createNonceStore } from '../../src/store/people/nonces';
import { createScripts } from '../../src/store/redis/scripts';
import { alice, bob } from './orders';
import { startRedis, type TestRedis } from './redis';
import { createSignInHere, messageOf, refusedBy } from './sign-in';

/** Sign-in, with a chain that says what the test needs. test/extensions/chain/sign-in.long.test.ts has contracts. */
const WRAPPER = ['address', 'bytes', 'bytes'];
const wrap = (inner: string): string =>
  concat([AbiCoder.defaultAbiCoder().encode(WRAPPER, [bob.address, '0x', inner]), `0x${'6492'.repeat(16)}`]);
const away = new Refusal('UNAVAILABLE', 'the chain does not answer');
let server: TestRedis;
let signIn: SignIn;
let chain: SignIn;
let asked: string[][];

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server?.stop());
beforeEach(() => {
  const burnt = createNonceStore({ run: createScripts(server.client()) });
  signIn = createSignInHere({ burnt });
  asked = [];
  chain = createSignInHere({
    burnt,
    verifyContractSignature: async (...args) => {
      asked.push(args);
      if (args[2] === '0xdead') throw away;
      return { isValid: args[2] === '0xc0de', hasCode: args[2] !== '0x00' };
    },
  });
});

const message = (wallet: Wallet, more?: Partial<SiweMessage>) => messageOf(signIn, wallet, more);
const refused = (text: unknown, signature: unknown, by = signIn) => refusedBy(by, text, signature);

test('contract wallets are asked only if a chain is configured, and only if no key signed', async () => {
  const text = await message(alice);
  expect(await refused(text, '0xc0de')).toBe('SIWE_INVALID signature');
  expect(await chain.verify(text, '0xc0de')).toMatchObject({ address: alice.address });
  expect(asked).toEqual([[alice.address, hashMessage(text), '0xc0de']]);
  const own = await message(alice);
  expect(await chain.verify(own, await alice.signMessage(own))).toMatchObject({ address: alice.address });
  expect(asked).toHaveLength(1);
});

test('contract wallets get one session for a nonce, and none after a wrong signature', async () => {
  const text = await message(alice);
  const tries = await Promise.allSettled(Array.from({ length: 10 }, () => chain.verify(text, '0xc0de')));
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await refused(text, '0xc0de', chain)).toBe('NONCE_INVALID');
  const other = await message(alice);
  expect(await refused(other, '0xbad0', chain)).toBe('SIWE_INVALID signature');
  expect(await refused(other, '0xc0de', chain)).toBe('NONCE_INVALID');
});

test('a refused sign-in says whether the contract refused the signature, or nothing is at its address', async () => {
  const why = async (by: SignIn, signature: string) => {
    const text = await message(alice);
    return by.verify(text, signature).catch((error: Refusal) => [error.code, error.extra, error.message]);
  };
  const code = ['SIWE_INVALID', { field: 'signature' }];
  const contract = `the contract wallet ${alice.address} does not accept the signature (ERC-1271)`;
  expect(await why(chain, '0xbad0')).toEqual([...code, contract]);
  const nothing = `${alice.address} has no code on the chain and no key of it signed: sign with its key, or wrap`;
  expect(await why(chain, '0x00')).toEqual([...code, expect.stringContaining(nothing)]);
  const bobs = await bob.signMessage('something else');
  expect(await why(signIn, bobs)).toEqual([
    ...code,
    'the signature was not made by the address in the message',
  ]);
});

test('contract wallets may send the same message again when the chain did not answer', async () => {
  const text = await message(alice);
  for (let i = 0; i < 3; i++) expect(await refused(text, '0xdead', chain)).toBe('UNAVAILABLE');
  expect(await chain.verify(text, '0xc0de')).toMatchObject({ address: alice.address });
});

test('contract wallets are not asked about a message with a nonce of another wallet', async () => {
  const { nonce } = signIn.challenge(bob.address);
  expect(await refused(await message(alice, { nonce }), '0xc0de', chain)).toBe('NONCE_INVALID');
  expect(asked).toEqual([]);
});

test('contract wallets are not asked about what cannot be a signature, which keeps the nonce', async () => {
  const text = await message(alice);
  const twice = wrap(wrap('0x01'));
  for (const bad of ['', '0xbad', 'c0de', `0x${'00'.repeat(4_097)}`, null, 7, {}, twice])
    expect(await refused(text, bad, chain)).toBe('SIWE_INVALID signature');
  const cut = `${wrap('0x01').slice(0, 200)}${'6492'.repeat(16)}`;
  expect(await refused(text, cut, chain)).toBe('SIWE_INVALID signature');
  expect(asked).toEqual([]);
  expect(await chain.verify(text, '0xc0de')).toMatchObject({ address: alice.address });
  const longest = wrap(`0x${'11'.repeat(3_904)}`);
  expect(longest).toHaveLength(2 + 2 * 4_096);
  expect(await refused(await message(alice), longest, chain)).toBe('SIWE_INVALID signature');
  expect(asked.at(-1)?.[2]).toBe(longest);
});
