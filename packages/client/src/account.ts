import { isWorthAnother, READ_MS_MAX } from './reads';
import type { Sessions } from './sessions';
import { persist, type Request } from './transport';
import type { Decimal, OrdersQuery, OutcomeIndex, Page, Side } from './types';
import type {
  Activity,
  Balances,
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

/** The largest number of orders in one request. */
const CANCEL_HASHES_MAX = 100;
const KEY_BYTES = 16;

export interface CancelAllFilter {
  /** Every market when left out. */
  readonly marketId?: string | undefined;
  readonly outcomeIndex?: OutcomeIndex | undefined;
  readonly side?: Side | undefined;
}

/** The signed-in wallet's own reads and actions, besides placing orders. */
export function createAccount(sessions: Sessions, forgetNonces: () => void) {
  /** A request that may be sent twice: it changes nothing, or nothing more. */
  const again = async <T>(request: Request): Promise<T> =>
    (await persist(() => sessions.authorized<T>(request), isWorthAnother, READ_MS_MAX)).body;
  const once = async <T>(request: Request): Promise<T> => (await sessions.authorized<T>(request)).body;
  const get = <T>(path: string, query: object = {}): Promise<T> => again<T>({ method: 'GET', path, query });

  const convert = (id: string, verb: 'split' | 'merge', size: Decimal): Promise<Balances> =>
    again<Balances>({
      method: 'POST',
      path: `/markets/${encodeURIComponent(id)}/${verb}`,
      body: { size },
      // The exchange does what has one key once.
      headers: { 'idempotency-key': randomKey() },
    });

  return {
    me: () => get<Me>('/me'),
    balances: () => get<Balances>('/me/balances'),
    positions: (query: PositionsQuery = {}) => get<Page<Position>>('/me/positions', query),
    orders: (query: OrdersQuery = {}) => get<Page<Order>>('/me/orders', query),
    myTrades: (query: JournalQuery = {}) => get<Page<OwnTrade>>('/me/trades', query),
    activity: (query: JournalQuery = {}) => get<Page<Activity>>('/me/activity', query),
    updateProfile: (change: ProfileChange) =>
      again<Profile>({ method: 'PATCH', path: '/me/profile', body: change }),
    /** Paper funds, at most once an hour. */
    faucet: () => once<Balances>({ method: 'POST', path: '/me/faucet' }),
    /** Collateral into a full set, and back. */
    split: (id: string, size: Decimal) => convert(id, 'split', size),
    merge: (id: string, size: Decimal) => convert(id, 'merge', size),
    /** One higher: every open order signed below it is INVALIDATED. */
    raiseNonce: async () => {
      const raised = await once<{ readonly nonce: string }>({ method: 'POST', path: '/me/nonce' });
      forgetNonces();
      return raised;
    },
    ...cancels(again),
    ...comments(again, once),
  };
}

type Ask = <T>(request: Request) => Promise<T>;

/** Cancelling twice is cancelling: all of these go on trying until they are answered, within bounds. */
function cancels(again: Ask) {
  return {
    /** In any market. Rejects with ORDER_NOT_CANCELLABLE when it is final for another reason. */
    cancel: (orderHash: string) =>
      again<Cancelled>({ method: 'POST', path: `/orders/${encodeURIComponent(orderHash)}/cancel` }),
    /** The answer of a second attempt lists what was left for it to cancel. */
    cancelAll: async ({ marketId, ...filter }: CancelAllFilter = {}): Promise<CancelledAll> => {
      if (marketId === undefined) {
        if (Object.keys(filter).length > 0) throw new RangeError('outcomeIndex and side need a marketId');
        return again<CancelledAll>({ method: 'POST', path: '/me/orders/cancel-all' });
      }
      const path = `/markets/${encodeURIComponent(marketId)}/orders/cancel-all`;
      return again<CancelledAll>({ method: 'POST', path, body: filter });
    },
    /** Any number, a hundred in a request; orders that were gone already are in `notCancelled`. */
    cancelMany: async (orderHashes: readonly string[]): Promise<CancelledMany> => {
      const cancelled: string[] = [];
      let notCancelled: CancelledMany['notCancelled'] = {};
      for (let from = 0; from < orderHashes.length; from += CANCEL_HASHES_MAX) {
        const step = orderHashes.slice(from, from + CANCEL_HASHES_MAX);
        const body = { orderHashes: step };
        const answer = await again<CancelledMany>({ method: 'POST', path: '/orders/cancel', body });
        cancelled.push(...answer.cancelled);
        notCancelled = { ...notCancelled, ...answer.notCancelled };
      }
      return { cancelled, notCancelled };
    },
  };
}

function comments(again: Ask, once: Ask) {
  const path = (id: string, more = ''): string => `/comments/${encodeURIComponent(id)}${more}`;
  return {
    postComment: (marketId: string, body: string, parentId?: string) =>
      once<Comment>({
        method: 'POST',
        path: `/markets/${encodeURIComponent(marketId)}/comments`,
        body: { body, ...(parentId === undefined ? {} : { parentId }) },
      }),
    deleteComment: (id: string) => again<void>({ method: 'DELETE', path: path(id) }),
    likeComment: (id: string) => again<Comment>({ method: 'POST', path: path(id, '/like') }),
    unlikeComment: (id: string) => again<void>({ method: 'DELETE', path: path(id, '/like') }),
  };
}

const randomKey = (): string =>
  [...globalThis.crypto.getRandomValues(new Uint8Array(KEY_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
