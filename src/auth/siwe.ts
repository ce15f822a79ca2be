import { SiweMessage } from 'siwe';
import { Refusal } from '../exchange/errors';
import type { SignatureCheck } from '../exchange/wallet-signature';
import { checksumAddress, isAddress } from './address';
import type { Nonces } from './nonces';
import { personalDigest } from './personal';
import { type Backend, loadRecovery, type Recovery } from './recovery';
import { parseSignature } from './signature';
import { malformedContractSignature } from './wrapped-signature';

/** The used nonces, shared by all replicas. */
export interface BurntNonces {
  /** Returns true to exactly one caller: the nonce was unused and, by the store's clock, has not expired. */
  burn(nonce: string, expiresAtMs: number): Promise<boolean>;
  /** Makes a nonce unused again. */
  giveBack(nonce: string): Promise<void>;
}

/**
 * Asks a contract wallet whether it signed `digest` (EIP-1271, and EIP-6492 for one that is not deployed); both are 0x hex.
 * Rejects with UNAVAILABLE when the chain does not say.
 */
export type VerifyContractSignature = (
  address: string,
  digest: string,
  signature: string,
) => Promise<SignatureCheck>;

export interface SignInOptions {
  /** Host, and the port if the URL has one. */
  readonly domain: string;
  readonly uri: string;
  readonly chainId: number;
  readonly nonces: Nonces;
  readonly burnt: BurntNonces;
  /** Null where no node is configured: only keys sign then. */
  readonly verifyContractSignature?: VerifyContractSignature | null;
  readonly backend?: Backend;
  /** The store's clock, as far as this process knows it. */
  readonly nowMs: () => number;
}

/** The answer of GET /auth/nonce/{address}, with everything a client needs for its message. */
export interface Challenge {
  readonly nonce: string;
  readonly address: string;
  readonly domain: string;
  readonly uri: string;
  readonly chainId: number;
  readonly version: '1';
  readonly statement: string;
  readonly issuedAt: string;
  readonly expiresAt: string;
}

export interface SignIn {
  /** Throws INVALID_ADDRESS. */
  challenge(address: string): Challenge;
  /**
   * Returns the checksummed address that signed `message`, and the nonce. Throws SIWE_INVALID with `field`, and NONCE_INVALID.
   * It checks the text of the message first, which uses up no nonce. Any answer about its signature uses up the nonce, which
   * gives a session to one caller at most. UNAVAILABLE, when a contract wallet cannot be asked, is no answer: the same message
   * and signature may be sent again. Nonces cost nothing, so what bounds the questions to the chain is the limit of an address
   * and the part of the turns that sign-ins have, not the nonce.
   */
  verify(message: unknown, signature: unknown): Promise<{ readonly address: string; readonly nonce: string }>;
  /** After a session that could not be opened: the same message and signature may be sent again. */
  giveBack(nonce: string): Promise<void>;
}

const VERSION = '1';
const STATEMENT = 'Sign in to the exchange. This costs nothing and moves no funds.';
const NONCE_TTL_MS = 300_000;
const MESSAGE_MAX_BYTES = 2_048;
const ISSUED_AGO_MAX_MS = 600_000;
const ISSUED_AHEAD_MAX_MS = 60_000;

const WANTS = ' wants you to sign in with your Ethereum account:\n';

/** The parser names the field that it could not read only in the text of its error. */
const PARSE_FIELDS: readonly (readonly [RegExp, string])[] = [
  [/^line \d+: invalid (?:EIP-55 )?address/, 'address'],
  [/^line \d+: (?:invalid domain|domain cannot)/, 'domain'],
  [/^line \d+: invalid version/, 'version'],
  [/^line \d+: invalid chain-id/, 'chainId'],
  [/^line \d+: invalid nonce/, 'nonce'],
  [/^line \d+: invalid issued-at/, 'issuedAt'],
  [/^line \d+: invalid expiration-time/, 'expirationTime'],
  [/^line \d+: invalid not-before/, 'notBefore'],
  [/^line \d+: invalid URI/, 'uri'],
];

/** Sign-In with Ethereum (EIP-4361) for one base URL and one network. */
export function createSignIn(options: SignInOptions): SignIn {
  const { domain, uri, chainId, nonces, burnt, nowMs, verifyContractSignature = null } = options;
  const recovery = loadRecovery(options.backend);
  const expected = { domain, uri, chainId };

  /** Why the address did not sign; null when it did. The chain is asked only when no key of the address signed. */
  async function objectionOf(address: string, digest: Uint8Array, signature: string): Promise<string | null> {
    if (signedByKey(recovery, digest, signature, address)) return null;
    if (!verifyContractSignature) return 'the signature was not made by the address in the message';
    const hex = `0x${Buffer.from(digest).toString('hex')}`;
    const { isValid, hasCode } = await verifyContractSignature(address, hex, signature);
    if (isValid) return null;
    return hasCode
      ? `the contract wallet ${address} does not accept the signature (ERC-1271)`
      : `${address} has no code on the chain and no key of it signed: sign with its key, or wrap the signature of a contract that is not deployed yet as ERC-6492 says`;
  }

  return {
    challenge: (text) => {
      const address = checksumAddress(text);
      const issuedMs = Math.trunc(nowMs());
      const expiresMs = issuedMs + NONCE_TTL_MS;
      return {
        nonce: nonces.mint(address, expiresMs),
        address,
        domain,
        uri,
        chainId,
        version: VERSION,
        statement: STATEMENT,
        issuedAt: new Date(issuedMs).toISOString(),
        expiresAt: new Date(expiresMs).toISOString(),
      };
    },
    verify: async (message, signature) => {
      const text = boundedText(message);
      const parsed = parse(text);
      checkFields(parsed, expected, nowMs());
      checkSignatureForm(signature, verifyContractSignature !== null);
      const expiresMs = nonces.expiryOf(parsed.address, parsed.nonce);
      if (expiresMs === null) throw new Refusal('NONCE_INVALID');
      const objection = await objectionOf(parsed.address, personalDigest(Buffer.from(text)), signature);
      if (!(await burnt.burn(parsed.nonce, expiresMs))) throw new Refusal('NONCE_INVALID');
      if (objection !== null) throw invalid('signature', objection);
      return { address: parsed.address, nonce: parsed.nonce };
    },
    giveBack: burnt.giveBack,
  };
}

function invalid(field: string, detail: string): Refusal {
  return new Refusal('SIWE_INVALID', detail, { field });
}

function boundedText(message: unknown): string {
  if (typeof message !== 'string' || Buffer.byteLength(message) > MESSAGE_MAX_BYTES) {
    throw invalid('message', `message must be a string of at most ${MESSAGE_MAX_BYTES} bytes`);
  }
  return message;
}

function parse(text: string): SiweMessage {
  try {
    return new SiweMessage(text);
  } catch (error) {
    // The parser would only report a missing domain for a text without any form of a message.
    const first = error instanceof Error && text.includes(WANTS) ? error.message : '';
    const field = PARSE_FIELDS.find(([form]) => form.test(first))?.[1] ?? 'message';
    throw invalid(field, causeOf(text) ?? 'message is not a Sign-In with Ethereum message (EIP-4361)');
  }
}

/** The usual reasons why the parser refuses a text that looks right. */
function causeOf(text: string): string | null {
  if (text.includes('\r')) return 'the lines of message must end with \\n alone, without \\r (EIP-4361)';
  if (text.endsWith('\n')) return 'message must not end with a line end (EIP-4361)';
  const [, address = ''] = text.split('\n', 2);
  if (!isAddress(address)) return null;
  const checksummed = checksumAddress(address.toLowerCase());
  return address === checksummed
    ? null
    : `the address in message must have its EIP-55 checksum: ${checksummed}`;
}

function checkFields(
  message: SiweMessage,
  expected: Pick<SignInOptions, 'domain' | 'uri' | 'chainId'>,
  now: number,
): void {
  const { domain, uri, chainId } = expected;
  if (message.scheme !== undefined && !uri.startsWith(`${message.scheme}:`)) {
    throw invalid('domain', `the scheme before the domain must be that of ${uri}`);
  }
  if (message.domain !== domain) throw invalid('domain', `domain must be ${domain}`);
  // Some libraries write a base URL with a final slash, some without it; both are the same URL.
  if (message.uri.replace(/\/$/, '') !== uri.replace(/\/$/, '')) throw invalid('uri', `URI must be ${uri}`);
  if (message.version !== VERSION) throw invalid('version', `version must be ${VERSION}`);
  if (message.chainId !== chainId) throw invalid('chainId', `chain id must be ${chainId}`);
  // An unreadable time is NaN, which fails every comparison here.
  const issuedMs = Date.parse(message.issuedAt ?? '');
  if (!(issuedMs >= now - ISSUED_AGO_MAX_MS && issuedMs <= now + ISSUED_AHEAD_MAX_MS)) {
    throw invalid('issuedAt', 'issuedAt must lie within the last 10 minutes');
  }
  if (message.expirationTime !== undefined && !(now < Date.parse(message.expirationTime))) {
    throw invalid('expirationTime', 'the message has expired');
  }
  if (message.notBefore !== undefined && !(now >= Date.parse(message.notBefore))) {
    throw invalid('notBefore', 'the message is not valid yet');
  }
}

/** A malformed signature is refused before the nonce is used up. */
function checkSignatureForm(signature: unknown, contracts: boolean): asserts signature is string {
  const parsed = parseSignature(signature);
  if (!('malformed' in parsed)) return;
  const isText = contracts && typeof signature === 'string';
  const why = isText ? malformedContractSignature(signature) : parsed.malformed;
  if (why !== null) throw invalid('signature', why);
}

function signedByKey(recovery: Recovery, digest: Uint8Array, text: string, address: string): boolean {
  const signature = parseSignature(text);
  return !('malformed' in signature) && recovery.recover(digest, signature) === address.toLowerCase();
}
