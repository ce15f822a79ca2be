import { DIFFERENCE_KINDS } from '../../../../exchange/audit';
import {
  array,
  choice,
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

/** The answers to operators besides markets and settlements. */
export const OPERATOR_SCHEMAS: Readonly<Record<string, Json>> = {
  ExchangeMode: object({
    mode: ref('Mode'),
    message: nullable(text('The text is sent to every socket and is part of `GET /config`.')),
  }),
  AdminAccount: object({
    address: ref('Address'),
    username: nullable(text()),
    bio: nullable(text()),
    avatarUrl: nullable(text()),
    joinedAt: nullable(ref('Time')),
    muted: flag('True while an operator hides the comments and the profile of the wallet.'),
    balances: ref('Balances'),
    positions: integer('The number of outcomes of which the wallet holds tokens.'),
    openOrders: integer(),
  }),
  Overview: object({
    mode: ref('Mode'),
    message: nullable(text()),
    replicas: integer('The number of web processes.'),
    redis: object({
      usedBytes: integer(),
      maxBytes: nullable(integer('The `maxmemory` of Redis; null is no limit.')),
      durability: choice(['always', 'everysec', 'none']),
      eviction: nullable(text('The `maxmemory-policy` of Redis; null where CONFIG is closed.')),
    }),
    warnings: array(
      object({
        name: text('The subject, as `exchange doctor` names it.'),
        detail: text('The problem in words.'),
      }),
      {
        description:
          'The problems that need a look: a new epoch, lost data, no worker, an old or failed backup or audit, a node of the chain that is set aside.',
      },
    ),
    outbox: object({
      length: integer('The number of its entries.'),
      added: integer('The number of entries that it ever had; each is a command or another change.'),
      readers: array(
        object({
          reader: text(),
          unprocessed: integer('The number of entries that the reader has not finished.'),
          seconds: integer('The age of the oldest of them.'),
        }),
      ),
    }),
    settlements: object({
      unconfirmed: integer(),
      failed: integer('The number of failures so far.'),
      oldestSeconds: nullable(integer('The age of the oldest one that is not CONFIRMED; null when all are.')),
    }),
    timestamp: ref('EpochMs'),
  }),
  ResolutionPreview: object({
    marketId: ref('MarketId'),
    outcomeIndex: nullable(described(ref('OutcomeIndex'), 'The result; null is a void.')),
    holders: integer('The number of wallets with tokens of the market.'),
    winners: integer('The number of wallets that would be paid.'),
    payout: described(ref('Money'), 'The sum that they would be paid.'),
    orders: integer('The number of orders that would be cancelled.'),
  }),
  Action: object({
    id: text('The id of this entry.', { format: 'uuid' }),
    requestId: text('The `X-Request-Id` of the request.'),
    action: text('The method and the path, as this document writes them.'),
    path: text('The path of the request.'),
    body: {
      type: 'object',
      description: 'The body of the request; long texts are shortened. Of an audit it is the result.',
    },
    address: text('The IP address that sent the request.'),
    agent: nullable(text('The `User-Agent` of the request.')),
    status: nullable(
      integer(
        'The status of the answer; it is null while the request is in progress, and stays null when its process died.',
        {
          minimum: 100,
        },
      ),
    ),
    code: nullable(text('The code of a refusal.')),
    at: ref('Time'),
  }),
  ActionPage: page(ref('Action')),
  Difference: object(
    {
      kind: choice(
        DIFFERENCE_KINDS,
        'The kind of difference; `LOST_ENTRIES`, `IN_TRANSIT`, `TRANSFERS` and `PURSE` are about several shards.',
      ),
      detail: text('The values that were compared.'),
      expected: text('The value that follows from the orders; an amount is a decimal string.'),
      found: text('The stored value.'),
      marketId: text(),
      orderHash: ref('Hash'),
      wallet: text("A wallet's address, or `fee`."),
      asset: choice(['COLLATERAL', 'YES', 'NO']),
      side: choice(['BID', 'ASK'], 'The side of the Yes book.'),
      price: text('The price in Yes.'),
      sequence: integer(),
      settlementId: text(),
      name: text('A slug, a condition id, an id, a shard, or a channel between two shards, as `0 to 1`.'),
    },
    [
      ...['expected', 'found', 'marketId', 'orderHash', 'wallet', 'asset'],
      ...['side', 'price', 'sequence', 'settlementId', 'name'],
    ],
  ),
  Audit: object({
    ok: flag('True when nothing differs.'),
    checked: object({
      orders: integer(),
      balances: integer('The number of accounts of collateral, and of tokens in each market.'),
      markets: integer(),
      fills: integer(),
    }),
    differences: array(ref('Difference')),
  }),
};
