/** A secp256k1 signature in the one spelling that this exchange accepts, so that a stranger cannot alter it. */
export interface Signature {
  /** r and s, 64 bytes. */
  readonly rs: Buffer;
  readonly recovery: 0 | 1;
  /** r, s and v, 65 bytes, v 27 or 28: the form that is stored and sent to the chain. */
  readonly canonical: Buffer;
}

/** The reason why a signature was refused. */
export interface Malformed {
  readonly malformed: string;
}

const SIGNATURE = /^0x[0-9a-fA-F]{130}$/;
const ORDER_N = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');
const HALF_N = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');
const ZERO = Buffer.alloc(32);
const V_OFFSET = 27;

/**
 * Reads a 65-byte signature: r in 1..n-1, s in 1..n/2 exactly, v 27 or 28 (0 and 1 mean the same).
 * OpenZeppelin's ECDSA.sol, which the chain uses, refuses the same high s; libraries let it pass.
 */
export function parseSignature(text: unknown): Signature | Malformed {
  if (typeof text !== 'string' || !SIGNATURE.test(text)) {
    return { malformed: 'a signature must be 65 bytes: 0x and 130 hexadecimal digits' };
  }
  const canonical = Buffer.from(text.slice(2), 'hex');
  const v = canonical[64] ?? 0;
  const recovery = v >= V_OFFSET ? v - V_OFFSET : v;
  if (recovery !== 0 && recovery !== 1) return { malformed: 'v must be 27 or 28' };
  const r = canonical.subarray(0, 32);
  const s = canonical.subarray(32, 64);
  if (r.equals(ZERO) || r.compare(ORDER_N) >= 0) return { malformed: 'r must be between 1 and n - 1' };
  if (s.equals(ZERO) || s.compare(HALF_N) > 0) return { malformed: 's must be between 1 and n / 2' };
  canonical[64] = recovery + V_OFFSET;
  return { rs: canonical.subarray(0, 64), recovery, canonical };
}
