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
    /** The session ends everywhere; here even when the exchange cannot be told. */
    signOut: sessions.signOut,
    /** A token to send now, renewed in time; null when nobody is signed in. What `connectLive` asks for. */
    accessToken: sessions.accessToken,
    /** What to keep, or null when nobody is signed in. */
    get session(): Session | null {
      return sessions.current();
    },
    /** Takes over the session of another tab, or gives this one up without ending it. */
    useSession: sessions.use,
  };
}

/** What the exchange says, asked for once, unless the caller knows. */
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
