import { execFileSync } from 'node:child_process';
import { Signature } from 'ethers';
import { createOrderVerifier, type OrderVerifier } from '../../src/auth/order-signature';
import { BACKENDS } from '../../src/auth/recovery';
import type { SignedOrder } from '../../src/exchange/order';
import { alice, bob, DOMAIN, orderOf, randomOrder, refusal, signed } from './orders';

const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const HALF_N = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const hex = (n: bigint) => n.toString(16).padStart(64, '0');
const join = (r: bigint, s: bigint, v: number) => `0x${hex(r)}${hex(s)}${v.toString(16).padStart(2, '0')}`;

/** Asked of the system, because a backend that does not load its library must fail here. */
const hasSystemLibrary = (): boolean => {
  try {
    return /libsecp256k1\.so\.[1256] /.test(execFileSync('ldconfig', ['-p'], { encoding: 'utf8' }));
  } catch {
    // A system without shared libraries, or another one than Linux.
    return false;
  }
};
const here = BACKENDS.filter((backend) => backend !== 'libsecp256k1' || hasSystemLibrary());

describe.each(here)('the %s backend', (backend) => {
  let verifier: OrderVerifier;
  let good: SignedOrder;
  let parts: { r: bigint; s: bigint; v: number };

  beforeAll(async () => {
    verifier = await createOrderVerifier({ ...DOMAIN, backend });
    good = await signed(alice, orderOf(alice.address));
    const { r, s, v } = Signature.from(good.signature);
    parts = { r: BigInt(r), s: BigInt(s), v };
  });

  const verify = (order: SignedOrder) => verifier.verify(order, verifier.hash(order));

  test('reports its name', () => {
    expect(verifier.backend).toBe(backend);
    expect(verifier.domain).toEqual(DOMAIN);
  });

  test('accepts the signatures of 100 random orders, and none for another order', async () => {
    for (let i = 0; i < 100; i++) {
      const order = await signed(alice, randomOrder(alice.address));
      expect(`0x${verify(order).toString('hex')}`).toBe(order.signature);
      if (i < 5) {
        expect((await refusal(() => verify({ ...order, nonce: order.nonce ^ 1n }))).code).toBe(
          'INVALID_SIGNATURE',
        );
      }
    }
  });

  test('accepts lower-case addresses and capital digits', () => {
    const lower = good.maker.toLowerCase();
    expect(verify({ ...good, maker: lower, signer: lower })).toHaveLength(65);
    expect(verify({ ...good, signature: `0x${good.signature.slice(2).toUpperCase()}` })).toEqual(
      verify(good),
    );
  });

  test('stores v 0 and 1 as 27 and 28', () => {
    const bytes = verify({ ...good, signature: join(parts.r, parts.s, parts.v - 27) });
    expect(`0x${bytes.toString('hex')}`).toBe(good.signature);
    expect([27, 28]).toContain(bytes[64]);
  });

  const LENGTH = 'a signature must be 65 bytes: 0x and 130 hexadecimal digits';
  const [R, S, V] = ['r must be between 1 and n - 1', 's must be between 1 and n / 2', 'v must be 27 or 28'];
  const malformed: [string, string, () => string][] = [
    ['high s with v turned, which recovers to the signer', S, () => join(parts.r, N - parts.s, 55 - parts.v)],
    ['s one above n / 2', S, () => join(parts.r, HALF_N + 1n, 27)],
    ['s = 0', S, () => join(parts.r, 0n, 27)],
    ['s = n', S, () => join(parts.r, N, 27)],
    ['r = 0', R, () => join(0n, parts.s, 27)],
    ['r = n', R, () => join(N, parts.s, 27)],
    ['r = 2^256 - 1', R, () => join(2n ** 256n - 1n, parts.s, 27)],
    ['v = 2', V, () => join(parts.r, parts.s, 2)],
    ['v = 26', V, () => join(parts.r, parts.s, 26)],
    ['v = 29', V, () => join(parts.r, parts.s, 29)],
    ['v = 37, EIP-155', V, () => join(parts.r, parts.s, 37)],
    ['all zero', R, () => `0x${'0'.repeat(130)}`],
    ['64 bytes', LENGTH, () => good.signature.slice(0, -2)],
    ['66 bytes', LENGTH, () => `${good.signature}00`],
    ['the compact form of EIP-2098', LENGTH, () => Signature.from(good.signature).compactSerialized],
    ['no 0x', LENGTH, () => good.signature.slice(2)],
    ['0X', LENGTH, () => good.signature.replace('0x', '0X')],
    ['half a byte too much', LENGTH, () => `${good.signature}0`],
    ['a digit that is none', LENGTH, () => `${good.signature.slice(0, -1)}g`],
    ['a trailing line end', LENGTH, () => `${good.signature}\n`],
    ['nothing', LENGTH, () => ''],
  ];
  test.each(malformed)('refuses %s', async (_, why, make) => {
    const order = { ...good, signature: make() };
    expect(() => verify(order)).toThrow(why);
    expect(await refusal(() => verify(order))).toEqual({
      code: 'INVALID_SIGNATURE',
      recovered: null,
      expectedHash: verifier.hash(good),
      hint: null,
    });
  });

  test('accepts s = n / 2 as well-formed, although the signer did not sign it', async () => {
    const refused = await refusal(() => verify({ ...good, signature: join(parts.r, HALF_N, 27) }));
    expect(refused.recovered).toMatch(/^0x[0-9a-fA-F]{40}$/);
  });

  test('recovers no signer from an r that is not the x of a point', async () => {
    // x = 5 has no y on the curve.
    expect(await refusal(() => verify({ ...good, signature: join(5n, parts.s, 27) }))).toMatchObject({
      code: 'INVALID_SIGNATURE',
      recovered: null,
      hint: null,
    });
  });

  test('where contracts may sign, a refusal for length or signer names their signature type', async () => {
    const here = await createOrderVerifier({ ...DOMAIN, backend, contractsSign: true });
    const wrong = [`${good.signature}00`, (await signed(bob, orderOf(alice.address))).signature];
    for (const signature of wrong) {
      const order = { ...good, signature };
      expect(() => here.verify(order, here.hash(order))).toThrow(
        /; a contract wallet signs with signatureType 3$/,
      );
      expect(() => verify(order)).not.toThrow(/signatureType/);
    }
  });

  test('names the wallet that signed', async () => {
    const order = await signed(bob, orderOf(alice.address));
    expect(await refusal(() => verify(order))).toEqual({
      code: 'INVALID_SIGNATURE',
      recovered: bob.address,
      expectedHash: verifier.hash(order),
      hint: null,
    });
  });

  test.each([1, 2, 3])('signature type %i cannot be verified with a key', async (signatureType) => {
    const order = await signed(alice, orderOf(alice.address, { signatureType }));
    expect((await refusal(() => verify(order))).code).toBe('UNSUPPORTED_SIGNATURE_TYPE');
  });
});

test('without a choice the fastest library is used that is here', async () => {
  const { backend } = await createOrderVerifier(DOMAIN);
  expect(backend).toBe(here[0]);
});

describe('where a library is missing the next one is used', () => {
  const replaced = new Map<string, NodeModule | undefined>();
  /** Until the end of the test, `require` of this package throws. */
  function remove(name: string): void {
    const file = require.resolve(name);
    replaced.set(file, require.cache[file]);
    const missing = () => {
      throw new Error('missing');
    };
    require.cache[file] = Object.defineProperty({ loaded: true } as NodeModule, 'exports', { get: missing });
  }
  afterEach(() => {
    for (const [file, module] of replaced) {
      if (module) require.cache[file] = module;
      else delete require.cache[file];
    }
    replaced.clear();
  });

  test.each([
    ['secp256k1', ['koffi']],
    ['ethers', ['koffi', 'secp256k1/bindings']],
  ])('%s', async (expected, absent) => {
    absent.forEach(remove);
    const verifier = await createOrderVerifier(DOMAIN);
    expect(verifier.backend).toBe(expected);
    const order = await signed(alice, orderOf(alice.address));
    expect(verifier.verify(order, verifier.hash(order))).toHaveLength(65);
    const first = createOrderVerifier({ ...DOMAIN, backend: 'libsecp256k1' });
    await expect(first).rejects.toThrow('missing');
  });
});
