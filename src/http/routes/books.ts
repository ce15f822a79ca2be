import type { MarketTerms } from '../../exchange/market';
import type { SettledFill, TradesPage } from '../../store/views';
import type { FillFacts } from '../../wire/facts';
import { PAGE_SIZES } from '../../wire/pages';
import { PATHS } from '../../wire/paths';
import { presentOrderbook } from '../../wire/present-book';
import { historyWindow, presentHistory } from '../../wire/present-history';
import { presentTicker, presentTrading } from '../../wire/present-market';
import { presentTrade } from '../../wire/present-trade';
import { cursorOf, depthOf, limitOf, timeframeOf } from '../../wire/queries';
import { ok, okJson, type Reply } from '../answer';
import { names } from '../conditional';
import { type Context, fillFacts } from '../context';
import { type AnyEndpoint, type Call, parameter, read } from '../endpoint';

const TRADES_RECENT = 20;

/** What a market's page shows: book, ticker, trades, prices. */
export function bookEndpoints(context: Context): AnyEndpoint[] {
  const { reads, marketOf, ticket } = context;
  const isSettled = ({ fills }: { readonly fills: readonly SettledFill[] }): boolean =>
    fills.every(({ settlementStatus }) => settlementStatus === 'CONFIRMED');
  const views = reads.keep(reads.view);
  const snapshots = reads.keep((id) => reads.snapshot(id, TRADES_RECENT), isSettled);
  const latest = reads.keep(
    (id) => reads.trades(id, { limit: PAGE_SIZES.trades.usual, cursor: null }),
    isSettled,
  );

  const termsOf = async (call: Call<undefined>): Promise<MarketTerms> =>
    (await marketOf(parameter(call, 'id'))).terms;
  const factsOf = (terms: MarketTerms, fills: readonly SettledFill[]): FillFacts[] =>
    fills.map((fill) => fillFacts(terms.id, fill));

  async function orderbook(call: Call<undefined>): Promise<Reply> {
    const depth = depthOf(call.query);
    const { value: view, text } = await views((await termsOf(call)).id);
    const etag = `"${view.state.sequence}"`;
    // A copy may be kept, and must be asked about each time.
    const headers = { ETag: etag, 'Cache-Control': 'no-cache' };
    if (names(call.request.headers['if-none-match'], etag)) return { status: 304, headers };
    if (depth !== undefined) return ok(presentOrderbook(view, depth), headers);
    return { ...okJson(text('orderbook', presentOrderbook)), headers };
  }

  async function ticker(call: Call<undefined>): Promise<Reply> {
    const { text } = await views((await termsOf(call)).id);
    return okJson(text('ticker', presentTicker));
  }

  async function trading(call: Call<undefined>): Promise<Reply> {
    const terms = await termsOf(call);
    const { text } = await snapshots(terms.id);
    const kept = text('trading', ({ view, fills }) => presentTrading(view, factsOf(terms, fills), ticket));
    // Everything but the time of the answer is of one moment, kept as it was made.
    return okJson(withMember(kept, `"serverTime":${Math.trunc(reads.clock())}`));
  }

  async function trades(call: Call<undefined>): Promise<Reply> {
    const page = { limit: limitOf(call.query, PAGE_SIZES.trades), cursor: cursorOf(call.query) };
    const terms = await termsOf(call);
    const present = ({ fills, next }: TradesPage) => ({
      data: factsOf(terms, fills).map((fill) => presentTrade(fill, terms)),
      nextCursor: next,
    });
    const isUsual = page.limit === PAGE_SIZES.trades.usual && page.cursor === null;
    if (!isUsual) return ok(present(await reads.trades(terms.id, page)));
    return okJson((await latest(terms.id)).text('trades', present));
  }

  return [
    read(PATHS.orderbook, orderbook),
    read(PATHS.ticker, ticker),
    read(PATHS.trading, trading),
    read(PATHS.trades, trades),
    read(PATHS.priceHistory, async (call) => {
      const timeframe = timeframeOf(call.query);
      const terms = await termsOf(call);
      const window = historyWindow(timeframe, reads.clock());
      return ok(presentHistory(terms, window, await reads.candles(terms.id, window.fromMs, window.bucketMs)));
    }),
  ];
}

/** The bytes of a JSON object with one more member at its end. */
const withMember = (object: Buffer, member: string): Buffer =>
  Buffer.concat([object.subarray(0, -1), Buffer.from(`,${member}}`)]);
