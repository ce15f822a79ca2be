import { FAULT_REASONS, LIMIT_SCOPES } from '../../../../exchange/chain';
import type { ErrorCode } from '../../../../exchange/errors';
import { CONTRACTS } from '../examples/market';
import { TRADE_ID } from '../examples/story';
import { array, choice, described, integer, type Json, nullable, object, ref, text } from '../schema';
import type { Extension } from './problems';

/** Bodies and members that exist only with funds on a chain. */

const CALL_EXAMPLE = {
  to: CONTRACTS.conditionalTokens,
  data: '0xa22cb465',
  description: 'Let the exchange contract take outcome tokens for the orders that you sign',
};

/** Members of a fill or a settlement on the chain. */
export const CHAIN_SETTLEMENT: Readonly<Record<string, Json>> = {
  blockNumber: integer(
    'The block of the settlement: while it is SUBMITTED another block may still take the place of that one, afterwards it is final.',
  ),
  failureReason: ref('FailureReason'),
  failedWallet: described(ref('Address'), 'The wallet by whose fault the match failed.'),
};
export const IN_CHAIN_SETTLEMENT = Object.keys(CHAIN_SETTLEMENT);

export const CHAIN_SCHEMAS: Readonly<Record<string, Json>> = {
  WalletCall: object({
    to: described(ref('Address'), 'The contract that the transaction calls.'),
    data: text('The data of the transaction.', { pattern: '^0x[0-9a-f]*$' }),
    description: text('The effect in words, for the owner of the wallet.'),
  }),
  FailureReason: choice(
    FAULT_REASONS,
    'The reason why the chain refused the match; those after `CALLBACK` are the fault of no wallet.',
  ),
  ChainConfig: object({
    rpcUrl: nullable(text('A node that everybody may use; null: wallets bring their own.')),
    approvals: array(ref('WalletCall'), {
      description: 'The transactions with which a wallet approves the exchange contract, once.',
    }),
    confirmations: nullable(
      integer('The blocks after which a block is final; null: the node says which block is final.'),
    ),
  }),
};

/** The members of the problems of funds on a chain. */
export const CHAIN_PROBLEMS: { readonly [Code in ErrorCode]?: Extension } = {
  ON_CHAIN: {
    members: {
      calls: array(ref('WalletCall'), {
        description:
          'The transactions that the wallet, or the oracle of the market, must send itself, in this order.',
      }),
    },
    example: { calls: [CALL_EXAMPLE] },
  },
  INSUFFICIENT_ALLOWANCE: {
    members: {
      required: ref('Money'),
      available: described(ref('Money'), 'The amount that the exchange contract may take now.'),
      asset: choice(['COLLATERAL', 'YES', 'NO']),
      spender: described(ref('Address'), 'The exchange contract, which the wallet must approve.'),
      token: described(ref('Address'), 'The contract of the collateral, or of the outcome tokens.'),
    },
    example: {
      required: '62',
      available: '0',
      asset: 'COLLATERAL',
      spender: CONTRACTS.exchange,
      token: CONTRACTS.collateral,
    },
  },
  UNSETTLED_LIMIT: {
    members: {
      limit: described(
        ref('Money'),
        'The most that may wait for the chain, or ten times that when open orders are counted; it grows with settled trades.',
      ),
      unsettled: described(
        ref('Money'),
        'The value of the trades that wait for the chain now, and of the open orders when they are counted.',
      ),
      required: described(
        ref('Money'),
        'The value that this order counts for: of a BUY what it may pay, of a SELL one unit for each share.',
      ),
      scope: choice(
        LIMIT_SCOPES,
        'The limit that was reached: the trades of the wallet, or also its open orders; funds that came into the wallet lately, of which `unsettled` is promised; the trades of all new wallets of the network address.',
      ),
    },
    example: { limit: '100', unsettled: '96.5', required: '6.2', scope: 'MATCHES' },
  },
  WALLET_SUSPENDED: {
    members: {
      until: described(ref('Time'), 'The time from which the wallet may order again.'),
      failureReason: ref('FailureReason'),
      tradeId: described(ref('TradeId'), 'The trade that failed by the fault of the wallet.'),
      strikes: integer('The strikes of the wallet that are not forgotten, with this one.'),
    },
    example: {
      until: '2027-02-01T09:31:05.000Z',
      failureReason: 'ALLOWANCE',
      tradeId: TRADE_ID,
      strikes: 1,
    },
  },
};
