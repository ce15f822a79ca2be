import {
  anything,
  checkMembers,
  checkQuery,
  flag,
  hash,
  optional,
  positive,
  type Shape,
  text,
} from './input';
import { isWorthAnother, isWorthAnotherRead, PAGE, PERIOD, POSITIONS, partOf, READ_MS_MAX } from './reads';
import type { Sessions } from './sessions';
import { persist, type Request } from './transport';
import type { Decimal, OrdersQuery, OutcomeIndex, Page, PageQuery, Side, Timeframe } from './types';
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

const ORDERS = [...PAGE, 'status', 'marketId', 'side', 'clientOrderId'];
const JOURNAL = [...PERIOD, 'marketId'];
const nullable: Shape[string] = (value, name) => {
  if (value !== null && typeof value !== 'string' && value !== undefined)
    throw new RangeError(`${name} must be a string, or null to clear it`);
};
/** The exchange takes a null for false. */
const flagOrNull: Shape[string] = (value, name) => optional(flag)(value ?? undefined, name);
const PROFILE: Shape = {
  username: nullable,
  bio: nullable,
  avatarUrl: nullable,
  hidden: flagOrNull,
  portfolioPublic: flagOrNull,
};
const NEW_KEY: Shape = { name: text, scopes: anything, expiresAt: anything };

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
  /** Tokens of a market with a result. On a chain it rejects with ON_CHAIN (`callsOf`); else the exchange pays by itself, and it is NOT_FOUND. */
  redeem(id: string): Promise<Balances>;
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
  /** What the wallet wrote in all markets, newest first, without what was deleted. */
  myComments(query?: PageQuery): Promise<Page<Comment>>;
  postComment(marketId: string, body: string, parentId?: string): Promise<Comment>;
  deleteComment(id: string): Promise<void>;
  likeComment(id: string): Promise<Comment>;
  unlikeComment(id: string): Promise<void>;
}

export function createAccount(
  sessions: Sessions,
  onNonce: (nonce: string) => void,
  signal?: AbortSignal,
): Account {
  /** A request that is safe to send twice. */
  const again: Ask = async <T>(request: Request): Promise<T> => {
    const isAgain = request.method === 'GET' ? isWorthAnotherRead : isWorthAnother;
    return (await persist(() => sessions.authorized<T>(request), isAgain, READ_MS_MAX, signal)).body;
  };
  const once: Ask = async <T>(request: Request): Promise<T> => (await sessions.authorized<T>(request)).body;
  const get: Get = async <T>(path: string, query: object = {}, names: readonly string[] = []): Promise<T> => {
    checkQuery(query, names);
    return again<T>({ method: 'GET', path, query });
  };

  const convert = async (id: string, verb: 'split' | 'merge', size: Decimal): Promise<Balances> => {
    positive(size, 'size');
    return again<Balances>({
      method: 'POST',
      path: `/markets/${partOf(id)}/${verb}`,
      body: { size },
      // The exchange executes requests with the same key once.
      headers: { 'idempotency-key': randomKey() },
    });
  };

  return {
    me: () => get('/me'),
    balances: () => get('/me/balances'),
    positions: (query) => get('/me/positions', query, POSITIONS),
    portfolio: (timeframe) => get('/me/portfolio', { timeframe }, ['timeframe']),
    orders: (query) => get('/me/orders', query, ORDERS),
    myTrades: (query) => get('/me/trades', query, JOURNAL),
    activity: (query) => get('/me/activity', query, JOURNAL),
    updateProfile: async (change) => {
      checkMembers(change, PROFILE, 'a profile');
      return again({ method: 'PATCH', path: '/me/profile', body: change });
    },
    faucet: () => once({ method: 'POST', path: '/me/faucet' }),
    split: (id, size) => convert(id, 'split', size),
    merge: (id, size) => convert(id, 'merge', size),
    redeem: (id) => again({ method: 'POST', path: `/markets/${encodeURIComponent(id)}/redeem` }),
    raiseNonce: async () => {
      const raised = await once<{ readonly nonce: string }>({ method: 'POST', path: '/me/nonce' });
      onNonce(raised.nonce);
      return raised;
    },
    apiKeys: async () => (await get<{ readonly data: readonly ApiKey[] }>('/me/keys')).data,
    createApiKey: async (key) => {
      checkMembers(key, NEW_KEY, 'a key');
      return once({ method: 'POST', path: '/me/keys', body: key });
    },
    deleteApiKey: async (id) => once({ method: 'DELETE', path: `/me/keys/${partOf(id)}` }),
    ...cancels(again),
    ...comments(get, again, once),
  };
}

type Get = <T>(path: string, query?: object, names?: readonly string[]) => Promise<T>;
type Ask = <T>(request: Request) => Promise<T>;

function cancels(again: Ask): Cancels {
  return {
    cancel: async (orderHash) => {
      hash(orderHash, 'orderHash');
      return again({ method: 'POST', path: `/orders/${orderHash}/cancel` });
    },
    cancelAll: async (all = {}) => {
      const isFilter = (entry: unknown) => all.marketId && FILTER.test(String(entry));
      if (`${all}` !== '[object Object]' || !Object.entries(all).every(isFilter))
        throw new RangeError('pass a marketId, and with it outcomeIndex and side');
      const { marketId, ...filter } = all;
      const path = marketId ? `/markets/${marketId}` : '/me';
      return again({ method: 'POST', path: `${path}/orders/cancel-all`, body: filter });
    },
    cancelMany: async (orderHashes) => {
      if (!Array.isArray(orderHashes)) throw new RangeError('pass an array of hashes');
      for (const orderHash of orderHashes) hash(orderHash, 'orderHash');
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

function comments(get: Get, again: Ask, once: Ask): Comments {
  const path = (id: string, more = ''): string => `/comments/${partOf(id)}${more}`;
  return {
    myComments: (query) => get('/me/comments', query, PAGE),
    postComment: async (marketId, body, parentId) => {
      text(body, 'body');
      optional(text)(parentId, 'parentId');
      return once({
        method: 'POST',
        path: `/markets/${partOf(marketId, 'marketId')}/comments`,
        body: { body, parentId },
      });
    },
    deleteComment: async (id) => again({ method: 'DELETE', path: path(id) }),
    likeComment: async (id) => again({ method: 'POST', path: path(id, '/like') }),
    unlikeComment: async (id) => again({ method: 'DELETE', path: path(id, '/like') }),
  };
}

const randomKey = (): string =>
  [...globalThis.crypto.getRandomValues(new Uint8Array(KEY_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
