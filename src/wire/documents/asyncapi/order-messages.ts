import { EVENTS } from '../../answers/events';
import { BATCH_ORDERS_MAX, cancelAllShape, cancelListShape, cancelShape } from '../../requests/orders';
import { CANCELLED, REPLACE_BODY, REPLACEMENT, SUBMISSION, SUBMIT_BODY } from '../openapi/examples/orders';
import { ALICE_HASH, BOB_HASH, MARKET_ID } from '../openapi/examples/story';
import { SUBMISSION_BODY } from '../openapi/operations/orders';
import { array, constant, flag, type Json, jsonSchemaOf, object, ref, text } from '../openapi/schema';
import { problemExample } from '../openapi/schemas/problems';
import type { Message } from './message';

const REQUEST_ID = '3f6f3c0e-9a0b-4f3e-8d52-0c1d9a54b1a7';
const headers = object(
  {
    'X-Request-Id': text('The id of the request, which the log of the exchange has, too.'),
    'Idempotent-Replayed': constant('true'),
    'Retry-After': text('The seconds after which the message may be sent again.', {
      pattern: '^[1-9][0-9]*$',
    }),
  },
  ['Idempotent-Replayed', 'Retry-After'],
);

const answered = (...bodies: readonly string[]): Json => ({
  oneOf: [
    object({
      status: constant(200),
      body: bodies.length === 1 ? ref(bodies[0] ?? '') : { oneOf: bodies.map(ref) },
      headers,
    }),
    object({ status: { type: 'integer', minimum: 400, maximum: 599 }, body: ref('Problem'), headers }),
  ],
});

const marketId = text('The market: id, slug or condition id.');
const dryRun = flag('True: the same answer and the same refusals, with nothing booked.');

/** The body of an HTTP request together with other members. */
function withMembers(body: Json, members: Readonly<Record<string, Json>>, optional: readonly string[]): Json {
  const required = Object.keys(members).filter((name) => !optional.includes(name));
  return {
    ...body,
    properties: { ...members, ...(body.properties as Json) },
    required: [...required, ...((body.required as readonly string[] | undefined) ?? [])],
  };
}

const acknowledged = (event: string, title: string, payload: Json, body: unknown): Message => ({
  kind: 'ack',
  event,
  title,
  summary:
    'The status and the body of the HTTP route, or its problem; of its headers only those that are listed.',
  payload,
  example: { status: 200, body, headers: { 'X-Request-Id': REQUEST_ID } },
});

/** The messages of a private socket that do what an HTTP route does, with the same checks, limits and answers. */
export const ORDER_MESSAGES = {
  submitOrder: {
    kind: 'in',
    event: EVENTS.submitOrder,
    title: 'Submit a signed order',
    summary:
      "`POST /markets/{id}/orders`: its body, and the market. The socket's wallet must be the maker. An order that was not acknowledged may have been booked: send it again, here or by HTTP, and it is booked once. A refusal is final if it answers a message that was sent 5 s after every one without an acknowledgement.",
    payload: withMembers(SUBMISSION_BODY.schema, { marketId, dryRun }, ['dryRun']),
    example: { marketId: MARKET_ID, ...SUBMIT_BODY },
  },
  submitOrderAck: acknowledged(EVENTS.submitOrder, 'Submitted', answered('Submission'), SUBMISSION),
  cancelOrder: {
    kind: 'in',
    event: EVENTS.cancelOrder,
    title: 'Cancel an order',
    summary:
      '`POST /markets/{id}/orders/cancel`: its body, and the market; without a market `POST /orders/{order_hash}/cancel`.',
    payload: withMembers(jsonSchemaOf(cancelShape), { marketId }, ['marketId']),
    example: { marketId: MARKET_ID, orderHash: ALICE_HASH },
  },
  cancelOrderAck: acknowledged(EVENTS.cancelOrder, 'Cancelled', answered('Cancelled'), CANCELLED),
  replaceOrder: {
    kind: 'in',
    event: EVENTS.replaceOrder,
    title: 'Replace a resting order with a signed one',
    summary:
      '`POST /markets/{id}/orders/{order_hash}/replace`: its body, the market, and the hash of the resting order.',
    payload: withMembers(SUBMISSION_BODY.schema, { marketId, orderHash: ref('Hash'), dryRun }, ['dryRun']),
    example: { marketId: MARKET_ID, orderHash: ALICE_HASH, ...REPLACE_BODY },
  },
  replaceOrderAck: acknowledged(EVENTS.replaceOrder, 'Replaced', answered('Replacement'), REPLACEMENT),
  submitOrders: {
    kind: 'in',
    event: EVENTS.submitOrders,
    title: `Submit up to ${BATCH_ORDERS_MAX} orders`,
    summary: '`POST /markets/{id}/orders/batch`: its body, and the market.',
    payload: object(
      {
        marketId,
        dryRun,
        orders: array(SUBMISSION_BODY.schema, { minItems: 1, maxItems: BATCH_ORDERS_MAX }),
      },
      ['dryRun'],
    ),
    example: { marketId: MARKET_ID, orders: [SUBMIT_BODY] },
  },
  submitOrdersAck: acknowledged(EVENTS.submitOrders, 'Batch submitted', answered('BatchResults'), {
    results: [{ status: 200, order: SUBMISSION }, problemExample('INSUFFICIENT_BALANCE')],
  }),
  cancelOrders: {
    kind: 'in',
    event: EVENTS.cancelOrders,
    title: 'Cancel several orders, or all',
    summary:
      'With `orderHashes` it is `POST /orders/cancel`; with `marketId` it is `POST /markets/{id}/orders/cancel-all`, with the members of its body; `{ "all": true }` is `POST /me/orders/cancel-all`, which cancels every order of the wallet. `{}` is refused.',
    payload: {
      oneOf: [
        jsonSchemaOf(cancelListShape),
        withMembers(jsonSchemaOf(cancelAllShape), { marketId }, []),
        object({ all: constant(true) }),
      ],
    },
    example: { orderHashes: [ALICE_HASH, BOB_HASH] },
  },
  cancelOrdersAck: acknowledged(
    EVENTS.cancelOrders,
    'Orders cancelled',
    answered('CancelledList', 'CancelledAll', 'CancelledEverywhere'),
    { cancelled: [ALICE_HASH], notCancelled: { [BOB_HASH]: 'ORDER_NOT_FOUND' } },
  ),
} as const satisfies Readonly<Record<string, Message>>;
