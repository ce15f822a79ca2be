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
 * A sign-in nonce carries all that must be known of it, so that one wallet's requests cost another nothing: its end,
 * 128 random bits, and a code over both and the wallet that only the processes of this exchange can make. Nothing is
 * stored until it is used.
 */
export interface Nonces {
  /** For one wallet until `expiresAtMs`. */
  mint(address: string, expiresAtMs: number): string;
  /** When a nonce of this very wallet ends; null for anything else. Whether it was used, the store knows. */
  expiryOf(address: string, nonce: string): number | null;
}

export interface NonceOptions {
  /** The first one makes nonces, all of them recognise theirs. */
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

/** A key of its own, so that no code of a nonce says anything about a token. */
function nonceKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'sign-in nonces', KEY_BYTES)));
}
