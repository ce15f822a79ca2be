import { isDeepStrictEqual } from 'node:util';
import { createRecent } from '../../exchange/recent';
import type { Reads } from '../../store/reads/reads';
import type { OrderRecord } from '../../store/records/order';
import { presentSubmission } from '../../wire/answers/order';

/** An order that was accepted before, as it now is. */
export interface Replay {
  readonly record: OrderRecord;
  readonly answer: ReturnType<typeof presentSubmission>;
}

/** Null for an unknown order. */
export type Replays = (orderHash: string) => Promise<Replay | null>;

/** The most fills in all cached answers; one order has a hundred at most. */
const FILLS_KEPT_MAX = 10_000;

/**
 * Answers to repeated orders. Any client that saw an order can repeat it any number of times, so a repetition reads only one
 * record while the order is unchanged.
 */
export function createReplays({ placed, records }: Pick<Reads, 'placed' | 'records'>): Replays {
  const kept = createRecent<Replay>(FILLS_KEPT_MAX, ({ answer }) => 1 + answer.fills.length);

  return async (orderHash) => {
    const record = (await records([orderHash])).get(orderHash);
    if (!record) return null;
    const before = kept.get(orderHash);
    if (before && isDeepStrictEqual(before.record, record)) return before;
    // Reads the record again with its fills, both of one moment.
    const found = await placed(orderHash);
    if (!found) return null;
    const replay = { record: found.record, answer: presentSubmission(found.record, found.fills) };
    kept.put(orderHash, replay);
    return replay;
  };
}
