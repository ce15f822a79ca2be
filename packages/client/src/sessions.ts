import { ExchangeError, notSent } from './errors';
import { address, checkMembers, flag, integer, optional, type Shape, shown, text } from './input';
import { siweText } from './siwe';
import { type Answer, persist, type Request, type Send, unlessAborted } from './transport';
import type { Eip712Domain, Eip712Types } from './types';
import type { Challenge, Tokens } from './types-account';
import { callUser } from './user-code';

/** The signer: an ethers Wallet fits unchanged, an EIP-1193 wallet needs a few lines around it. */
export interface Signer {
  readonly address: string;
  /** The address is a contract that checks signatures itself (EIP-1271): its orders have signatureType 3. */
  readonly isContract?: boolean | undefined;
  signMessage(text: string): Promise<string>;
  signTypedData(
    domain: Eip712Domain,
    types: Record<string, { name: string; type: string }[]>,
    value: Record<string, unknown>,
  ): Promise<string>;
}

/** Throws a TypeError on a signer that cannot sign, and a RangeError on its address. */
export function checkSigner(
  signer: unknown,
  method: 'signMessage' | 'signTypedData' = 'signTypedData',
): void {
  const one = signer as Partial<Signer> | null | undefined;
  if (typeof one?.[method] !== 'function') throw new TypeError(`the signer needs ${method}`);
  if (one.isContract !== undefined && typeof one.isContract !== 'boolean')
    throw new TypeError(`isContract of the signer must be true or false, not ${shown(one.isContract)}`);
  address(one.address, 'the address of the signer');
}

/** The session to store in order to stay signed in. It is a secret. */
export interface Session {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly address: string;
  /** The expiration of the access token, epoch milliseconds. */
  readonly expiresAt: number;
}

const SESSION: Shape = { accessToken: text, refreshToken: text, address, expiresAt: integer(0) };

/** Throws on anything but a session or null. */
export function checkSession(session: unknown): void {
  if (session !== null) checkMembers(session, SESSION, 'a session');
}

export interface SessionsOptions {
  readonly session?: Session | null | undefined;
  /** Called with every new session, and with null at its end. */
  readonly onSession?: ((session: Session | null) => void) | undefined;
}

/** An access token this close to its expiration is not sent any more. */
const EXPIRY_MARGIN_MS = 30_000;
const REFRESH_MS_MAX = 8_000;
const UNAUTHORIZED = 401;

const SIGN_OUT: Shape = { everywhere: optional(flag) };

export interface SignOutOptions {
  /** Ends every session of the wallet, on all its devices. API keys stay. */
  readonly everywhere?: boolean | undefined;
}

/** The tokens of one wallet: obtained, renewed once for all requests that need it, and dropped. */
export interface Sessions {
  current(): Session | null;
  /** Takes over a session from elsewhere: another tab, a file. */
  use(next: Session | null): void;
  signIn(signer: Signer): Promise<Session>;
  signOut(options?: SignOutOptions): Promise<void>;
  /**
   * An access token for the next request, renewed when it is about to expire or equals `refused`, which the exchange does not
   * accept; null without a session.
   */
  accessToken(refused?: string | null): Promise<string | null>;
  /** Sends a request with the wallet's token; a token that the exchange refuses is renewed, once. */
  authorized<T>(request: Request): Promise<Answer<T>>;
}

export function createSessions(send: Send, options: SessionsOptions): Sessions {
  let session = options.session ?? null;
  let underway: { readonly old: Session; readonly next: Promise<Session> } | null = null;

  function set(next: Session | null): void {
    session = next;
    callUser(() => options.onSession?.(next));
  }

  const sessionOf = (tokens: Tokens, askedAtMs: number): Session => ({
    accessToken: tokens.accessToken,
    refreshToken: tokens.refreshToken,
    address: tokens.user.address,
    expiresAt: askedAtMs + tokens.expiresIn * 1_000,
  });

  async function signIn(signer: Signer): Promise<Session> {
    checkSigner(signer, 'signMessage');
    const nonce = await persist(
      () => send<Challenge>({ method: 'GET', path: `/auth/nonce/${signer.address}` }),
      (error) => error.isOutcomeUnknown && error.status === 0,
      REFRESH_MS_MAX,
    );
    const message = siweText(nonce.body);
    const signature = await signer.signMessage(message);
    const askedAtMs = Date.now();
    const { body } = await send<Tokens>({
      method: 'POST',
      path: '/auth/verify',
      body: { message, signature },
    });
    const next = sessionOf(body, askedAtMs);
    set(next);
    return next;
  }

  /** A lost reply does no harm: for 10 s the exchange answers the same token with the same pair. */
  async function renew(old: Session): Promise<Session> {
    const { refreshToken } = old;
    const askedAtMs = Date.now();
    try {
      const { body } = await persist(
        () => send<Tokens>({ method: 'POST', path: '/auth/refresh', body: { refreshToken } }),
        (error) => error.isOutcomeUnknown,
        REFRESH_MS_MAX,
      );
      const next = sessionOf(body, askedAtMs);
      // The user may have signed in or out meanwhile.
      if (session === old) set(next);
      return next;
    } catch (error) {
      if (error instanceof ExchangeError && error.status === UNAUTHORIZED && session === old) set(null);
      throw error;
    }
  }

  function refresh(old: Session): Promise<Session> {
    if (underway?.old !== old) {
      const next = renew(old).finally(() => {
        if (underway?.next === next) underway = null;
      });
      underway = { old, next };
    }
    return underway.next;
  }

  async function accessToken(refused: string | null = null): Promise<string | null> {
    if (session === null) return null;
    const isAccepted = (one: Session): boolean => one.accessToken !== refused;
    const leftMs = session.expiresAt - Date.now();
    if (isAccepted(session) && leftMs > EXPIRY_MARGIN_MS) return session.accessToken;
    try {
      return (await refresh(session)).accessToken;
    } catch (error) {
      if (session !== null && isAccepted(session) && session.expiresAt > Date.now())
        return session.accessToken;
      throw error;
    }
  }

  /** A renewal without an answer is no reason to believe that the request itself was sent. */
  const renewedToken = (): Promise<string | null> =>
    accessToken().catch((error: unknown) => {
      const isUnknown = error instanceof ExchangeError && error.isOutcomeUnknown;
      throw isUnknown ? notSent('the session could not be renewed', error, true) : error;
    });

  async function authorized<T>(request: Request): Promise<Answer<T>> {
    const token = await unlessAborted(renewedToken(), request.signal, () =>
      notSent('the signal was aborted before the request was sent', request.signal?.reason),
    );
    if (token === null) {
      throw new ExchangeError({ status: 0, code: 'NOT_SIGNED_IN', detail: 'sign in first' });
    }
    try {
      return await send<T>({ ...request, token });
    } catch (error) {
      const isRefused = error instanceof ExchangeError && error.status === UNAUTHORIZED;
      if (!isRefused || session === null) throw error;
      const next = session.accessToken === token ? await refresh(session) : session;
      return send<T>({ ...request, token: next.accessToken });
    }
  }

  async function signOut(ending: SignOutOptions = {}): Promise<void> {
    checkMembers(ending, SIGN_OUT, 'the options');
    const { everywhere = false } = ending;
    if (session === null) return;
    try {
      await authorized<void>({
        method: 'POST',
        path: '/auth/logout',
        ...(everywhere && { body: { everywhere } }),
      });
    } finally {
      set(null);
    }
  }

  return {
    current: () => session,
    use: (next) => {
      checkSession(next);
      session = next;
    },
    signIn,
    signOut,
    accessToken,
    authorized,
  };
}

/** In the type that ethers expects, without `readonly`. */
export const mutableTypes = (types: Eip712Types): Record<string, { name: string; type: string }[]> =>
  Object.fromEntries(
    Object.entries(types).map(([name, members]) => [name, members.map((one) => ({ ...one }))]),
  );
