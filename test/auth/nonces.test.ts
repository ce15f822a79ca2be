import { createNonces, type NonceOptions } from '../../src/auth/nonces';
import { parseJwtSecrets } from '../../src/auth/tokens';
import { alice, bob } from './orders';

const [OLD, NEW] = ['old-secret-of-the-tests-0123456789', 'new-secret-of-the-tests-0123456789'];
const noncesOf = (secrets: string, more: Partial<NonceOptions> = {}) =>
  createNonces({ secrets: parseJwtSecrets(secrets), audience: 'chain:97', ...more });

test('a nonce shows its expiration, for its own wallet only', () => {
  const nonce = noncesOf(OLD).mint(alice.address, 1_800_000_000_000);
  expect(nonce).toMatch(/^[A-Za-z0-9]{64,}$/);
  expect(noncesOf(OLD).expiryOf(alice.address.toLowerCase(), nonce)).toBe(1_800_000_000_000);
  expect(noncesOf(OLD).expiryOf(bob.address, nonce)).toBeNull();
});

test('a nonce with one changed digit is refused', () => {
  const nonce = noncesOf(OLD).mint(alice.address, Date.now());
  for (let at = 0; at < nonce.length; at++) {
    const other = nonce[at] === '0' ? '1' : '0';
    const forged = nonce.slice(0, at) + other + nonce.slice(at + 1);
    expect(noncesOf(OLD).expiryOf(alice.address, forged)).toBeNull();
  }
  for (const none of ['', nonce.slice(1), `${nonce}0`, `${nonce}\n`, ` ${nonce}`]) {
    expect([none, noncesOf(OLD).expiryOf(alice.address, none)]).toEqual([none, null]);
  }
});

test('no two nonces of a wallet at the same moment are equal', () => {
  const minted = Array.from({ length: 1_000 }, () => noncesOf(OLD).mint(alice.address, 5_000));
  expect(new Set(minted).size).toBe(1_000);
});

test('a nonce is valid as long as its secret is, and at no other exchange with the same secret', () => {
  const nonce = noncesOf(`a:${OLD}`).mint(alice.address, 5_000);
  const expiry = (secrets: string, more = {}) => noncesOf(secrets, more).expiryOf(alice.address, nonce);
  expect(expiry(OLD)).toBe(5_000);
  expect(expiry(`b:${NEW},a:${OLD}`)).toBe(5_000);
  expect(expiry(`b:${NEW}`)).toBeNull();
  expect(expiry(OLD, { audience: 'chain:56' })).toBeNull();
  const next = noncesOf(`b:${NEW},a:${OLD}`).mint(alice.address, 5_000);
  expect(noncesOf(NEW).expiryOf(alice.address, next)).toBe(5_000);
});
