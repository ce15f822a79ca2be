import { DIFFERENCE_KINDS } from '../../../exchange/audit';
import {
  array,
  choice,
  flag,
  integer,
  type Json,
  object,
  ref,
  text,
} from '../../../wire/documents/openapi/schema';

export const AUDIT_SCHEMAS: Readonly<Record<string, Json>> = {
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
