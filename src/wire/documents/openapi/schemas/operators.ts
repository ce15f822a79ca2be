import { DIFFERENCE_KINDS } from '../../../../exchange/audit';
import { array, choice, flag, integer, type Json, nullable, object, page, ref, text } from '../schema';

/** The answers to operators besides markets and settlements. */
export const OPERATOR_SCHEMAS: Readonly<Record<string, Json>> = {
  ExchangeMode: object({ mode: ref('Mode'), message: nullable(text('For every socket and `GET /config`.')) }),
  AdminAccount: object({
    address: ref('Address'),
    username: nullable(text()),
    bio: nullable(text()),
    avatarUrl: nullable(text()),
    joinedAt: nullable(ref('Time')),
    balances: ref('Balances'),
    positions: integer('Outcomes of which it holds tokens.'),
    openOrders: integer(),
  }),
  Action: object({
    id: text('Of this entry.', { format: 'uuid' }),
    requestId: text('`X-Request-Id` of the request.'),
    action: text('Method and path, as they stand here.'),
    path: text('The path as it was asked.'),
    body: { type: 'object', description: 'As it was sent; long texts are shortened.' },
    address: text('Where the request came from.'),
    agent: nullable(text('Its `User-Agent`.')),
    status: nullable(
      integer('Of the answer; null while it is under way, and for ever if its process died.', {
        minimum: 100,
      }),
    ),
    code: nullable(text('Of a refusal.')),
    at: ref('Time'),
  }),
  ActionPage: page(ref('Action')),
  Difference: object(
    {
      kind: choice(DIFFERENCE_KINDS),
      detail: text('What was compared.'),
      expected: text('What follows from the orders; amounts are decimal strings.'),
      found: text('What is stored.'),
      marketId: text(),
      orderHash: ref('Hash'),
      wallet: text("A wallet's address, or `fee`."),
      asset: choice(['COLLATERAL', 'YES', 'NO']),
      side: choice(['BID', 'ASK'], 'Of the Yes book.'),
      price: text('In Yes.'),
      sequence: integer(),
      settlementId: text(),
      name: text('A slug, a condition id or an id.'),
    },
    [
      ...['expected', 'found', 'marketId', 'orderHash', 'wallet', 'asset'],
      ...['side', 'price', 'sequence', 'settlementId', 'name'],
    ],
  ),
  Audit: object({
    ok: flag('Nothing differs.'),
    checked: object({
      orders: integer(),
      balances: integer('Accounts of collateral, and of tokens in each market.'),
      markets: integer(),
      fills: integer(),
    }),
    differences: array(ref('Difference')),
  }),
};
