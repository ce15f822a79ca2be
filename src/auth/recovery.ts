import { SigningKey } from 'ethers';
import { ZERO_ADDRESS } from '../exchange/order';
import { keccak256 } from './keccak';
import { parseSignature, type Signature } from './signature';
import { systemRecovery } from './system-secp256k1';

/** The backends, fastest first. In one run an order takes a web process 0.77 as much CPU with the first as with the second. */
export const BACKENDS = ['libsecp256k1', 'secp256k1', 'ethers'] as const;
export type Backend = (typeof BACKENDS)[number];

export interface Recovery {
  readonly backend: Backend;
  /** Returns the lower-case address whose key signed `digest`, or null when there is none. */
  recover(digest: Uint8Array, signature: Signature): string | null;
}

/** Returns the 65-byte public key, valid until the next call; throws or returns null when there is none. */
export type RecoverKey = (digest: Uint8Array, rs: Uint8Array, recovery: 0 | 1) => Uint8Array | null;

const LOADERS: Record<Backend, () => RecoverKey> = {
  libsecp256k1: systemRecovery,
  secp256k1: () => {
    // The package's main file falls back to JavaScript silently; its bindings throw instead.
    const native: typeof import('secp256k1') = require('secp256k1/bindings');
    return (digest, rs, recovery) => native.ecdsaRecover(rs, recovery, digest, false);
  },
  ethers: () => (digest, rs, recovery) => {
    const hex = Buffer.from(rs).toString('hex');
    const signature = { r: `0x${hex.slice(0, 64)}`, s: `0x${hex.slice(64)}`, yParity: recovery };
    return Buffer.from(SigningKey.recoverPublicKey(digest, signature).slice(2), 'hex');
  },
};

/** A signature by the key 1, which every backend must recover before it is used. */
const PROBE = {
  digest: Buffer.alloc(32, 1),
  signature:
    '0x747a6c6bd9a8ff0b77a99b8f274f5df5198b5dddc33edd4bc89e459d13dfa6177431bfa016325b8f27491781d1c462999f1dde760560373a517d29161c2df1391c',
  address: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
} as const;

/**
 * Returns the fastest backend that works on this machine, or the named one.
 * Throws when the named one does not work.
 */
export function loadRecovery(backend?: Backend): Recovery {
  const failures: string[] = [];
  for (const candidate of backend === undefined ? BACKENDS : [backend]) {
    try {
      return probed(candidate);
    } catch (error) {
      failures.push(`${candidate}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`no secp256k1 that works (${failures.join('; ')})`);
}

function probed(backend: Backend): Recovery {
  const recovery = { backend, recover: recoverWith(LOADERS[backend]()) };
  const signature = parseSignature(PROBE.signature);
  const found = 'malformed' in signature ? null : recovery.recover(PROBE.digest, signature);
  if (found !== PROBE.address) throw new Error('its answer to a known signature is wrong');
  return recovery;
}

function recoverWith(recoverKey: RecoverKey): Recovery['recover'] {
  return (digest, signature) => {
    let key: Uint8Array | null;
    try {
      key = recoverKey(digest, signature.rs, signature.recovery);
    } catch {
      // Every library throws when r is not the x of a point.
      return null;
    }
    if (key === null) return null;
    // The address is the end of the hash of x and y; the first byte only marks the key as uncompressed.
    const hash = keccak256(key.subarray(1));
    const address = `0x${Buffer.from(hash.buffer, hash.byteOffset + 12, 20).toString('hex')}`;
    return address === ZERO_ADDRESS ? null : address;
  };
}
