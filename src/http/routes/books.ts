import type { MarketView } from '../../store/views';
import { PATHS } from '../../wire/paths';
import { presentOrderbook } from '../../wire/present-book';
import { historyWindow, presentHistory } from '../../wire/present-history';
import { presentTicker, presentTrading } from '../../wire/present-market';
import { presentTrade } from '../../wire/present-trade';
import { cursorOf, depthOf, limitOf, timeframeOf } from '../../wire/queries';
import { ok, type Reply } from '../answer';
import { type Context, fillFacts } from '../context';
import { type AnyEndpoint, type Call, parameter, read } from '../endpoint';

const TRADES_USUAL = 50;
const TRADES_MAX = 500;
const TRADES_RECENT = 20;
/** Books kept as text, one for each market. */
const BOOKS_MAX = 1_000;

/** What a market's page shows: book, ticker, trades, prices. */
export function bookEndpoints(context: Context): AnyEndpoint[] {
  const { reads, marketOf, ticket } = context;
  const bookText = createBookTexts();

  async function viewOf(call: Call<undefined>): Promise<MarketView> {
    const { terms } = await marketOf(parameter(call, 'id'));
    return reads.view(terms.id);
  }

  async function orderbook(call: Call<undefined>): Promise<Reply> {
    const depth = depthOf(call.query);
    const view = await viewOf(call);
    const etag = `"${view.state.sequence}"`;
    // A copy may be kept, and must be asked about each time.
    const headers = { ETag: etag, 'Cache-Control': 'no-cache' };
    if (names(call.request.headers['if-none-match'], etag)) return { status: 304, headers };
    if (depth === undefined) return { status: 200, json: bookText(view), headers };
    return ok(presentOrderbook(view, depth), headers);
  }

  return [
    read(PATHS.orderbook, orderbook),
    read(PATHS.ticker, async (call) => ok(presentTicker(await viewOf(call)))),
    read(PATHS.trading, async (call) => {
      const { terms } = await marketOf(parameter(call, 'id'));
      const { view, fills } = await reads.snapshot(terms.id, TRADES_RECENT);
      return ok(
        presentTrading(
          view,
          fills.map((fill) => fillFacts(terms.id, fill)),
          ticket,
        ),
      );
    }),
    read(PATHS.trades, async (call) => {
      const page = { limit: limitOf(call.query, TRADES_USUAL, TRADES_MAX), cursor: cursorOf(call.query) };
      const { terms } = await marketOf(parameter(call, 'id'));
      const { fills, next } = await reads.trades(terms.id, page);
      return ok({
        data: fills.map((fill) => presentTrade(fillFacts(terms.id, fill), terms)),
        nextCursor: next,
      });
    }),
    read(PATHS.priceHistory, async (call) => {
      const timeframe = timeframeOf(call.query);
      const { terms } = await marketOf(parameter(call, 'id'));
      const window = historyWindow(timeframe, reads.clock());
      return ok(presentHistory(terms, window, await reads.candles(terms.id, window.fromMs, window.bucketMs)));
    }),
  ];
}

/** A market's whole book as text, built once for each sequence. */
function createBookTexts(): (view: MarketView) => string {
  const books = new Map<string, { readonly sequence: number; readonly json: string }>();
  return (view) => {
    const { sequence } = view.state;
    const built = books.get(view.terms.id);
    if (built?.sequence === sequence) return built.json;
    const json = JSON.stringify(presentOrderbook(view));
    if (books.size >= BOOKS_MAX) books.clear();
    books.set(view.terms.id, { sequence, json });
    return json;
  };
}

/** Whether If-None-Match names this version; by weak comparison, as RFC 9110 wants it here. */
function names(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((part) => part.trim() === '*' || part.trim().replace(/^W\//, '') === etag);
}
