import type { Candle, MarketView } from '../../../exchange/facts';
import type { MarketTerms, OutcomeIndex } from '../../../exchange/market';
import { PIPS_PER_ONE } from '../../../exchange/units';
import { type CandleInterval, type CandleWindow, presentCandles } from '../../../wire/answers/candles';

/** TradingView's Universal Data Feed: its names, its numbers, its `s` instead of a status. */

/** By the names that charts use for them. */
export const RESOLUTIONS = {
  '1': '1m',
  '5': '5m',
  '15': '15m',
  '60': '1h',
  '240': '4h',
  '1D': '1d',
} as const satisfies Record<string, CandleInterval>;
type Resolution = keyof typeof RESOLUTIONS;

/** The interval of the candles; null for a resolution that there is not. */
export function resolutionOf(sent = ''): CandleInterval | null {
  const text = sent.toUpperCase();
  const name = text === 'D' ? '1D' : text;
  return name in RESOLUTIONS ? RESOLUTIONS[name as Resolution] : null;
}

const NAMES = Object.keys(RESOLUTIONS);
const INTRADAY = NAMES.filter((name) => name !== '1D');
const EXCHANGE = 'CTF';
export const UDF_TYPE = 'prediction';
const SUFFIXES = ['.YES', '.NO'] as const;
const SYMBOL = /^(.+?)(?:\.(yes|no))?$/;

/** `rain.NO` is the No of the market `rain`; without an ending it is Yes. */
export interface UdfSymbol {
  readonly market: string;
  readonly outcome: OutcomeIndex;
}

export function symbolOf(text: string): UdfSymbol {
  // A chart may write it in capitals, and put the name of the exchange in front. Names of markets are in lower case.
  const name = text.toLowerCase().replace(`${EXCHANGE.toLowerCase()}:`, '');
  const [, market = '', ending = 'yes'] = SYMBOL.exec(name) ?? [];
  return { market, outcome: ending === 'no' ? 1 : 0 };
}

/** A refusal in the format of the feed, because a chart reads no problem documents. */
export const udfError = (errmsg: string) => ({ s: 'error', errmsg });

export const UDF_CONFIG = {
  supported_resolutions: NAMES,
  supports_search: true,
  supports_group_request: false,
  supports_marks: false,
  supports_timescale_marks: false,
  supports_time: true,
  exchanges: [{ value: EXCHANGE, name: EXCHANGE, desc: 'CTF exchange' }],
  symbols_types: [{ name: 'Prediction markets', value: UDF_TYPE }],
};

const titleOf = ({ texts, terms }: MarketView, outcome: OutcomeIndex): string =>
  `${texts.question} ${terms.outcomeNames[outcome]}`;
const nameOf = ({ terms }: MarketView, outcome: OutcomeIndex): string => `${terms.slug}${SUFFIXES[outcome]}`;

export function presentSymbol(view: MarketView, outcome: OutcomeIndex) {
  const name = nameOf(view, outcome);
  return {
    name,
    ticker: name,
    description: titleOf(view, outcome),
    type: UDF_TYPE,
    session: '24x7',
    timezone: 'Etc/UTC',
    exchange: EXCHANGE,
    listed_exchange: EXCHANGE,
    format: 'price',
    minmov: 1,
    pricescale: PIPS_PER_ONE / view.terms.tickPips,
    has_intraday: true,
    intraday_multipliers: INTRADAY,
    has_daily: true,
    has_weekly_and_monthly: false,
    supported_resolutions: NAMES,
    volume_precision: 2,
    data_status: 'streaming',
  };
}

/** Both outcomes of each market. */
export const presentSearch = (markets: readonly MarketView[], most: number) =>
  markets
    .flatMap((view) =>
      ([0, 1] as const).map((outcome) => ({
        symbol: nameOf(view, outcome),
        full_name: nameOf(view, outcome),
        ticker: nameOf(view, outcome),
        description: titleOf(view, outcome),
        exchange: EXCHANGE,
        type: UDF_TYPE,
      })),
    )
    .slice(0, most);

/** A range that lies in the future names the present candle; before the first trade there is none to name. */
export function presentBars(terms: MarketTerms, window: CandleWindow, found: readonly Candle[]) {
  const { candles } = presentCandles(terms, window, found);
  if (candles.length === 0) {
    const { fromMs, lastMs } = window;
    const isLater = fromMs > lastMs && found.some(({ startMs }) => startMs <= lastMs);
    return { s: 'no_data', ...(isLater ? { nextTime: lastMs / 1_000 } : {}) };
  }
  const column = (name: 'o' | 'h' | 'l' | 'c' | 'v'): number[] => candles.map((one) => Number(one[name]));
  return {
    s: 'ok',
    t: candles.map(({ t }) => t),
    o: column('o'),
    h: column('h'),
    l: column('l'),
    c: column('c'),
    v: column('v'),
  };
}
