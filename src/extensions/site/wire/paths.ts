/** TradingView's Universal Data Feed. */
export const UDF_PATHS = {
  config: '/udf/config',
  symbols: '/udf/symbols',
  search: '/udf/search',
  history: '/udf/history',
  time: '/udf/time',
} as const;
