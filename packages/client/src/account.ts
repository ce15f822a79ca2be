import { isWorthAnother, READ_MS_MAX } from './reads';
import type { Sessions } from './sessions';
import { persist, type Request } from './transport';
import type { Decimal, OrdersQuery, OutcomeIndex, Page, Side, Timeframe } from './types';
import type {
  Activity,
  Cancelled,
  CancelledAll,
  CancelledMany,
  Comment,
  JournalQuery,
  Me,
  Order,
  OwnTrade,
  Position,
  PositionsQuery,
  Profile,
  ProfileChange,
} from './types-account';
import type { Balances } from './types-balances';
import type { ApiKey, CreatedApiKey, NewApiKey } from './types-keys';
import type { Portfolio } from './types-portfolio';

/** The largest number of orders in one request. */
const CANCEL_HASHES_MAX = 100;
const KEY_BYTES = 16;

/** A member that is present has a value: an undefined `marketId` must not mean every market. */
export interface CancelAllFilter {
  /** Every market by default. */
  readonly marketId?: string;
  readonly outcomeIndex?: OutcomeIndex;
  readonly side?: Side;
}

/** The name and the value of such a member. */
const FILTER = /^(marketId,[\w-]+|outcomeIndex,[01]|side,(BUY|SELL))$/;

/** The signed-in wallet's own reads and actions, except placing orders. */
export interface Account extends Cancels, Comments, Keys {
  me(): Promise<Me>;
  balances(): Promise<Balances>;
  positions(query?: PositionsQuery): Promise<Page<Position>>;
  portfolio(timeframe?: Timeframe): Promise<Portfolio>;
  orders(query?: OrdersQuery): Promise<Page<Order>>;
  myTrades(query?: JournalQuery): Promise<Page<OwnTrade>>;
  activity(query?: JournalQuery): Promise<Page<Activity>>;
  updateProfile(change: ProfileChange): Promise<Profile>;
  /** Paper funds, at most once an hour. */
  faucet(): Promise<Balances>;
  /** Converts collateral into full sets. */
  split(id: string, size: Decimal): Promise<Balances>;
  /** Converts full sets into collateral. */
  merge(id: string, size: Decimal): Promise<Balances>;
  /** Raises the nonce by one: every open order signed with a lower nonce becomes INVALIDATED. */
  raiseNonce(): Promise<{ readonly nonce: string }>;
}

/** A cancel can be repeated, so all of these try again until they are answered, within bounds. */
interface Cancels {
  /** In any market. Rejects with ORDER_NOT_CANCELLABLE when the order is final for another reason. */
  cancel(orderHash: string): Promise<Cancelled>;
  /** The answer of a second attempt lists only the orders that were left to cancel. */
  cancelAll(filter?: CancelAllFilter): Promise<CancelledAll>;
  /** Any number of orders, a hundred in a request; orders that were already final are in `notCancelled`. */
  cancelMany(orderHashes: readonly string[]): Promise<CancelledMany>;
}

interface Keys {
  apiKeys(): Promise<readonly ApiKey[]>;
  /** Only this answer contains the key. */
  createApiKey(key: NewApiKey): Promise<CreatedApiKey>;
  deleteApiKey(id: string): Promise<void>;
}

interface Comments {
  postComment(marketId: string, body: string, parentId?: string): Promise<Comment>;
  deleteComment(id: string): Promise<void>;
  likeComment(id: string): Promise<Comment>;
  unlikeComment(id: string): Promise<void>;
}

export function createAccount(sessions: Sessions, forgetNonces: () => void): Account {
  /** A request that is safe to send twice. */
  const again: Ask = async <T>(request: Request): Promise<T> =>
    (await persist(() => sessions.authorized<T>(request), isWorthAnother, READ_MS_MAX)).body;
  const once: Ask = async <T>(request: Request): Promise<T> => (await sessions.authorized<T>(request)).body;
  const get = <T>(path: string, query: object = {}): Promise<T> => again<T>({ method: 'GET', path, query });

  const convert = (id: string, verb: 'split' | 'merge', size: Decimal): Promise<Balances> =>
    again<Balances>({
      method: 'POST',
      path: `/markets/${encodeURIComponent(id)}/${verb}`,
      body: { size },
      // The exchange executes requests with the same key once.
      headers: { 'idempotency-key': randomKey() },
    });

  return {
    me: () => get('/me'),
    balances: () => get('/me/balances'),
    positions: (query) => get('/me/positions', query),
    portfolio: (timeframe) => get('/me/portfolio', { timeframe }),
    orders: (query) => get('/me/orders', query),
    myTrades: (query) => get('/me/trades', query),
    activity: (query) => get('/me/activity', query),
    updateProfile: (change) => again({ method: 'PATCH', path: '/me/profile', body: change }),
    faucet: () => once({ method: 'POST', path: '/me/faucet' }),
    split: (id, size) => convert(id, 'split', size),
    merge: (id, size) => convert(id, 'merge', size),
    raiseNonce: async () => {
      const raised = await once<{ readonly nonce: string }>({ method: 'POST', path: '/me/nonce' });
      forgetNonces();
      return raised;
    },
    apiKeys: async () => (await get<{ readonly data: readonly ApiKey[] }>('/me/keys')).data,
    createApiKey: (key) => once({ method: 'POST', path: '/me/keys', body: key }),
    deleteApiKey: (id) => once({ method: 'DELETE', path: `/me/keys/${encodeURIComponent(id)}` }),
    ...cancels(again),
    ...comments(again, once),
  };
}

type Ask = <T>(request: Request) => Promise<T>;

function cancels(again: Ask): Cancels {
  return {
    cancel: (orderHash) => again({ method: 'POST', path: `/orders/${encodeURIComponent(orderHash)}/cancel` }),
    cancelAll: async (all = {}) => {
      const isFilter = (entry: unknown) => all.marketId && FILTER.test(String(entry));
      if (`${all}` !== '[object Object]' || !Object.entries(all).every(isFilter))
        throw new RangeError('pass a marketId, and with it outcomeIndex and side');
      const { marketId, ...filter } = all;
      const path = marketId ? `/markets/${marketId}` : '/me';
      return again({ method: 'POST', path: `${path}/orders/cancel-all`, body: filter });
    },
    cancelMany: async (orderHashes) => {
      if (!Array.isArray(orderHashes) || orderHashes.some((hash) => typeof hash !== 'string'))
        throw new RangeError('pass an array of hashes');
      const all = { cancelled: [] as string[], notCancelled: {} };
      for (let from = 0; from < orderHashes.length; from += CANCEL_HASHES_MAX) {
        const body = { orderHashes: orderHashes.slice(from, from + CANCEL_HASHES_MAX) };
        const answer = await again<CancelledMany>({ method: 'POST', path: '/orders/cancel', body });
        all.cancelled.push(...answer.cancelled);
        Object.assign(all.notCancelled, answer.notCancelled);
      }
      return all;
    },
  };
}

function comments(again: Ask, once: Ask): Comments {
  const path = (id: string, more = ''): string => `/comments/${encodeURIComponent(id)}${more}`;
  return {
    postComment: (marketId, body, parentId) =>
      once({
        method: 'POST',
        path: `/markets/${encodeURIComponent(marketId)}/comments`,
        body: { body, parentId },
      }),
    deleteComment: (id) => again({ method: 'DELETE', path: path(id) }),
    likeComment: (id) => again({ method: 'POST', path: path(id, '/like') }),
    unlikeComment: (id) => again({ method: 'DELETE', path: path(id, '/like') }),
  };
}

const randomKey = (): string =>
  [...globalThis.crypto.getRandomValues(new Uint8Array(KEY_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
