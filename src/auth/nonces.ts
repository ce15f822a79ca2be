import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { JwtSecret } from './tokens';

/**
 * A sign-in nonce contains everything needed to check it: its expiration, 128 random bits, and a code over both and the
 * wallet that only processes of this exchange can compute. A nonce is stored only when it is used, so the requests of one
 * wallet cannot use up storage of others.
 */
export interface Nonces {
  /** Creates a nonce for one wallet that is valid until `expiresAtMs`. */
  mint(address: string, expiresAtMs: number): string;
  /** Returns the expiration of a nonce of this wallet; null for any other text. The store knows whether it was used. */
  expiryOf(address: string, nonce: string): number | null;
}

export interface NonceOptions {
  /** The first secret creates nonces; all of them verify nonces. */
  readonly secrets: readonly [JwtSecret, ...JwtSecret[]];
  /** The audience binds a nonce to this exchange, because another exchange may have the same secret. */
  readonly audience: string;
}

const RANDOM_BYTES = 16;
const CODE_BYTES = 16;
const KEY_BYTES = 32;
/** Milliseconds in twelve hex digits, the random bits, the code. */
const FORM = /^([0-9a-f]{12})[0-9a-f]{32}([0-9a-f]{32})$/;

export function createNonces({ secrets, audience }: NonceOptions): Nonces {
  const keys = secrets.map(({ secret }) => nonceKey(secret));
  const [signingKey] = keys as [KeyObject];

  const codeOf = (key: KeyObject, address: string, stem: string): Buffer =>
    createHmac('sha256', key)
      .update(`${audience}\n${address.toLowerCase()}\n${stem}`)
      .digest()
      .subarray(0, CODE_BYTES);

  return {
    mint: (address, expiresAtMs) => {
      const stem = expiresAtMs.toString(16).padStart(12, '0') + randomBytes(RANDOM_BYTES).toString('hex');
      return stem + codeOf(signingKey, address, stem).toString('hex');
    },
    expiryOf: (address, nonce) => {
      const [, expires = '', code = ''] = FORM.exec(nonce) ?? [];
      if (code === '') return null;
      const stem = nonce.slice(0, -code.length);
      const given = Buffer.from(code, 'hex');
      const isOurs = keys.some((key) => timingSafeEqual(codeOf(key, address, stem), given));
      return isOurs ? Number.parseInt(expires, 16) : null;
    },
  };
}

/** A separate key, so that the code of a nonce reveals nothing about a token. */
function nonceKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'sign-in nonces', KEY_BYTES)));
}
