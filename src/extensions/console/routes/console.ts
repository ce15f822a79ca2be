import { checksumAddress } from '../../../auth/address';
import type { MarketView } from '../../../exchange/facts';
import { MARKET_STATUSES, type MarketId, type OutcomeIndex } from '../../../exchange/market';
import type { Context } from '../../../http/context';
import { type AnyEndpoint, ok, parameter, read } from '../../../http/endpoint';
import { isEnded, warningsOf } from '../../../http/warnings';
import type { EndingPreview } from '../../../store/markets/ending-preview';
import { presentOwnMarket } from '../../../wire/answers/market';
import { PAGE_SIZES } from '../../../wire/pages';
import { PATHS } from '../../../wire/paths';
import { choiceOf, cursorOf, limitOf, offsetOf, resultOf, textOf } from '../../../wire/queries';
import type { Overview } from '../store/overview';
import { presentEnding, presentOverview } from '../wire/answers';
import { CONSOLE_PATHS } from '../wire/paths';

const STATUSES = ['ENDED', ...MARKET_STATUSES] as const;

/** What the console reads from the store besides the core's reads. */
export interface ConsoleReads {
  /** Rejects when Redis does not respond. */
  overview(): Promise<Overview>;
  /** The number of holders of a market, and their payouts for a result, or null for a void. */
  previewEnding(id: MarketId, outcome: OutcomeIndex | null): Promise<EndingPreview>;
  /** The number of web processes. */
  replicas(): Promise<number>;
}

/** The reads of the operator's console that other routes do not have. */
export function consoleEndpoints(
  context: Context,
  { overview, previewEnding, replicas }: ConsoleReads,
): AnyEndpoint[] {
  const { marketList, marketOf, reads, placement } = context;

  const state = read(
    CONSOLE_PATHS.overview,
    async () => {
      const [facts, mode, webs, warnings] = await Promise.all([
        overview(),
        reads.mode(),
        replicas(),
        warningsOf(context),
      ]);
      const nowMs = Math.trunc(reads.clock());
      return ok(presentOverview({ ...facts, ...mode, replicas: webs, warnings, nowMs }));
    },
    'admin',
  );

  const markets = read(
    PATHS.adminMarkets,
    async ({ query }) => {
      const status = choiceOf(query, 'status', STATUSES);
      const words = textOf(query, 'q')?.toLowerCase();
      const limit = limitOf(query, PAGE_SIZES.markets);
      const from = offsetOf(cursorOf(query));
      const nowMs = reads.clock();
      const found = (await marketList())
        .filter((market) => isOf(market, status, nowMs) && isNamed(market, words))
        .map((market, place) => ({ market, place, ended: Number(isEnded(market, nowMs)) }))
        .sort((a, b) => b.ended - a.ended || b.place - a.place);
      const data = await Promise.all(
        found
          .slice(from, from + limit)
          .map(async ({ market }) => presentOwnMarket(market, await placement.shownOf(market.terms.id))),
      );
      return ok({ data, nextCursor: from + limit < found.length ? String(from + limit) : null });
    },
    'admin',
  );

  const ending = read(
    CONSOLE_PATHS.resolution,
    async (call) => {
      const { terms } = await marketOf(parameter(call, 'id'));
      const outcome = resultOf(call.query);
      const [preview, { state: book }] = await Promise.all([
        previewEnding(terms.id, outcome),
        reads.view(terms.id),
      ]);
      const orders = [...book.bids, ...book.asks].reduce((sum, level) => sum + level.orders, 0);
      return ok(presentEnding({ ...preview, orders }, terms, outcome));
    },
    'admin',
  );

  const orders = read(
    CONSOLE_PATHS.accountOrders,
    async (call) => {
      const address = checksumAddress(parameter(call, 'address'));
      const page = { limit: limitOf(call.query, PAGE_SIZES.orders), cursor: cursorOf(call.query) };
      const found = await reads.orders(address, {}, page);
      const data = await Promise.all(
        found.orders.map((view) => context.orderBody(view, 'MAKER_WITHOUT_STRUCT')),
      );
      return ok({ data, nextCursor: found.next });
    },
    'admin',
  );

  return [state, markets, ending, orders];
}

const isOf = (market: MarketView, status: (typeof STATUSES)[number] | undefined, nowMs: number): boolean =>
  status === undefined || (status === 'ENDED' ? isEnded(market, nowMs) : market.state.status === status);

const isNamed = ({ terms, texts }: MarketView, words: string | undefined): boolean =>
  words === undefined || `${texts.question} ${terms.slug} ${terms.id}`.toLowerCase().includes(words);
