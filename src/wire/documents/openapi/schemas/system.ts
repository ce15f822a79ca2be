import {
  array,
  choice,
  constant,
  described,
  flag,
  integer,
  type Json,
  nullable,
  object,
  page,
  ref,
  text,
} from '../schema';
import { CHAIN_SETTLEMENT, IN_CHAIN_SETTLEMENT } from './chain';

const durability = choice(
  ['replicated', 'always', 'everysec', 'none', 'unknown'],
  'The acknowledged writes that survive a crash of Redis: all of them, with `replicated` also when a replica takes its place; all but those of the last second; or possibly none; `unknown` when Redis does not say.',
);
const epoch = text(
  'The epoch names the unbroken history of the data. When it changes, acknowledged writes may be missing.',
  {
    pattern: '^[0-9a-f]{16}$',
  },
);
const rate = object({
  requests: integer(),
  seconds: integer(),
  burst: integer('The number of requests that are accepted at once after a quiet moment.'),
  by: choice(['ip', 'maker', 'wallet']),
});

/** The specification of its format describes it. */
const anything: Json = { type: 'object' };

/** Probes, configuration, and the operator's lists. */
export const SYSTEM_SCHEMAS: Readonly<Record<string, Json>> = {
  Alive: object({ status: constant('alive') }),
  Ready: object(
    {
      status: constant('ready'),
      redis: flag(),
      scripts: flag(),
      archive: nullable(
        described(
          flag(),
          'True while the archive of old records answers; it is null when there is none. The process is ready without it, and answers old records with 503.',
        ),
      ),
      durability,
      replicaLagBytes: nullable(
        integer(
          'Only with `replicated`: the bytes of the stream of writes that the last replica which must confirm does not have yet; it is null while too few follow.',
        ),
      ),
      epoch,
      layout: integer('The number of the storage format of the data.'),
      shards: {
        type: 'object',
        additionalProperties: choice(['up', 'down']),
        description:
          'Only with several shards: whether each answers, by its number. The process is ready without one of them, except the first, and answers requests about it with 503.',
      },
      warnings: array(ref('Warning'), { description: 'Only with `verbose`: what needs an operator.' }),
    },
    ['shards', 'replicaLagBytes', 'warnings'],
  ),
  Warning: object({
    name: text('The subject, as `exchange doctor` names it.'),
    level: described(choice(['red', 'amber']), 'The urgency: red needs an operator now, amber soon.'),
    detail: text('The problem in words.'),
  }),
  Version: object({
    version: text('The version of the program.'),
    commit: nullable(text('The commit that the program was built from; it is null when unknown.')),
    layout: integer('The number of the storage format that the program writes.'),
    durability,
    startedAt: ref('Time'),
  }),
  Metrics: text('The metrics, as lines in the text format of Prometheus.'),
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
  Config: object(
    {
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
      shards: integer('The number of shards that the markets are spread over.'),
      signatureTypes: described(
        array({ type: 'integer', enum: [0, 3] }),
        'The values that `signatureType` may have: 0 is a key, 3 a contract wallet (ERC-1271).',
      ),
      chain: described(ref('ChainConfig'), 'Only with funds on a chain.'),
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
        collateralDecimals: integer(
          'The decimals of `makerAmount` and `takerAmount`: one whole unit is 10 to this power.',
        ),
        rates: {
          ...nullable({ type: 'object', additionalProperties: rate }),
          description: 'The rate limits by their names; null when they are switched off.',
        },
        costs: object({
          order: integer(
            'An order costs this many points of `submissions`; a batch costs the sum of its orders.',
          ),
          dryRun: integer('A dry run costs this many points of `submissions`.'),
          refusedFok: integer('A FOK order that is not filled costs this many points of `submissions`.'),
          wrongSignature: integer(
            'An order with a wrong signature costs this many points of `submissions`, and so does one whose contract wallet has no turn to be asked.',
          ),
          rowsPerPoint: integer(
            'A page of a list costs a point of `reads` for each group of this many requested rows.',
          ),
          bytesPerSubmission: integer(
            'A body costs a point of `submissions` for each group of this many bytes, if that is more than its orders cost.',
          ),
        }),
        pace: {
          ...nullable(
            object({
              pointsPerSecond: integer('The points that one IP earns per second at one process.'),
              burst: integer('The most points that can be saved up.'),
              request: integer('Every request costs this many points.'),
              refused: integer('A refused request costs this many points more.'),
              rateLimited: integer('A request that is refused as RATE_LIMITED costs this many points more.'),
              bytesPerPoint: integer('A body costs a point for each group of this many bytes.'),
              piecesPerPoint: integer(
                'A body also costs a point for each group of this many pieces; a chunk of one byte is a piece.',
              ),
              answerBytesPerPoint: integer(
                'The body of an answer costs a point for each group of this many bytes.',
              ),
              connections: integer(
                'The number of connections that one IP may keep open at one process, sockets included, unless a proxy stands in front of the process.',
              ),
              cut: integer('A connection that is cut because its body does not end costs this many points.'),
              connection: integer(
                'A new connection costs this many points, unless a proxy stands in front of the process.',
              ),
              holdMs: integer(
                'The longest time that a request waits for its turn, in milliseconds; after it the request is refused.',
              ),
              debtMs: integer('The debt of an IP never exceeds the points that it earns in this time.'),
            }),
          ),
          description:
            'The rate at which one process serves an IP before its requests wait; null when it is switched off.',
        },
        sockets: {
          ...nullable(
            object({
              perIp: integer('The number of sockets that one IP may keep open.'),
              messagesPerSecond: integer('The number of messages that one socket may send per second.'),
              bytesPerSecond: integer('The number of bytes that one socket may send per second.'),
              refusals: integer('A socket is cut after this many refusals.'),
              ordersUnderWay: integer(
                'The number of messages about orders that one socket may have under way at once.',
              ),
              pace: {
                ...object({
                  pointsPerSecond: integer(
                    'The points that all sockets of one IP earn per second at one process.',
                  ),
                  burst: integer('The most points that can be saved up.'),
                  upgrade: integer('A new socket costs this many points.'),
                  message: integer('A message costs this many points.'),
                  refused: integer('A message about orders that is refused costs this many more points.'),
                  rateLimited: integer(
                    'A message about orders that is refused as `RATE_LIMITED` costs this many more points.',
                  ),
                  bytesPerPoint: integer('A message costs a point for each group of this many bytes.'),
                  cut: integer('A socket that had to be cut costs this many points.'),
                  holdMs: integer(
                    'The longest time that a new socket waits for points, in milliseconds; after it the socket is refused.',
                  ),
                  debtMs: integer('The debt of an IP never exceeds the points that it earns in this time.'),
                }),
                description: 'While an IP owes points, the process reads nothing from its open sockets.',
              },
            }),
          ),
          description: 'The limits of sockets; null when they are switched off.',
        },
        queryMembers: integer('The number of parameters that a query may have.'),
      }),
    },
    ['chain'],
  ),
  Settlement: object(
    {
      id: text('The id of a settlement names its market, its sequence and its part.', {
        pattern: '^[0-9a-z]{8}-[0-9]+-s[0-9]+$',
      }),
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
      ...CHAIN_SETTLEMENT,
      createdAt: ref('Time'),
      updatedAt: ref('Time'),
    },
    IN_CHAIN_SETTLEMENT,
  ),
  SettlementPage: page(ref('Settlement')),
};
