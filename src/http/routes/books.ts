import type { TradeFacts } from '../../exchange/facts';
import type { MarketTerms } from '../../exchange/market';
import type { SettledFill } from '../../store/records/order-views';
import { presentOrderbook } from '../../wire/answers/book';
import { presentCandles, windowOf } from '../../wire/answers/candles';
import { historyWindow, presentHistory } from '../../wire/answers/history';
import { presentTicker, presentTrading } from '../../wire/answers/market';
import { presentTrade } from '../../wire/answers/trade';
import { PAGE_SIZES } from '../../wire/pages';
import { PATHS } from '../../wire/paths';
import {
  cursorOf,
  depthOf,
  idsOf,
  intervalOf,
  limitOf,
  outcomeOf,
  periodOf,
  rangeOf,
  timeframeOf,
} from '../../wire/queries';
import { type Context, fillFacts } from '../context';
import { type AnyEndpoint, type Call, okJson, type Reply, read } from '../endpoint';
import type { CachedAnswers, MarketMoment } from '../markets/cached-answers';
import { bookTag, matchesEtag } from '../server/etag';

const TRADES_RECENT = 20;
const LIST_START = Buffer.from('{"data":[');
const COMMA = Buffer.from(',');
const LIST_END = Buffer.from(']}');

/** The reads of a market's page: book, ticker, trades, prices. */
export function bookEndpoints(context: Context, cached: CachedAnswers): AnyEndpoint[] {
  const { reads, ticket, durability } = context;
  const { momentOf } = cached;
  const isSettled = ({ fills }: { readonly fills: readonly SettledFill[] }): boolean =>
    fills.every(({ settlementStatus }) => settlementStatus === 'CONFIRMED');
  const factsOf = (terms: MarketTerms, fills: readonly SettledFill[]): TradeFacts[] =>
    fills.map((fill) => fillFacts(terms.id, fill));

  const bookOf = (at: MarketMoment, depth: number | undefined) =>
    cached.answer(at.moment, `orderbook ${depth}`, async () => {
      const view = await cached.view(at);
      const text = Buffer.from(JSON.stringify(presentOrderbook(view, depth)));
      return { value: { json: text, sequence: view.state.sequence }, bytes: text.length };
    });

  async function orderbook(call: Call<undefined>): Promise<Reply> {
    const depth = depthOf(call.query);
    const { json, sequence } = await bookOf(await momentOf(call), depth);
    const now = durability.current();
    const etag = bookTag(sequence, now);
    // A copy may be kept, but must be revalidated each time.
    const headers = { ETag: etag, 'Cache-Control': 'no-cache' };
    // The epoch is unknown right after the connection was lost.
    if (now?.isCertain && matchesEtag(call.request.headers['if-none-match'], etag))
      return { status: 304, headers };
    return { ...okJson(json), headers };
  }

  async function orderbooks({ query }: Call<undefined>): Promise<Reply> {
    const depth = depthOf(query);
    return okJson(await listOf(idsOf(query), async (at) => (await bookOf(at, depth)).json));
  }

  const tickerOf = (at: MarketMoment): Promise<Buffer> =>
    cached.json(at.moment, 'ticker', () => cached.view(at), presentTicker);
  const ticker = async (call: Call<undefined>): Promise<Reply> =>
    okJson(await tickerOf(await momentOf(call)));
  const tickers = async ({ query }: Call<undefined>): Promise<Reply> =>
    okJson(await listOf(idsOf(query), tickerOf));

  /** The cached parts of the markets, in the order of the request; each part has its own moment. */
  async function listOf(
    ids: readonly string[],
    jsonOf: (at: MarketMoment) => Promise<Buffer>,
  ): Promise<Buffer> {
    const parts = await Promise.all(ids.map(async (id) => jsonOf(await cached.momentOfMarket(id))));
    return Buffer.concat([
      LIST_START,
      ...parts.flatMap((part, i) => (i === 0 ? [part] : [COMMA, part])),
      LIST_END,
    ]);
  }

  async function trading(call: Call<undefined>): Promise<Reply> {
    const { terms, moment } = await momentOf(call);
    const json = await cached.json(
      moment,
      'trading',
      () => reads.snapshot(terms.id, TRADES_RECENT),
      ({ view, fills }) => presentTrading(view, factsOf(terms, fills), ticket),
      isSettled,
    );
    // Everything but the time of the answer is of one moment and cached.
    return okJson(withMember(json, `"serverTime":${Math.trunc(reads.clock())}`));
  }

  async function trades(call: Call<undefined>): Promise<Reply> {
    const page = {
      limit: limitOf(call.query, PAGE_SIZES.trades),
      cursor: cursorOf(call.query),
      ...periodOf(call.query),
    };
    const { terms, moment } = await momentOf(call);
    const json = await cached.json(
      moment,
      `trades ${JSON.stringify(page)}`,
      () => reads.trades(terms.id, page),
      ({ fills, next }) => ({
        data: factsOf(terms, fills).map((fill) => presentTrade(fill, terms)),
        nextCursor: next,
      }),
      isSettled,
    );
    return okJson(json);
  }

  async function priceHistory(call: Call<undefined>): Promise<Reply> {
    const timeframe = timeframeOf(call.query);
    const { terms, moment } = await momentOf(call);
    const window = historyWindow(timeframe, reads.clock());
    const json = await cached.json(
      moment,
      `price-history ${timeframe} ${window.lastMs}`,
      () => reads.candles(terms.id, window.fromMs, window.bucketMs),
      (candles) => presentHistory(terms, window, candles),
    );
    return okJson(json);
  }

  async function candles({ query, ...call }: Call<undefined>): Promise<Reply> {
    const asked = {
      interval: intervalOf(query),
      outcome: outcomeOf(query),
      limit: limitOf(query, PAGE_SIZES.candles),
      ...rangeOf(query),
    };
    const { terms, moment } = await momentOf({ query, ...call });
    const window = windowOf(asked, reads.clock());
    const json = await cached.json(
      moment,
      `candles ${JSON.stringify(window)}`,
      () => reads.candles(terms.id, window.fromMs, window.bucketMs, window.most),
      (found) => presentCandles(terms, window, found),
    );
    return okJson(json);
  }

  return [
    read(PATHS.orderbook, orderbook),
    read(PATHS.orderbooks, orderbooks),
    read(PATHS.tickers, tickers),
    read(PATHS.ticker, ticker),
    read(PATHS.trading, trading),
    read(PATHS.trades, trades),
    read(PATHS.priceHistory, priceHistory),
    read(PATHS.candles, candles),
  ];
}

/** Appends one more member to the bytes of a JSON object. */
const withMember = (object: Buffer, member: string): Buffer =>
  Buffer.concat([object.subarray(0, -1), Buffer.from(`,${member}}`)]);
