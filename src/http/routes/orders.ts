import { BATCH_MAX_BYTES } from '../../wire/limits';
import { PATHS } from '../../wire/paths';
import { presentProblem } from '../../wire/problem';
import { flagOf } from '../../wire/queries';
import {
  BATCH_ORDERS_MAX,
  type BatchBody,
  batchShape,
  type SubmitBody,
  submitShape,
} from '../../wire/requests/orders';
import { type Context, hashOf } from '../context';
import { type AnyEndpoint, type Call, type Endpoint, ok, parameter } from '../endpoint';
import { clientAddress } from '../guard/client-address';
import { createBatchOrder } from '../orders/batch-order';
import { createEndOfTurn } from '../orders/end-of-turn';
import { createReplace } from '../orders/replace';
import type { Submission, Submit, Submitted } from '../orders/submit';
import { requestIdOf } from '../server/answer';
import { logFailure, refusalOf } from '../server/failures';
import { replayedIf } from '../server/idempotency';

/**
 * The most time that a batch checks orders in a row; then it waits for their results, and other requests are served. Twenty
 * orders take half of it with the native library for signatures, and twenty times as much with the slowest one.
 */
const SLICE_MAX_MS = 5;

/** Submission: single orders, batches, and replacements. */
export function orderEndpoints(context: Context, submit: Submit): AnyEndpoint[] {
  const replace = createReplace(context, submit);
  // The orders of a batch are together already, and a batch limits how long it checks in a row.
  const endOfTurn = createEndOfTurn();
  const one: Endpoint<SubmitBody> = {
    method: 'POST',
    path: PATHS.submit,
    bearer: 'optional',
    body: submitShape,
    handle: async (call) => {
      await endOfTurn();
      const { answer, replayed } = await submit(submissionOf(call, call.body));
      return replayedIf(replayed, ok(answer));
    },
  };

  const inPlaceOf: Endpoint<SubmitBody> = {
    method: 'POST',
    path: PATHS.replace,
    bearer: 'required',
    // Every booked order has the wallet's signature.
    scope: 'cancel',
    body: submitShape,
    handle: async (call) => {
      const oldHash = hashOf(parameter(call, 'order_hash'));
      await endOfTurn();
      const { answer, replayed } = await replace(submissionOf(call, call.body), oldHash);
      return replayedIf(replayed, ok(answer));
    },
  };

  const batch: Endpoint<BatchBody> = {
    method: 'POST',
    path: PATHS.batch,
    bearer: 'optional',
    body: batchShape,
    maxBytes: BATCH_MAX_BYTES,
    parts: ordersIn,
    handle: async (call) => {
      // A batch names its market once, not in each order.
      const market = await context.marketOf(parameter(call, 'id'));
      const inTurn = createBatchOrder(context.config.replicas === 0);
      const results: Promise<unknown>[] = [];
      let begunAt = performance.now();
      for (const order of call.body.orders) {
        if (performance.now() - begunAt > SLICE_MAX_MS) {
          await Promise.all(results);
          begunAt = performance.now();
        }
        results.push(inTurn((turn) => resultOf(call, order, { market, turn })));
      }
      return ok({ results: await Promise.all(results) });
    },
  };

  /** Submits one order of a batch; its refusal becomes its result. */
  async function resultOf(
    call: Call<BatchBody>,
    order: unknown,
    place: Pick<Submission, 'market' | 'turn'>,
  ): Promise<unknown> {
    try {
      context.shedding.check();
      const submission = { ...submissionOf(call, submitShape.parse(order)), ...place };
      const { answer }: Submitted = await submit(submission);
      return { status: 200, order: answer };
    } catch (error) {
      const requestId = requestIdOf(call.response);
      const refusal = refusalOf(error);
      logFailure(context.log, error, refusal, { requestId, path: PATHS.batch });
      return presentProblem({ code: refusal.code, detail: refusal.message, extra: refusal.extra }, requestId);
    }
  }

  return [one, batch, inPlaceOf];
}

/** The number of orders, if the body is a batch; a batch that is too long is refused as a whole. */
function ordersIn(body: unknown): number {
  const orders = typeof body === 'object' && body !== null && 'orders' in body ? body.orders : null;
  return Array.isArray(orders) && orders.length <= BATCH_ORDERS_MAX ? orders.length : 1;
}

const submissionOf = (call: Call<unknown>, body: SubmitBody): Submission => ({
  market: parameter(call, 'id'),
  body,
  caller: call.caller,
  dryRun: flagOf(call.query, 'dryRun'),
  address: clientAddress(call.request),
  response: call.response,
  arrivedAt: call.arrivedAt,
});
