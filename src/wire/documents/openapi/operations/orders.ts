import type { ErrorCode } from '../../../../exchange/errors';
import { ORDER_STATUSES } from '../../../../exchange/status';
import { PAGE_SIZES } from '../../../pages';
import { PATHS } from '../../../paths';
import { BATCH_ORDERS_MAX, batchShape, submitShape } from '../../../requests/orders';
import { ORDER, OWN_ORDER, REPLACE_BODY, REPLACEMENT, SUBMISSION, SUBMIT_BODY } from '../examples/orders';
import { cursor, limit, type Operations, query } from '../operation';
import { array, choice, jsonSchemaOf, object, ref, text, withProperty } from '../schema';
import { problemExample } from '../schemas/problems';

/** The refusals of an order's checks and of the engine. */
const SUBMIT_CODES: readonly ErrorCode[] = [
  'INVALID_ADDRESS',
  'INVALID_TOKEN',
  'INVALID_TAKER',
  'UNSUPPORTED_SIGNATURE_TYPE',
  'INVALID_FEE_RATE',
  'INVALID_NONCE_VALUE',
  'SIZE_OUT_OF_RANGE',
  'PRICE_OUT_OF_RANGE',
  'INVALID_LOT',
  'INVALID_TICK',
  'ORDER_EXPIRED',
  'INVALID_EXPIRATION',
  'INVALID_SIGNATURE',
  'MAKER_MISMATCH',
  'DUPLICATE_ORDER',
  'MARKET_NOT_OPEN',
  'DEADLINE_EXCEEDED',
  'INSUFFICIENT_BALANCE',
  'INSUFFICIENT_ALLOWANCE',
  'UNSETTLED_LIMIT',
  'WALLET_SUSPENDED',
  'BALANCE_LIMIT',
  'POST_ONLY_WOULD_CROSS',
  'FOK_NOT_FILLED',
  'SELF_TRADE',
  'CANCEL_ONLY',
  'HALTED',
  'BACKLOG',
];

const dryRun = query(
  'dryRun',
  '`true`: the same answer and the same refusals, with nothing booked.',
  choice(['true', 'false']),
);

/** A signed order with its unsigned members. The signed part has its own name. */
export const SUBMISSION_BODY = {
  name: 'SubmissionBody',
  shape: submitShape,
  schema: withProperty(jsonSchemaOf(submitShape), 'order', {
    ...ref('OrderToSubmit'),
    description: 'The order and its signature.',
  }),
} as const;

export const ORDER_OPERATIONS: Operations = {
  [`POST ${PATHS.submit}`]: {
    id: 'submitOrder',
    tag: 'Orders',
    summary: 'Submit a signed order',
    description:
      "The signature authorizes the order. A bearer is optional; if you send one, it must be the maker's. The EIP-712 hash identifies the order: if you send it again, at any time and to any replica, it is not executed again, and the answer is its current record with `Idempotent-Replayed: true`. After a 503 the order may still have been booked: send it again, or look it up by its hash. A request is booked within 3 s of its arrival or never, whatever its own `deadline`, so 5 s after it was sent a 404 of `GET /orders/{order_hash}` is final. Each request stands for itself: if you send the order again sooner and that is refused, the earlier request may still be booked.",
    bearer: 'optional',
    limited: true,
    parameters: [dryRun],
    body: { ...SUBMISSION_BODY, example: SUBMIT_BODY },
    success: {
      description: 'The order as it was booked, and its fills.',
      schema: 'Submission',
      example: SUBMISSION,
      headers: ['Idempotent-Replayed'],
    },
    codes: SUBMIT_CODES,
  },
  [`POST ${PATHS.replace}`]: {
    id: 'replaceOrder',
    tag: 'Orders',
    summary: 'Replace a resting order with a signed one',
    description:
      "Either the old order is cancelled (reason `REPLACED`) and the new one is booked, both at the same moment, or the new one is refused and the old one keeps resting. The reserve of the old order counts as free for the new one, and the old order does not affect its matching. The two get separate numbers, the cancel first. The bearer must be the maker of both. A repeated request is not executed again: the answer is the new order's record with `Idempotent-Replayed: true`, and `replaced` is null if the new order was not booked by a replacement.",
    bearer: 'required',
    limited: true,
    parameters: [dryRun],
    body: { ...SUBMISSION_BODY, example: REPLACE_BODY },
    success: {
      description: 'The new order as it was booked, its fills, and the old order.',
      schema: 'Replacement',
      example: REPLACEMENT,
      headers: ['Idempotent-Replayed'],
    },
    codes: [...SUBMIT_CODES, 'ORDER_NOT_FOUND', 'ORDER_NOT_CANCELLABLE'],
  },
  [`POST ${PATHS.batch}`]: {
    id: 'submitOrders',
    tag: 'Orders',
    summary: `Submit up to ${BATCH_ORDERS_MAX} orders`,
    description:
      'The orders are submitted one after the other and independently: if one is refused, its result says so, and the next is submitted. Only where `shards` of `GET /config` is more than 1, an order may be booked after later ones of its batch: one that needs collateral from another shard waits until it arrives. All of them together have 3 s from the arrival of the request; later ones are refused with `UNAVAILABLE` and never booked. A body that is not a batch is refused as a whole.',
    bearer: 'optional',
    limited: true,
    parameters: [dryRun],
    body: {
      shape: batchShape,
      schema: object({
        orders: array(ref('SubmissionBody'), {
          minItems: 1,
          maxItems: BATCH_ORDERS_MAX,
          description: 'The submissions, in the order in which they are made.',
        }),
      }),
      example: { orders: [SUBMIT_BODY] },
    },
    success: {
      description: 'A result for each order, in the order of the request.',
      schema: 'BatchResults',
      example: {
        results: [{ status: 200, order: SUBMISSION }, problemExample('INSUFFICIENT_BALANCE')],
      },
    },
  },
  [`GET ${PATHS.order}`]: {
    id: 'getOrder',
    tag: 'Orders',
    summary: "An order's current record",
    description:
      "Public. Only the maker's bearer receives the signed struct and `clientOrderId`. After a submission that got a 503 or no answer, a 404 is final 5 s after that request was sent: it will not be booked.",
    bearer: 'optional',
    limited: true,
    success: { description: 'The order.', schema: 'Order', example: OWN_ORDER },
  },
  [`GET ${PATHS.orderFills}`]: {
    id: 'listOrderFills',
    tag: 'Orders',
    summary: 'All fills of an order, newest first',
    description:
      'Public. The order itself contains its latest 100 fills, and their total number as `fillCount`.',
    limited: true,
    parameters: [limit(PAGE_SIZES.fills), cursor],
    success: {
      description: 'A page of fills.',
      schema: 'OrderFillPage',
      example: { data: ORDER.fills, nextCursor: null },
    },
  },
  [`GET ${PATHS.myOrders}`]: {
    id: 'listMyOrders',
    tag: 'Orders',
    summary: "The caller's orders, newest first",
    description: '`status=open` means `OPEN` and `PARTIALLY_FILLED`.',
    bearer: 'required',
    limited: true,
    parameters: [
      query('status', 'Only orders with this status.', choice(['open', ...ORDER_STATUSES]), 'open'),
      query('marketId', 'Only orders of this market: id, slug or condition id.', text(), '81cqi70o'),
      query('side', 'Only this side.', choice(['BUY', 'SELL']), 'BUY'),
      query('clientOrderId', 'Only orders with this `clientOrderId`.', text(), 'rain-1'),
      limit(PAGE_SIZES.orders),
      cursor,
    ],
    success: {
      description: 'A page of orders.',
      schema: 'OrderPage',
      example: { data: [OWN_ORDER], nextCursor: null },
    },
  },
};
