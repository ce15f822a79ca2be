import { Refusal } from '../../exchange/errors';
import { PATHS } from '../paths';
import type { Query } from '../queries';
import { HASH } from './orders';

/** The events of a private socket that do what an HTTP route does. */
export const ORDER_ENTRY = {
  submitOrder: 'order:submit',
  cancelOrder: 'order:cancel',
  replaceOrder: 'order:replace',
  submitOrders: 'orders:submit',
  cancelOrders: 'orders:cancel',
} as const;
export const ORDER_EVENTS = Object.values(ORDER_ENTRY);
export type OrderEvent = (typeof ORDER_EVENTS)[number];

/** The routes that serve each message; the first serves a payload that is no object, and refuses it. */
export const ORDER_ROUTES = {
  [ORDER_ENTRY.submitOrder]: [`POST ${PATHS.submit}`],
  [ORDER_ENTRY.cancelOrder]: [`POST ${PATHS.cancel}`, `POST ${PATHS.cancelByHash}`],
  [ORDER_ENTRY.replaceOrder]: [`POST ${PATHS.replace}`],
  [ORDER_ENTRY.submitOrders]: [`POST ${PATHS.batch}`],
  [ORDER_ENTRY.cancelOrders]: [
    `POST ${PATHS.cancelList}`,
    `POST ${PATHS.cancelAll}`,
    `POST ${PATHS.myCancelAll}`,
  ],
} as const satisfies Readonly<Record<OrderEvent, readonly string[]>>;

/** The HTTP request that a message stands for. */
export interface OrderEntry {
  /** The place of its route in `ORDER_ROUTES`. */
  readonly route: 0 | 1 | 2;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: unknown;
}

type Members = Readonly<Record<string, unknown>>;

const NO_QUERY: Query = new Map();
const DRY_RUN: Query = new Map([['dryRun', ['true']]]);

/** Throws INVALID_REQUEST for a member of the path or the query that has another type, and for a cancel that names nothing. */
export function orderEntryOf(event: OrderEvent, payload: unknown): OrderEntry {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    return { route: 0, params: {}, query: NO_QUERY, body: payload };
  return PARTS[event](payload as Members);
}

const submission = ({ marketId, dryRun, ...body }: Members): OrderEntry => ({
  route: 0,
  params: { id: textOf('marketId', marketId) },
  query: queryOf(dryRun),
  body,
});

const PARTS: Readonly<Record<OrderEvent, (payload: Members) => OrderEntry>> = {
  [ORDER_ENTRY.submitOrder]: submission,
  [ORDER_ENTRY.submitOrders]: submission,
  [ORDER_ENTRY.cancelOrder]: ({ marketId, ...body }) => {
    if (marketId !== undefined)
      return { route: 0, params: { id: textOf('marketId', marketId) }, query: NO_QUERY, body };
    const { orderHash, ...rest } = body;
    return { route: 1, params: { order_hash: hashOf('orderHash', orderHash) }, query: NO_QUERY, body: rest };
  },
  [ORDER_ENTRY.replaceOrder]: ({ marketId, orderHash, dryRun, ...body }) => ({
    route: 0,
    params: { id: textOf('marketId', marketId), order_hash: hashOf('orderHash', orderHash) },
    query: queryOf(dryRun),
    body,
  }),
  [ORDER_ENTRY.cancelOrders]: ({ marketId, ...body }) => {
    if (marketId !== undefined)
      return { route: 1, params: { id: textOf('marketId', marketId) }, query: NO_QUERY, body };
    if ('orderHashes' in body) return { route: 0, params: {}, query: NO_QUERY, body };
    const { all, ...rest } = body;
    // JSON drops a member that is undefined, so a payload without members must not cancel everything.
    if (all !== true) throw refused('', 'must have orderHashes, marketId or "all": true');
    return { route: 2, params: {}, query: NO_QUERY, body: rest };
  },
};

function textOf(path: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw refused(path, value === undefined ? 'is required' : 'must be a string');
}

function hashOf(path: string, value: unknown): string {
  const text = textOf(path, value);
  if (HASH.test(text)) return text;
  throw refused(path, 'must be 0x and 64 hexadecimal digits');
}

function queryOf(dryRun: unknown): Query {
  if (dryRun === undefined || dryRun === false) return NO_QUERY;
  if (dryRun === true) return DRY_RUN;
  throw refused('dryRun', 'must be a boolean');
}

const refused = (path: string, message: string): Refusal =>
  new Refusal('INVALID_REQUEST', `${path || 'the payload'} ${message}`, { errors: [{ path, message }] });
