import { Refusal } from '../../exchange/errors';
import type { OrderFillsPage, OrderView } from '../../store/records/order-views';
import { presentOrderFill } from '../../wire/answers/order';
import { PAGE_SIZES } from '../../wire/pages';
import { PATHS } from '../../wire/paths';
import { cursorOf, limitOf } from '../../wire/queries';
import { type Context, hashOf } from '../context';
import { type AnyEndpoint, ok, okJson, parameter, read } from '../endpoint';
import type { CachedAnswers } from '../markets/cached-answers';

/** The status of an order and its fills. */
export function orderReadEndpoints(context: Context, cached: CachedAnswers): AnyEndpoint[] {
  const isSettled = (fills: readonly { readonly settlementStatus: string }[]): boolean =>
    fills.every(({ settlementStatus }) => settlementStatus === 'CONFIRMED');

  /** Public reads are cached; the maker's own view is read each time. */
  const status = read(
    PATHS.order,
    async (call) => {
      const hash = hashOf(parameter(call, 'order_hash'));
      const moment = call.caller ? null : await cached.orderMoment(hash);
      if (moment) {
        const json = await cached.json(
          moment,
          `order ${hash}`,
          async () => {
            const view = await orderOf(hash);
            return { fills: view.fills, body: await context.orderBody(view, 'ANYBODY') };
          },
          ({ body }) => body,
          ({ fills: shown }) => isSettled(shown),
        );
        return okJson(json);
      }
      const view = await orderOf(hash);
      const isMaker = call.caller?.address.toLowerCase() === view.record.maker;
      return ok(await context.orderBody(view, isMaker ? 'MAKER' : 'ANYBODY'));
    },
    'optional',
  );

  async function orderOf(hash: string): Promise<OrderView> {
    const view = await context.reads.order(hash);
    if (!view) throw new Refusal('ORDER_NOT_FOUND');
    cached.rememberOrder(hash, view.record.marketId);
    return view;
  }

  const fills = read(PATHS.orderFills, async (call) => {
    const page = { limit: limitOf(call.query, PAGE_SIZES.fills), cursor: cursorOf(call.query) };
    const hash = hashOf(parameter(call, 'order_hash'));
    const load = async (): Promise<OrderFillsPage> => {
      const found = await context.reads.orderFills(hash, page);
      if (!found) throw new Refusal('ORDER_NOT_FOUND');
      return found;
    };
    const present = (found: OrderFillsPage) => ({
      data: found.fills.map((fill) => presentOrderFill(found.record, fill)),
      nextCursor: found.next,
    });
    const moment = await cached.orderMoment(hash);
    if (!moment) return ok(present(await load()));
    const name = `fills ${hash} ${page.limit} ${page.cursor ?? ''}`;
    return okJson(await cached.json(moment, name, load, present, (found) => isSettled(found.fills)));
  });

  return [status, fills];
}
