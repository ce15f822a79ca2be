import type { Refusal } from '../../exchange/errors';
import { presentProblem, retryAfterSec } from '../problem';

/** The headers of an HTTP answer that the acknowledgement of an order message repeats. */
export interface OrderEntryHeaders {
  readonly 'X-Request-Id': string;
  'Idempotent-Replayed'?: string;
  'Retry-After'?: string;
}

/** The JSON of the acknowledgement of an order message; `body` is JSON. */
export const orderAck = (status: number, body: string, headers: OrderEntryHeaders): string =>
  `{"status":${status},"body":${body},"headers":${JSON.stringify(headers)}}`;

export function orderRefusedAck(refusal: Refusal, requestId: string): string {
  const { code, message, extra, status } = refusal;
  const headers: OrderEntryHeaders = { 'X-Request-Id': requestId };
  const waitSec = retryAfterSec(refusal);
  if (waitSec !== null) headers['Retry-After'] = String(waitSec);
  return orderAck(
    status,
    JSON.stringify(presentProblem({ code, detail: message, extra }, requestId)),
    headers,
  );
}
