import { type Account, createAccount } from './account';
import { exchangeClock } from './clock';
import { baseUrl, checkMembers, handler, integer, optional, type Shape } from './input';
import { createOrders, type Orders, RESOLVE_MS_MAX } from './orders';
import { createReads, type Reads } from './reads';
import {
  checkSession,
  createSessions,
  type Session,
  type Sessions,
  type SessionsOptions,
  type Signer,
  type SignOutOptions,
} from './sessions';
import { createTransport, type Fetch, type Send, type Way } from './transport';
import type { ExchangeConfig } from './types';

export interface ClientOptions extends SessionsOptions {
  /** The URL of the exchange, for example "http://localhost:3000"; "" in a page that the exchange serves. */
  readonly baseUrl: string;
  readonly fetch?: Fetch | undefined;
  /** COLLATERAL_DECIMALS of the exchange; requested once by default. */
  readonly decimals?: number | undefined;
  /** The time limit of one request; 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** The longest time for which an order with unknown outcome is sent again; 20 s by default. */
  readonly resolveMs?: number | undefined;
}

const OPTIONS: Shape = {
  baseUrl,
  fetch: optional(handler),
  decimals: optional(integer(0, 36)),
  timeoutMs: optional(integer(1)),
  resolveMs: optional(integer(0)),
  session: optional(checkSession),
  onSession: optional(handler),
};

/**
 * The exchange as functions: reads, the wallet's own views, orders. Every wait has a limit, and every failure is an
 * ExchangeError. Lists come in pages; `walk` reads all rows of one.
 */
export interface Client extends Reads, Account, Orders {
  readonly baseUrl: string;
  /** The session to store, or null without one. */
  readonly session: Session | null;
  signIn(signer: Signer): Promise<Session>;
  /** Ends the session everywhere; in this client even if the exchange does not respond. */
  signOut(options?: SignOutOptions): Promise<void>;
  /**
   * An access token for the next request, renewed in time, and when it equals `refused`; null without a session. Pass it to
   * `connectLive`.
   */
  accessToken(refused?: string | null): Promise<string | null>;
  /** Takes over the session of another tab, or drops this one without ending it. */
  useSession(next: Session | null): void;
  /** Sends orders and cancels over a socket while that is possible: `client.useSocket(orderSocket(live))`. Null ends it. */
  useSocket(way: Way | null): void;
  /**
   * This client, with its session and its socket; its calls, except signIn and signOut, end when the signal is aborted: with
   * ABORTED, or with NOT_SENT before the request was sent. An order that may have been booked is OUTCOME_UNKNOWN as ever.
   */
  withSignal(signal: AbortSignal): Client;
}

export function createClient(options: ClientOptions): Client {
  checkMembers(options, OPTIONS, 'the options');
  const http = createTransport(options.baseUrl, options.fetch, options.timeoutMs);
  let way: Way | null = null;
  const send: Send = (request) => (way ? way(request, http) : http(request));
  const sessions = createSessions(send, options);
  const reads = createReads(send, sessions);
  const decimals = decimalsOf(options.decimals, reads.config);
  const clock = exchangeClock(reads.time);
  const known = { terms: new Map(), nonces: new Map() };
  /** The next order is signed with it: a batch has no second attempt. */
  const keepNonce = (nonce: string): void => {
    known.nonces.set(sessions.current()?.address.toLowerCase(), nonce);
  };

  /** The client whose requests end with this signal. */
  function clientOf(signal?: AbortSignal): Client {
    const sendUntil: Send = (request) => send({ ...request, signal });
    const sessionsUntil: Sessions = {
      ...sessions,
      authorized: (request) => sessions.authorized({ ...request, signal }),
    };
    const readsUntil = createReads(sendUntil, sessionsUntil, signal);
    return {
      baseUrl: options.baseUrl,
      ...readsUntil,
      ...createAccount(sessionsUntil, keepNonce, signal),
      ...createOrders({
        send: sendUntil,
        sessions: sessionsUntil,
        trading: readsUntil.trading,
        decimals,
        clock,
        resolveMs: options.resolveMs ?? RESOLVE_MS_MAX,
        known,
        signal,
      }),
      signIn: sessions.signIn,
      signOut: sessions.signOut,
      accessToken: sessions.accessToken,
      get session() {
        return sessions.current();
      },
      useSession: sessions.use,
      useSocket(next) {
        if (next !== null) handler(next, 'the way');
        way = next;
      },
      withSignal(next) {
        if (typeof next?.addEventListener !== 'function')
          throw new TypeError('the signal must be an AbortSignal');
        return clientOf(next);
      },
    };
  }
  return clientOf();
}

/** The exchange's configuration, requested once, unless the caller passes it. */
function decimalsOf(given: number | undefined, config: () => Promise<ExchangeConfig>): () => Promise<number> {
  let known = given === undefined ? null : Promise.resolve(given);
  return () => {
    known ??= config()
      .then(({ limits }) => limits.collateralDecimals)
      .catch((error) => {
        known = null;
        throw error;
      });
    return known;
  };
}
