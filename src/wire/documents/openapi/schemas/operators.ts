import { DIFFERENCE_KINDS } from '../../../../exchange/audit';
import { array, choice, flag, integer, type Json, nullable, object, page, ref, text } from '../schema';

/** The answers to operators besides markets and settlements. */
export const OPERATOR_SCHEMAS: Readonly<Record<string, Json>> = {
  ExchangeMode: object({
    mode: ref('Mode'),
    message: nullable(text('The text is sent to every socket and is part of `GET /config`.')),
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
