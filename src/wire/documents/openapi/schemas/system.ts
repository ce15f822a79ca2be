import {
  array,
  choice,
  constant,
  flag,
  integer,
  type Json,
  nullable,
  object,
  page,
  ref,
  text,
} from '../schema';

const durability = choice(
  ['always', 'everysec', 'none', 'unknown'],
  'What is kept of what was answered when Redis crashes: all of it, all but the last second, nothing for certain; or Redis does not tell.',
);
const epoch = text(
  'Names the unbroken history of the data. Another one: what was answered before may be missing.',
  {
    pattern: '^[0-9a-f]{16}$',
  },
);
const rate = object({
  requests: integer(),
  seconds: integer(),
  burst: integer('At once, after a quiet moment.'),
  by: choice(['ip', 'maker', 'wallet']),
});

/** Described by the specification of its format. */
const anything: Json = { type: 'object' };

/** Probes, configuration, and the operator's lists. */
export const SYSTEM_SCHEMAS: Readonly<Record<string, Json>> = {
  Alive: object({ status: constant('alive') }),
  Ready: object({
    status: constant('ready'),
    redis: flag(),
    scripts: flag(),
    durability,
    epoch,
    layout: integer('Of the data.'),
  }),
  Version: object({
    version: text('Of the program.'),
    commit: nullable(text('It was built from; null where that is not known.')),
    layout: integer('Of the data it writes.'),
    startedAt: ref('Time'),
  }),
  Metrics: text("Lines of Prometheus' text format."),
  OpenApiDocument: object({
    openapi: text(),
    info: anything,
    servers: array(anything),
    tags: array(anything),
    paths: anything,
    components: anything,
  }),
  AsyncApiDocument: object({
    asyncapi: text(),
    info: anything,
    defaultContentType: text(),
    servers: anything,
    channels: anything,
    operations: anything,
    components: anything,
  }),
  ServerTime: object({ timestamp: ref('EpochMs') }),
  Config: object({
    network: choice(['mainnet', 'testnet']),
    chainId: integer(),
    publicBaseUrl: text(),
    eip712: ref('Eip712'),
    contracts: object({
      exchange: ref('Address'),
      collateral: ref('Address'),
      conditionalTokens: ref('Address'),
    }),
    funds: choice(['paper', 'chain']),
    mode: ref('Mode'),
    message: nullable(text("The operator's message about the mode.")),
    durability,
    epoch,
    limits: object({
      bodyBytes: integer(),
      batchBytes: integer(),
      batchOrders: integer(),
      cancelHashes: integer(),
      maxOrderSize: ref('Size'),
      collateralDecimals: integer('Of `makerAmount` and `takerAmount`: one whole unit is 10 to this power.'),
      rates: {
        ...nullable({ type: 'object', additionalProperties: rate }),
        description: 'By bucket; null when they are switched off.',
      },
      costs: object({
        order: integer('Points of `submissions`; a batch costs its orders.'),
        dryRun: integer('Points of `submissions`.'),
        refusedFok: integer('Points of `submissions`.'),
        wrongSignature: integer('Points of `submissions`.'),
        rowsPerPoint: integer('A page of a list costs a point of `reads` for each so many rows asked for.'),
        bytesPerSubmission: integer(
          'A body costs a point of `submissions` for each so many bytes, if those are more than its orders.',
        ),
      }),
      pace: {
        ...nullable(
          object({
            pointsPerSecond: integer('Points of one IP at one process.'),
            burst: integer('Points after a quiet moment.'),
            request: integer('Points of any request.'),
            refused: integer('Points on top of it when it is refused.'),
            rateLimited: integer('Points on top of it when it is refused as RATE_LIMITED.'),
            bytesPerPoint: integer('A body costs a point for each so many bytes.'),
            piecesPerPoint: integer('And for each so many pieces: a chunk of one byte is a piece.'),
            cut: integer('Points of a connection that is cut because its body does not end.'),
            connection: integer('Points of a connection that is opened, where no proxy is in front.'),
            holdMs: integer(
              'Without points a request waits for its turn, this long at most, and is refused then.',
            ),
            debtMs: integer('What comes back in this time is the most that is ever owed.'),
          }),
        ),
        description:
          'What an IP may ask of one process before its requests are held; null when it is switched off.',
      },
      sockets: {
        ...nullable(
          object({
            perIp: integer('Open sockets of one IP.'),
            messagesPerSecond: integer('Of one socket.'),
            bytesPerSecond: integer('Of one socket.'),
            refusals: integer('After so many a socket is cut.'),
            pace: {
              ...object({
                pointsPerSecond: integer('Points of all sockets of one IP at one process.'),
                burst: integer('Points after a quiet moment.'),
                upgrade: integer('Points of a socket that is opened.'),
                message: integer('Points of what counts as a message.'),
                bytesPerPoint: integer('What is sent costs a point for each so many bytes.'),
                cut: integer('Points of a socket that had to be cut.'),
                holdMs: integer('Without points an opening waits this long at most, and is refused then.'),
                debtMs: integer('What comes back in this time is the most that is ever owed.'),
              }),
              description: 'While points are owed, nothing is read of the open sockets of an IP.',
            },
          }),
        ),
        description: 'Null when they are switched off.',
      },
      queryMembers: integer('Members that a query may have.'),
    }),
  }),
  Settlement: object({
    id: text('Market, sequence, part.', { pattern: '^[0-9a-z]{8}-[0-9]+-s[0-9]+$' }),
    marketId: ref('MarketId'),
    conditionId: ref('Hash'),
    sequence: ref('Sequence'),
    status: ref('SettlementStatus'),
    takerOrderHash: nullable(ref('Hash')),
    makerOrderHashes: array(ref('Hash')),
    takerOrder: nullable(ref('SignedOrder')),
    makerOrders: array(ref('SignedOrder')),
    takerFillAmount: ref('Amount'),
    makerFillAmounts: array(ref('Amount')),
    matchTypes: array(ref('MatchType')),
    refundAmount: ref('Amount'),
    tradeIds: array(ref('TradeId')),
    attempts: integer(),
    transactionHash: ref('TransactionHash'),
    createdAt: ref('Time'),
    updatedAt: ref('Time'),
  }),
  SettlementPage: page(ref('Settlement')),
};
