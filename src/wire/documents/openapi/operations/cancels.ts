import { PATHS } from '../../../paths';
import {
  CANCEL_HASHES_MAX,
  cancelAllShape,
  cancelListShape,
  cancelShape,
  emptyShape,
} from '../../../requests/orders';
import { CANCELLED } from '../examples/orders';
import { ALICE_HASH, BOB_HASH, MARKET_ID } from '../examples/story';
import type { Operations } from '../operation';

const ONE = 'An order that was cancelled before is answered with `cancelled: false`. ';
const SWEPT = { cancelled: [ALICE_HASH], count: 1, message: 'Orders cancelled' };

/** All cancels. They share a separate bucket, which orders do not use up. */
export const CANCEL_OPERATIONS: Operations = {
  [`POST ${PATHS.cancel}`]: {
    id: 'cancelOrder',
    tag: 'Orders',
    summary: 'Cancel an order of this market',
    description: `${ONE}One that is unknown, in another market or somebody else's is \`ORDER_NOT_FOUND\`.`,
    bearer: 'required',
    limited: true,
    body: { shape: cancelShape, example: { orderHash: ALICE_HASH } },
    success: { description: 'What is left of it is gone.', schema: 'Cancelled', example: CANCELLED },
    codes: ['ORDER_NOT_FOUND', 'ORDER_NOT_CANCELLABLE', 'HALTED'],
  },
  [`POST ${PATHS.cancelByHash}`]: {
    id: 'cancelOrderByHash',
    tag: 'Orders',
    summary: 'Cancel an order in any market',
    description: `${ONE}One that is unknown or somebody else's is \`ORDER_NOT_FOUND\`.`,
    bearer: 'required',
    limited: true,
    body: { shape: emptyShape, example: {}, optional: true },
    success: { description: 'What is left of it is gone.', schema: 'Cancelled', example: CANCELLED },
    codes: ['ORDER_NOT_CANCELLABLE', 'HALTED'],
  },
  [`POST ${PATHS.cancelList}`]: {
    id: 'cancelOrders',
    tag: 'Orders',
    summary: `Cancel up to ${CANCEL_HASHES_MAX} orders, whatever their markets`,
    description:
      'Each order is cancelled independently; `notCancelled` gives the reason for each that was not. `UNAVAILABLE` there means that the shard of the order did not answer: the order may be open or cancelled, so ask again. Without an answer of any shard the request is `UNAVAILABLE`.',
    bearer: 'required',
    limited: true,
    body: { shape: cancelListShape, example: { orderHashes: [ALICE_HASH, BOB_HASH] } },
    success: {
      description: 'The cancelled orders, and the others with their reasons.',
      schema: 'CancelledList',
      example: { cancelled: [ALICE_HASH], notCancelled: { [BOB_HASH]: 'ORDER_NOT_FOUND' } },
    },
    codes: ['HALTED'],
  },
  [`POST ${PATHS.cancelAll}`]: {
    id: 'cancelAllOrders',
    tag: 'Orders',
    summary: "Cancel all of the caller's orders of this market",
    description:
      'Cancels any number of orders; `outcomeIndex` and `side` narrow the selection. After the answer no selected order with a number below its `sequence` is open. This also holds if nothing was cancelled.',
    bearer: 'required',
    limited: true,
    body: { shape: cancelAllShape, example: { outcomeIndex: 0, side: 'BUY' }, optional: true },
    success: {
      description: 'The orders that were cancelled.',
      schema: 'CancelledAll',
      example: { ...SWEPT, sequence: CANCELLED.sequence },
    },
    codes: ['HALTED'],
  },
  [`POST ${PATHS.myCancelAll}`]: {
    id: 'cancelEverything',
    tag: 'Orders',
    summary: "Cancel all of the caller's orders everywhere",
    description:
      'Cancels any number of orders in all markets. After the answer no order of the caller with a number below that of its market (by market id) in `sequences` is open; markets in which nothing was cancelled are left out. With several shards, `UNAVAILABLE` has `cancelled` and `sequences` when a shard did not answer and others cancelled orders; repeat the request for the rest.',
    bearer: 'required',
    limited: true,
    body: { shape: emptyShape, example: {}, optional: true },
    success: {
      description: 'The orders that were cancelled.',
      schema: 'CancelledEverywhere',
      example: { ...SWEPT, sequences: { [MARKET_ID]: CANCELLED.sequence } },
    },
    codes: ['HALTED'],
  },
};
