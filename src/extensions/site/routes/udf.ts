import { Refusal } from '../../../exchange/errors';
import type { Context } from '../../../http/context';
import { type AnyEndpoint, type Call, ok, okJson, type Reply, read } from '../../../http/endpoint';
import type { CachedAnswers, MarketMoment } from '../../../http/markets/cached-answers';
import { createPageTexts, pageOf } from '../../../http/markets/market-pages';
import { type CandleInterval, LENGTHS_MS, windowOf } from '../../../wire/answers/candles';
import { PAGE_SIZES } from '../../../wire/pages';
import { barsOf, limitOf, type Query, textOf } from '../../../wire/queries';
import { UDF_PATHS } from '../wire/paths';
import {
  presentBars,
  presentSearch,
  presentSymbol,
  RESOLUTIONS,
  resolutionOf,
  symbolOf,
  UDF_CONFIG,
  UDF_TYPE,
  udfError,
} from '../wire/udf';

const BARS_MAX = PAGE_SIZES.candles.most;
/** TradingView's charts use these; a refusal is `s: "error"`, because charts read no problem documents. */
export function udfEndpoints({ reads, marketList }: Context, cached: CachedAnswers): AnyEndpoint[] {
  const textOfPage = createPageTexts();

  /** Null for an unknown symbol. */
  async function marketOf(name: string): Promise<MarketMoment | null> {
    try {
      return await cached.momentOfMarket(name);
    } catch (error) {
      if (error instanceof Refusal && error.code === 'MARKET_NOT_FOUND') return null;
      throw error;
    }
  }

  async function symbols({ query }: Call<undefined>): Promise<Reply> {
    const { market, outcome } = symbolOf(textOf(query, 'symbol') ?? '');
    const at = await marketOf(market);
    if (!at) return ok(udfError('unknown_symbol'));
    return okJson(
      await cached.json(
        at.moment,
        `udf symbol ${outcome}`,
        () => cached.view(at),
        (view) => presentSymbol(view, outcome),
      ),
    );
  }

  async function search({ query, request }: Call<undefined>): Promise<Reply> {
    const words = textOf(query, 'query');
    const type = textOf(query, 'type') ?? UDF_TYPE;
    const limit = limitOf(query, PAGE_SIZES.markets);
    const filter = { status: undefined, category: undefined, tag: undefined, words };
    const all = await marketList();
    return okJson(
      textOfPage(all, request.url, () => {
        const page = { epoch: '', sort: 'volume24h', limit, cursor: null } as const;
        return type === UDF_TYPE ? presentSearch(pageOf(all, filter, page).markets, limit) : [];
      }),
    );
  }

  async function history({ query }: Call<undefined>): Promise<Reply> {
    const interval = resolutionOf(textOf(query, 'resolution'));
    if (!interval) return ok(udfError(`resolution must be one of ${Object.keys(RESOLUTIONS).join(', ')}`));
    const { market, outcome } = symbolOf(textOf(query, 'symbol') ?? '');
    const at = await marketOf(market);
    if (!at) return ok(udfError('unknown_symbol'));
    const { fromMs, toMs } = stretchOf(query, interval, reads.clock());
    const asked = { interval, outcome, limit: BARS_MAX, fromMs, toMs };
    const window = windowOf(asked, reads.clock());
    const json = await cached.json(
      at.moment,
      `udf history ${JSON.stringify(window)}`,
      () => reads.candles(at.terms.id, Math.min(window.fromMs, window.lastMs), window.bucketMs, window.most),
      (found) => presentBars(at.terms, window, found),
    );
    return okJson(json);
  }

  return [
    read(UDF_PATHS.config, async () => ok(UDF_CONFIG)),
    read(UDF_PATHS.symbols, symbols),
    read(UDF_PATHS.search, search),
    read(UDF_PATHS.history, history),
    read(UDF_PATHS.time, async () => ({
      status: 200,
      text: { type: 'text/plain; charset=utf-8', text: String(Math.trunc(reads.clock() / 1_000)) },
    })),
  ];
}

/** `to` is exclusive. `countback` replaces `from`; if the range is too long, the answer has its end. */
function stretchOf(query: Query, interval: CandleInterval, nowMs: number) {
  const { fromMs, toMs, countback } = barsOf(query);
  const bucketMs = LENGTHS_MS[interval];
  const lastMs = Math.floor(Math.min(toMs - 1, nowMs) / bucketMs) * bucketMs;
  const earliestMs = Math.max(0, lastMs - (Math.min(countback ?? BARS_MAX, BARS_MAX) - 1) * bucketMs);
  return { fromMs: countback === undefined ? Math.max(fromMs, earliestMs) : earliestMs, toMs: toMs - 1 };
}
