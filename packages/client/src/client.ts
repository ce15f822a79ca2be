import { createAccount } from './account';
import { createOrders, RESOLVE_MS_MAX } from './orders';
import { createReads } from './reads';
import { createSessions, type Session, type SessionsOptions } from './sessions';
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

export type Client = ReturnType<typeof createClient>;

/**
 * The exchange as functions: reads, the wallet's own views, orders. Every wait has a bound, every failure is an
 * ExchangeError. Lists come page by page; `walk` goes through all of one.
 */
export function createClient(options: ClientOptions) {
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
    /** Ends the session everywhere; in this client even when the exchange does not answer. */
    signOut: sessions.signOut,
    /**
     * An access token for the next request, renewed in time; null without a session. The options of `connectLive` that
     * the client provides.
     */
    accessToken: sessions.accessToken,
    /** The session to store, or null without one. */
    get session(): Session | null {
      return sessions.current();
    },
    /** Takes over the session of another tab, or gives this one up without ending it. */
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
