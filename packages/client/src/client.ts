import { type Account, createAccount } from './account';
import { createOrders, type Orders, RESOLVE_MS_MAX } from './orders';
import { createReads, type Reads } from './reads';
import { createSessions, type Session, type SessionsOptions, type Signer } from './sessions';
import { createTransport, type Fetch } from './transport';
import type { ExchangeConfig } from './types';

export interface ClientOptions extends SessionsOptions {
  /** Of the exchange, for example "http://localhost:3000"; "" in a page it serves itself. */
  readonly baseUrl: string;
  readonly fetch?: Fetch | undefined;
  /** COLLATERAL_DECIMALS of the exchange; asked for once when left out. */
  readonly decimals?: number | undefined;
  /** Of one request; 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Longest that an order whose outcome is unknown is sent again; 20 s. */
  readonly resolveMs?: number | undefined;
}

/**
 * The exchange as functions: reads, the wallet's own views, orders. Every wait has a bound, every failure is an
 * ExchangeError. Lists come page by page; `walk` goes through all of one.
 */
export interface Client extends Reads, Account, Orders {
  readonly baseUrl: string;
  /** The session to store, or null without one. */
  readonly session: Session | null;
  signIn(signer: Signer): Promise<Session>;
  /** Ends the session everywhere; in this client even when the exchange does not answer. */
  signOut(): Promise<void>;
  /** An access token for the next request, renewed in time; null without a session. Give it to `connectLive`. */
  accessToken(): Promise<string | null>;
  /** Takes over the session of another tab, or gives this one up without ending it. */
  useSession(next: Session | null): void;
}

export function createClient(options: ClientOptions): Client {
  const send = createTransport(options.baseUrl, options.fetch, options.timeoutMs);
  const sessions = createSessions(send, options);
  const reads = createReads(send, sessions);
  const { forgetNonces, ...orders } = createOrders({
    send,
    sessions,
    trading: reads.trading,
    decimals: decimalsOf(options.decimals, reads.config),
    resolveMs: options.resolveMs ?? RESOLVE_MS_MAX,
  });
  return {
    baseUrl: options.baseUrl,
    ...reads,
    ...createAccount(sessions, forgetNonces),
    ...orders,
    signIn: sessions.signIn,
    signOut: sessions.signOut,
    accessToken: sessions.accessToken,
    get session() {
      return sessions.current();
    },
    useSession: sessions.use,
  };
}

/** The exchange's configuration, requested once, unless the caller knows it. */
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
