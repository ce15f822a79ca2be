import { PATHS } from '../../paths';
import { emptyShape } from '../../requests';
import type { Operations } from '../operation';
import { idempotencyKey } from './account';

/** What a wallet is to others, and its own books. */
export const TRADER_OPERATIONS: Operations = {
  [`POST ${PATHS.myNonce}`]: {
    id: 'raiseNonce',
    tag: 'Account',
    summary: 'One nonce higher: every older order is invalid',
    description:
      'Answered when no open order below the new nonce is left; they are `INVALIDATED`, reason `NONCE`. Orders are signed with the new one from now on.',
    bearer: 'required',
    limited: true,
    parameters: [idempotencyKey],
    body: { shape: emptyShape, example: {}, optional: true },
    success: { description: 'The nonce to sign with.', schema: 'Nonce', example: { nonce: '1' } },
    codes: ['HALTED'],
  },
};
