import {
  array,
  choice,
  constant,
  flag,
  integer,
  type Json,
  object,
  ref,
  text,
} from '../../../wire/documents/openapi/schema';

const number: Json = { type: 'number', minimum: 0 };
const numbers = array(number);
const texts = array(text());
const named = object({ name: text(), value: text() });

/** TradingView's Universal Data Feed: numbers, and `s` instead of a status. */
export const UDF_SCHEMAS: Readonly<Record<string, Json>> = {
  UdfError: object({ s: constant('error'), errmsg: text('The reason, which the chart shows.') }),
  UdfConfig: object({
    supported_resolutions: texts,
    supports_search: flag(),
    supports_group_request: flag(),
    supports_marks: flag(),
    supports_timescale_marks: flag(),
    supports_time: flag(),
    exchanges: array(object({ value: text(), name: text(), desc: text() })),
    symbols_types: array(named),
  }),
  UdfSymbol: object({
    name: text(),
    ticker: text(),
    description: text(),
    type: text(),
    session: text(),
    timezone: text(),
    exchange: text(),
    listed_exchange: text(),
    format: choice(['price']),
    minmov: integer(),
    pricescale: integer('The price scale: every price is a multiple of `minmov / pricescale`.'),
    has_intraday: flag(),
    intraday_multipliers: texts,
    has_daily: flag(),
    has_weekly_and_monthly: flag(),
    supported_resolutions: texts,
    volume_precision: integer(),
    data_status: choice(['streaming']),
  }),
  UdfSymbolAnswer: { oneOf: [ref('UdfSymbol'), ref('UdfError')] },
  UdfSearch: array(
    object({
      symbol: text(),
      full_name: text(),
      ticker: text(),
      description: text(),
      exchange: text(),
      type: text(),
    }),
  ),
  UdfBars: object({
    s: constant('ok'),
    t: array(integer(), { description: 'The second at which each candle begins, ascending.' }),
    o: numbers,
    h: numbers,
    l: numbers,
    c: numbers,
    v: numbers,
  }),
  UdfNoData: object(
    {
      s: constant('no_data'),
      nextTime: integer('The second of the last candle before the stretch, if there is one.'),
    },
    ['nextTime'],
  ),
  UdfHistory: { oneOf: [ref('UdfBars'), ref('UdfNoData'), ref('UdfError')] },
  UdfTime: text('The time in seconds since 1970.', { pattern: '^[0-9]+$' }),
};
