import { PATHS } from '../../../paths';
import { convertShape, emptyShape } from '../../../requests/orders';
import { BALANCES } from '../examples/orders';
import type { Operations, Parameter } from '../operation';
import { text } from '../schema';

const balances = (description: string) => ({ description, schema: 'Balances', example: BALANCES });

export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A request with the same key within an hour changes nothing, and its answer has `Idempotent-Replayed: true`. A key belongs to one body: with another one it is `IDEMPOTENCY_KEY_REUSED`. A split and a merge of a market share their keys. A refused request leaves its key unused.',
  schema: text(undefined, { pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  example: 'split-2027-02-01-a',
};

/** Splits and merges differ only in their texts. */
const CONVERSION = {
  bearer: 'required',
  limited: true,
  parameters: [idempotencyKey],
  body: { name: 'SetsBody', shape: convertShape, example: { size: '40' } },
  codes: [
    'SIZE_OUT_OF_RANGE',
    'INVALID_LOT',
    'INSUFFICIENT_BALANCE',
    'BALANCE_LIMIT',
    'IDEMPOTENCY_KEY_REUSED',
    'MARKET_NOT_OPEN',
    'ON_CHAIN',
    'CANCEL_ONLY',
    'HALTED',
  ],
} as const;

export const ACCOUNT_OPERATIONS: Operations = {
  [`GET ${PATHS.myBalances}`]: {
    id: 'getMyBalances',
    tag: 'Account',
    summary: 'Collateral and tokens',
    description:
      '`tokens` come by market id, Yes before No. `reserved` is always the sum that the open orders reserve. With funds on a chain, `unsettled` is what trades take that are not final there, `pending` is what these trades bring and cannot be spent yet, and `approvals` is what the exchange contract may take.',
    bearer: 'required',
    limited: true,
    success: balances('The balances of the wallet.'),
  },
  [`POST ${PATHS.faucet}`]: {
    id: 'askFaucet',
    tag: 'Account',
    summary: 'Claim more test funds',
    description:
      'Credits `PAPER_GRANT`, at most once an hour, regardless of the rate limits. With funds on a chain of a test network, the worker mints as much collateral and sends gas; both arrive some seconds after the answer; `NOT_FOUND` where no worker pays.',
    bearer: 'required',
    limited: true,
    body: { shape: emptyShape, example: {}, optional: true },
    success: balances('The balances after the grant.'),
    codes: ['HALTED', 'BALANCE_LIMIT', 'NOT_FOUND'],
  },
  [`POST ${PATHS.split}`]: {
    id: 'splitSets',
    tag: 'Account',
    summary: 'Split collateral into full sets',
    description:
      'The wallet receives one Yes and one No for each unit of collateral. With funds on a chain it does so itself: `ON_CHAIN` has the transactions.',
    ...CONVERSION,
    success: { ...balances('The balances after the split.'), headers: ['Idempotent-Replayed'] },
  },
  [`POST ${PATHS.merge}`]: {
    id: 'mergeSets',
    tag: 'Account',
    summary: 'Merge full sets into collateral',
    description:
      'The wallet receives one unit of collateral for each pair of Yes and No. With funds on a chain it does so itself: `ON_CHAIN` has the transaction.',
    ...CONVERSION,
    success: { ...balances('The balances after the merge.'), headers: ['Idempotent-Replayed'] },
  },
  [`POST ${PATHS.redeem}`]: {
    id: 'redeemTokens',
    tag: 'Account',
    summary: 'Redeem the tokens of a market with a result',
    description:
      'With funds on a chain the wallet does so itself: `ON_CHAIN` has the transaction, which redeems all its tokens of the market; before the result is final it is `NOT_FOUND`. With paper funds it is always `NOT_FOUND`, because the exchange pays the holders itself. So there is no other answer than these.',
    bearer: 'required',
    limited: true,
    body: { shape: emptyShape, example: {}, optional: true },
    success: balances('Not used yet.'),
    codes: ['ON_CHAIN', 'NOT_FOUND', 'MARKET_NOT_FOUND'],
  },
  [`POST ${PATHS.myNonce}`]: {
    id: 'raiseNonce',
    tag: 'Account',
    summary: 'Raise the nonce and invalidate older orders',
    description:
      'Every open order with a lower nonce becomes `INVALIDATED`, with the reason `NONCE`, before the answer is sent. Sign new orders with the new nonce. With funds on a chain the wallet raises the nonce itself: `ON_CHAIN` has the transaction.',
    bearer: 'required',
    limited: true,
    parameters: [idempotencyKey],
    body: { shape: emptyShape, example: {}, optional: true },
    success: {
      description: 'The nonce to sign with.',
      schema: 'Nonce',
      example: { nonce: '1' },
      headers: ['Idempotent-Replayed'],
    },
    codes: ['HALTED', 'ON_CHAIN'],
  },
};
