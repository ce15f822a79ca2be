import { Refusal } from '../../exchange/errors';
import type { OrderRecord } from '../../store/records/order';
import { NotReplaceable, type PlaceReply, type PlaceRequest } from '../../store/verbs/place';
import { presentReplaced } from '../../wire/answers/order';
import { iso } from '../../wire/prices';
import type { Context } from '../context';
import { isNoOrder, noOrder } from './cancels';
import type { Submission, Submit, Submitted } from './submit';

export interface Replaced {
  readonly answer: Submitted['answer'] & { readonly replaced: ReturnType<typeof presentReplaced> | null };
  readonly replayed: boolean;
}

/** A submission that replaces a resting order of the same wallet: both happen, or neither. */
export function createReplace({ engine, reads, orderBody }: Context, submit: Submit) {
  /**
   * The new order was booked before, by this request or by itself. It replaced the old one if both changed at the same moment.
   */
  async function replacedBy({ answer }: Submitted, oldHash: string): Promise<OrderRecord | null> {
    const old = (await reads.records([oldHash])).get(oldHash);
    return old?.reason === 'REPLACED' && iso(old.updatedAtMs) === answer.createdAt ? old : null;
  }

  return async (submission: Submission, oldHash: string): Promise<Replaced> => {
    let old: OrderRecord | null = null;
    const book = async (request: PlaceRequest): Promise<PlaceReply> => {
      const reply = await engine.replace(request, oldHash);
      old = reply.old;
      return reply;
    };
    try {
      const submitted = await submit({ ...submission, book });
      if (submitted.replayed) old = await replacedBy(submitted, oldHash);
      return { ...submitted, answer: { ...submitted.answer, replaced: old && presentReplaced(old) } };
    } catch (error) {
      if (isNoOrder(error)) throw noOrder(oldHash, true);
      if (!(error instanceof NotReplaceable)) throw error;
      const view = (await reads.order(oldHash)) ?? { record: error.record, fills: [] };
      const order = await orderBody(view, 'MAKER_WITHOUT_STRUCT');
      throw new Refusal(error.code, error.message, { order });
    }
  };
}
