import { PATHS } from '../../../paths';
import { ALICE, MARKET_ID } from '../examples/story';
import type { Operations } from '../operation';

export const AUDIT_OPERATIONS: Operations = {
  [`GET ${PATHS.adminAudit}`]: {
    id: 'audit',
    tag: 'Operators',
    summary: 'Audit: recompute everything from the orders',
    description:
      'Reservations, supplies, levels, indexes, numbers, fees, payouts, settlement records and names are compared with what the orders and matches come to, as all of it stood at one moment; the exchange goes on meanwhile. A hundred thousand orders take a few seconds. Whoever asks while an audit is under way is given its report.',
    bearer: 'admin',
    limited: true,
    success: {
      description: 'What was looked at, and every difference.',
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
