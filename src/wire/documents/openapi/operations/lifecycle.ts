import { PAGE_SIZES } from '../../../pages';
import { PATHS } from '../../../paths';
import { editMarketShape, modeShape, resolveShape } from '../../../requests/operator';
import { emptyShape } from '../../../requests/orders';
import { MARKET } from '../examples/market';
import { MARKET_ID, MODE } from '../examples/story';
import { cursor, limit, type Operations } from '../operation';

const RESOLVED_AT = '2027-03-02T08:00:00.000Z';

const EVIDENCE = 'https://www.ipma.pt/en/oclima/2027-03-01/';

/** The market of the examples after its holders were paid. */
const ended = (
  status: string,
  outcomeIndex: number | null,
  payouts: readonly string[],
  evidence: string | null = null,
) => ({
  ...MARKET,
  outcomes: MARKET.outcomes.map((outcome, i) => ({ ...outcome, price: i === 0 ? '0.6' : '0.4' })),
  status,
  bestBid: null,
  bestAsk: null,
  midpoint: null,
  spread: null,
  liquidity: '0',
  openInterest: '0',
  resolution: { outcomeIndex, payouts, resolvedAt: RESOLVED_AT, evidence, payoutAt: RESOLVED_AT },
  resolvedAt: RESOLVED_AT,
  sequence: MARKET.sequence + 3,
});

/** The changes and the end of markets, and the mode of the exchange. */
export const LIFECYCLE_OPERATIONS: Operations = {
  [`PATCH ${PATHS.adminMarket}`]: {
    id: 'editMarket',
    tag: 'Operators',
    summary: "Edit a market's texts or closing time",
    description:
      'A member that is left out does not change; `closesAt: null` means no closing time. The closing time of a closed market cannot change, and nothing of a resolved or void market can, because its holders were paid by these texts. A `closesAt` that has passed is refused; `POST /admin/markets/{id}/close` closes a market now.',
    bearer: 'admin',
    body: {
      shape: editMarketShape,
      example: { description: 'By the station at the airport, at midnight.', closesAt: null },
    },
    success: {
      description: 'The market as it now is.',
      schema: 'Market',
      example: {
        ...MARKET,
        description: 'By the station at the airport, at midnight.',
        closesAt: null,
        sequence: MARKET.sequence + 1,
      },
    },
    codes: ['MARKET_NOT_FOUND', 'MARKET_NOT_OPEN'],
  },
  [`POST ${PATHS.adminResolve}`]: {
    id: 'resolveMarket',
    tag: 'Operators',
    summary: 'Resolve a market and pay its holders',
    description:
      'Resolves an OPEN, PAUSED or CLOSED market. No orders match from then on. At `payoutAt` of the `resolution`, after the delay that the exchange is set to, resting orders are cancelled with the reason `MARKET_CLOSED`; then every holder is paid once, `"1"` for each token of the winning outcome, and the tokens are removed. In a large market the answer may come before the last holder is paid: `openInterest` is the amount still to be paid. A repeated request gets the same answer, with the `evidence` of the first one; another outcome is refused. Until `payoutAt`, `unresolve` takes the result back. `confirm` must be the name of the outcome that won. With funds on a chain the answer is a CLOSED market, which is RESOLVED once the result that its oracle reports is final; the holders redeem their tokens there. Where another oracle must report, `ON_CHAIN` has its transaction.',
    bearer: 'admin',
    body: { shape: resolveShape, example: { outcomeIndex: 0, evidence: EVIDENCE, confirm: 'Yes' } },
    success: {
      description: 'The market as it now is.',
      schema: 'Market',
      example: ended('RESOLVED', 0, ['1', '0'], EVIDENCE),
    },
    codes: ['MARKET_NOT_FOUND', 'MARKET_NOT_OPEN', 'ON_CHAIN'],
  },
  [`POST ${PATHS.adminVoid}`]: {
    id: 'voidMarket',
    tag: 'Operators',
    summary: 'Void a market and pay half for each token',
    description:
      'Ends the market like a resolution, but pays `"0.5"` for every token. With funds on a chain its oracle reports that, as for a resolution.',
    bearer: 'admin',
    body: { shape: emptyShape, example: {}, optional: true },
    success: {
      description: 'The market as it now is.',
      schema: 'Market',
      example: ended('VOIDED', null, ['0.5', '0.5']),
    },
    codes: ['MARKET_NOT_FOUND', 'MARKET_NOT_OPEN', 'ON_CHAIN'],
  },
  [`POST ${PATHS.adminUnresolve}`]: {
    id: 'unresolveMarket',
    tag: 'Operators',
    summary: 'Take the result of a market back before its holders are paid',
    description:
      'Until `payoutAt` a result, or a void, can be taken back: a market that was CLOSED is CLOSED again, and any other is PAUSED, with the orders that rested in it. From then on the answer is `MARKET_NOT_OPEN`. A market without a result stays as it is. With funds on a chain the market stays CLOSED, and its oracle reports nothing.',
    bearer: 'admin',
    body: { shape: emptyShape, example: {}, optional: true },
    success: {
      description: 'The market as it now is.',
      schema: 'Market',
      example: { ...MARKET, status: 'PAUSED', sequence: MARKET.sequence + 2 },
    },
    codes: ['MARKET_NOT_FOUND', 'MARKET_NOT_OPEN'],
  },
  [`PUT ${PATHS.adminMode}`]: {
    id: 'setMode',
    tag: 'Operators',
    summary: 'Set the mode of the exchange',
    description:
      '`CANCEL_ONLY` refuses orders, splits and merges, and allows cancels. `HALTED` freezes the book and the wallets: it also refuses cancels, nonces and the faucet, and orders that a raised nonce has not invalidated yet stay open until the mode changes. A mode applies to every replica from the next command on and survives restarts. Orders expire, markets close and holders are paid in any mode. `GET /config` and `exchange:update` show the `message`; a request without one removes the previous message.',
    bearer: 'admin',
    body: { shape: modeShape, example: MODE },
    success: { description: 'The current mode and message.', schema: 'ExchangeMode', example: MODE },
  },
  [`GET ${PATHS.adminLog}`]: {
    id: 'listActions',
    tag: 'Operators',
    summary: "The operators' log, newest first",
    description:
      'Every request that changes data is recorded before it is executed, and its status is added afterwards. The log keeps the last 20,000 entries.',
    bearer: 'admin',
    limited: true,
    parameters: [limit(PAGE_SIZES.actions), cursor],
    success: {
      description: 'A page of actions.',
      schema: 'ActionPage',
      example: {
        data: [
          {
            id: '5f0c6a7e-2b0f-4f0e-9d59-0c1a8f4d7b11',
            requestId: 'resolve-81cqi70o',
            action: `POST ${PATHS.adminResolve}`,
            path: `/admin/markets/${MARKET_ID}/resolve`,
            body: { outcomeIndex: 0 },
            address: '203.0.113.7',
            agent: 'curl/8.5.0',
            status: 200,
            code: null,
            at: RESOLVED_AT,
          },
        ],
        nextCursor: null,
      },
    },
  },
};
