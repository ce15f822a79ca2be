import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../exchange/errors';
import { checksumAddress } from './address';
import type { Caller } from './sessions';

/** The scopes of a key. Every other action of a wallet needs a session. */
const KEY_SCOPES = ['read', 'cancel'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The stored record of a key. It never contains the key itself. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** SHA-256 of the key, in hexadecimal digits. */
  readonly digest: string;
  readonly createdAtMs: number;
  /** Null for a key without an expiration. */
  readonly expiresAtMs: number | null;
}

/** The keys of wallets (in lower case), shared by all replicas. A method takes effect on every replica before it resolves. */
export interface KeyStore {
  /** Returns false when the wallet has as many keys as it may have; expired keys do not count. */
  add(address: string, record: KeyRecord, nowMs: number): Promise<boolean>;
  find(address: string, id: string): Promise<KeyRecord | null>;
  list(address: string): Promise<readonly KeyRecord[]>;
  /** Returns false when the key does not exist. */
  remove(address: string, id: string): Promise<boolean>;
}

export interface NewKey {
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly expiresAtMs: number | null;
}

export interface ApiKeys {
  /** Creates a key; only this response shows it. Throws INVALID_REQUEST when the wallet has too many. */
  create(wallet: string, key: NewKey): Promise<{ record: KeyRecord; key: string }>;
  /** Throws NOT_FOUND. */
  remove(wallet: string, id: string): Promise<void>;
  list(wallet: string): Promise<readonly KeyRecord[]>;
  /** Throws TOKEN_INVALID and TOKEN_EXPIRED. */
  authenticate(key: string): Promise<Caller>;
  /** The key's id, from the `sid` of a caller that came with a key; null for the `sid` of a session. */
  isLive(sid: string): Promise<boolean | null>;
}

const [ADDRESS_BYTES, ID_BYTES, SECRET_BYTES] = [20, 8, 32];
/** The wallet, the id and the secret, in base64url. */
const KEY = /^key_([A-Za-z0-9_-]{80})$/;
const SID = /^key:(0x[0-9a-f]{40}):([0-9a-f]{16})$/;
export const KEYS_MAX = 20;

interface ApiKeysOptions {
  readonly store: KeyStore;
  readonly nowMs: () => number;
  /** Called for each deleted key, after the deletion took effect. */
  readonly onRemoved: (sid: string) => void;
}

/** Long-lived bearer tokens with fewer rights than the wallet: a program that leaks its key does not leak the wallet. */
export function createApiKeys({ store, nowMs, onRemoved }: ApiKeysOptions): ApiKeys {
  const sidOf = (address: string, id: string): string => `key:${address}:${id}`;

  async function create(wallet: string, { name, scopes, expiresAtMs }: NewKey) {
    const address = wallet.toLowerCase();
    const id = randomBytes(ID_BYTES);
    const bytes = Buffer.concat([Buffer.from(address.slice(2), 'hex'), id, randomBytes(SECRET_BYTES)]);
    const key = `key_${bytes.toString('base64url')}`;
    const createdAtMs = Math.trunc(nowMs());
    const record = { id: id.toString('hex'), name, scopes, digest: digestOf(key), createdAtMs, expiresAtMs };
    if (!(await store.add(address, record, createdAtMs))) {
      throw new Refusal('INVALID_REQUEST', `a wallet has at most ${KEYS_MAX} API keys; delete one first`);
    }
    return { record, key };
  }

  async function remove(wallet: string, id: string): Promise<void> {
    const address = wallet.toLowerCase();
    if (!(await store.remove(address, id)))
      throw new Refusal('NOT_FOUND', 'this wallet has no such API key; GET /me/keys lists its keys');
    onRemoved(sidOf(address, id));
  }

  async function authenticate(key: string): Promise<Caller> {
    const bytes = Buffer.from(KEY.exec(key)?.[1] ?? '', 'base64url');
    if (bytes.length !== ADDRESS_BYTES + ID_BYTES + SECRET_BYTES) throw unknown();
    const address = `0x${bytes.toString('hex', 0, ADDRESS_BYTES)}`;
    const id = bytes.toString('hex', ADDRESS_BYTES, ADDRESS_BYTES + ID_BYTES);
    const record = await store.find(address, id);
    if (!record || !isSame(record.digest, digestOf(key))) throw unknown();
    if (hasEnded(record)) throw new Refusal('TOKEN_EXPIRED', 'the API key has expired; create another');
    return {
      address: checksumAddress(address),
      sid: sidOf(address, id),
      issuedAt: iso(record.createdAtMs),
      expiresAt: record.expiresAtMs === null ? null : iso(record.expiresAtMs),
      scopes: record.scopes,
    };
  }

  const hasEnded = ({ expiresAtMs }: KeyRecord): boolean => expiresAtMs !== null && expiresAtMs <= nowMs();

  async function isLive(sid: string): Promise<boolean | null> {
    const [, address, id] = SID.exec(sid) ?? [];
    if (address === undefined || id === undefined) return null;
    const record = await store.find(address, id);
    return record !== null && !hasEnded(record);
  }

  return {
    create,
    remove,
    list: (wallet: string) => store.list(wallet.toLowerCase()),
    authenticate,
    isLive,
  };
}

/** Whether a bearer has the form of a key; any other bearer may be an access token. */
export const isKey = (bearer: unknown): bearer is string => typeof bearer === 'string' && KEY.test(bearer);

/** Throws FORBIDDEN when the caller came with a key that lacks `scope`; with null, for every key. */
export function checkScope({ scopes }: Pick<Caller, 'scopes'>, scope: KeyScope | null): void {
  if (scopes === null || (scope !== null && scopes.includes(scope))) return;
  const detail =
    scope === null
      ? 'no API key may do this; use the access token of a sign-in'
      : `this needs an API key with the scope ${scope}, or the access token of a sign-in`;
  throw new Refusal('FORBIDDEN', detail);
}

const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex');
const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
const unknown = (): Refusal =>
  new Refusal('TOKEN_INVALID', 'the API key is unknown or was deleted; create another');
const iso = (ms: number): string => new Date(ms).toISOString();
