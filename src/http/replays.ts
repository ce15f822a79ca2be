import { isDeepStrictEqual } from 'node:util';
import { createRecent } from '../exchange/recent';
import type { Reads } from '../store/reads/reads';
import type { OrderRecord } from '../store/records/order';
import { presentSubmission } from '../wire/answers/order';

/** An order that was accepted before, as it now stands. */
export interface Replay {
  readonly record: OrderRecord;
  readonly answer: ReturnType<typeof presentSubmission>;
}

/** Null for an order that is not known. */
export type Replays = (orderHash: string) => Promise<Replay | null>;

/** Fills of all answers that are kept; one order has a hundred at most. */
const FILLS_KEPT_MAX = 10_000;

/**
 * Answers to orders that are sent again. Anybody who saw an order can do that, as often as he likes, so it costs one record
 * for as long as the order stands as it did.
 */
export function createReplays({ placed, records }: Pick<Reads, 'placed' | 'records'>): Replays {
  const kept = createRecent<Replay>(FILLS_KEPT_MAX, ({ answer }) => 1 + answer.fills.length);

  return async (orderHash) => {
    const record = (await records([orderHash])).get(orderHash);
    if (!record) return null;
    const before = kept.get(orderHash);
    if (before && isDeepStrictEqual(before.record, record)) return before;
    // The record once more, with its fills: both of one moment.
    const found = await placed(orderHash);
    if (!found) return null;
    const replay = { record: found.record, answer: presentSubmission(found.record, found.fills) };
    kept.put(orderHash, replay);
    return replay;
  };
}
