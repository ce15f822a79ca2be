import { CANDLES, MARKET } from '../../../wire/documents/openapi/examples/market';
import { limit, type Operations, type Parameter, query } from '../../../wire/documents/openapi/operation';
import { integer, text } from '../../../wire/documents/openapi/schema';
import { PAGE_SIZES } from '../../../wire/pages';
import { UDF_PATHS } from './paths';
import { presentSearch, presentSymbol, RESOLUTIONS, UDF_CONFIG } from './udf';

const SYMBOL_NAME = `${MARKET.slug}.YES`;
const symbol: Parameter = {
  ...query(
    'symbol',
    'A market by its slug, id or condition id, with `.YES` or `.NO`; without an ending it is Yes.',
    text(),
    SYMBOL_NAME,
  ),
  required: true,
};
const example = {
  terms: { slug: MARKET.slug, outcomeNames: ['Yes', 'No'], tickPips: 100 },
  texts: { question: MARKET.question },
} as unknown as Parameters<typeof presentSymbol>[0];
const [{ t, o, h, l, c, v }] = CANDLES.candles as [(typeof CANDLES.candles)[number]];

/** The data feed of TradingView's charts. A refusal of the feed is a 200 with `s: "error"`. */
export const UDF_OPERATIONS: Operations = {
  [`GET ${UDF_PATHS.config}`]: {
    id: 'getUdfConfig',
    tag: 'Charts',
    summary: 'What the data feed can do',
    description: "The configuration of TradingView's Universal Data Feed. Give charts the address `/udf`.",
    limited: true,
    success: { description: 'The configuration.', schema: 'UdfConfig', example: UDF_CONFIG },
  },
  [`GET ${UDF_PATHS.symbols}`]: {
    id: 'getUdfSymbol',
    tag: 'Charts',
    summary: 'An outcome of a market, for charts',
    description: 'A symbol that does not exist is `{ "s": "error" }`.',
    limited: true,
    parameters: [symbol],
    success: {
      description: 'The symbol.',
      schema: 'UdfSymbolAnswer',
      example: presentSymbol(example, 0),
    },
  },
  [`GET ${UDF_PATHS.search}`]: {
    id: 'searchUdfSymbols',
    tag: 'Charts',
    summary: 'Outcomes of markets by words, for charts',
    description: 'Both outcomes of each market that has all of the words, the busiest market first.',
    limited: true,
    parameters: [
      query('query', 'Words of the question, the description or the slug.', text(), 'rain'),
      query('type', 'The type of symbol: `prediction`, or none.', text(), 'prediction'),
      query('exchange', 'Not used: there is one.', text(), 'CTF'),
      limit(PAGE_SIZES.markets),
    ],
    success: { description: 'The symbols.', schema: 'UdfSearch', example: presentSearch([example], 2) },
  },
  [`GET ${UDF_PATHS.history}`]: {
    id: 'getUdfHistory',
    tag: 'Charts',
    summary: 'Candles of an outcome, for charts',
    description: `Columns of numbers, oldest first, at most ${PAGE_SIZES.candles.most} candles: of a longer stretch its end. \`countback\` counts in place of \`from\`, and \`to\` itself is not included. A stretch without candles is \`no_data\`. A candle without trades repeats the last price.`,
    limited: true,
    parameters: [
      symbol,
      {
        ...query(
          'resolution',
          `The length of a candle: ${Object.keys(RESOLUTIONS).join(', ')}.`,
          text(undefined, { examples: Object.keys(RESOLUTIONS) }),
          '5',
        ),
        required: true,
      },
      query('from', 'The first second of the stretch.', integer(), 1801483200),
      {
        ...query('to', 'The second after the stretch.', integer(), 1801486800),
        required: true,
      },
      query('countback', 'The number of candles before `to`.', integer(undefined, { minimum: 1 }), 300),
    ],
    success: {
      description: 'The candles.',
      schema: 'UdfHistory',
      example: {
        s: 'ok',
        t: [t],
        ...Object.fromEntries(
          Object.entries({ o, h, l, c, v }).map(([name, value]) => [name, [Number(value)]]),
        ),
      },
    },
  },
  [`GET ${UDF_PATHS.time}`]: {
    id: 'getUdfTime',
    tag: 'Charts',
    summary: 'The clock of the exchange in seconds, for charts',
    description: 'The clock of Redis as plain text.',
    limited: true,
    success: {
      description: 'The second.',
      schema: 'UdfTime',
      mediaType: 'text/plain',
      example: '1801483205',
    },
  },
};
