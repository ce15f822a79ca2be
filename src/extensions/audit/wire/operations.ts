import { ALICE, MARKET_ID } from '../../../wire/documents/openapi/examples/story';
import type { Operations } from '../../../wire/documents/openapi/operation';

export const AUDIT_PATH = '/admin/audit';

export const AUDIT_OPERATIONS: Operations = {
  [`GET ${AUDIT_PATH}`]: {
    id: 'audit',
    tag: 'Operators',
    summary: 'Audit: recompute everything from the orders',
    description:
      'Recomputes reservations, supplies, levels, indexes, numbers, fees, payouts, settlement records and names from the orders and matches of one moment, and compares them with the stored values. The exchange keeps running meanwhile. A hundred thousand orders take a few seconds. A request during an audit receives the report of that audit. The result is an entry in the log of the operators.',
    bearer: 'admin',
    limited: true,
    success: {
      description: 'The counts of the checked data, and every difference.',
      schema: 'Audit',
      example: {
        ok: false,
        checked: { orders: 100_000, balances: 4_200, markets: 12, fills: 61_500 },
        differences: [
          {
            kind: 'RESERVED_COLLATERAL',
            detail: 'collateral reserved, against the open BUY orders of the wallet',
            expected: '12.5',
            found: '13.5',
            wallet: ALICE,
            asset: 'COLLATERAL',
          },
          {
            kind: 'LEVEL',
            detail: 'size and number of the open orders at a price of the Yes book',
            expected: '120 in 3',
            found: '120 in 4',
            marketId: MARKET_ID,
            side: 'BID',
            price: '0.61',
          },
        ],
      },
    },
  },
};
