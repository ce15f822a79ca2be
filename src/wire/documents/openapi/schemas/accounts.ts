import { array, constant, described, flag, integer, type Json, nullable, object, ref, text } from '../schema';

const balance = {
  total: ref('Money'),
  available: ref('Money'),
  reserved: ref('Money'),
  unsettled: ref('Money'),
  pending: ref('Money'),
};
/** Members of funds on a chain. */
const ON_CHAIN_BALANCE = ['unsettled', 'pending'];
export const ON_CHAIN_BALANCES = ['approvals', 'asOfBlock', 'standing', 'owed'];

export const BALANCES_MEMBERS = {
  collateral: object(balance, ON_CHAIN_BALANCE),
  tokens: array(
    object(
      {
        marketId: ref('MarketId'),
        outcomeIndex: ref('OutcomeIndex'),
        tokenId: ref('TokenId'),
        ...balance,
      },
      ON_CHAIN_BALANCE,
    ),
  ),
  approvals: object({
    collateral: described(
      object({
        allowance: ref('Money'),
        enough: flag(
          'True when the allowance is above 0 and covers all collateral of the wallet, which may be none.',
        ),
      }),
      'An `allowance` is at most 9007199254.740991, which also stands for an unlimited one.',
    ),
    conditionalTokens: object({
      approved: flag('True when the exchange contract may take outcome tokens.'),
    }),
  }),
  asOfBlock: integer('The final block of the collateral and the approvals; tokens may be of an earlier one.'),
  standing: described(
    object({
      unsettled: ref('Money'),
      unsettledLimit: described(
        nullable(ref('Money')),
        'The most that may wait with the next order; null: no limit.',
      ),
      committed: ref('Money'),
      committedLimit: described(nullable(ref('Money')), 'The most of that; null: no limit.'),
      settled: ref('Money'),
      growsAt: described(
        nullable(ref('Money')),
        'The value of settled trades at which both limits grow tenfold; null: never, as for a contract wallet.',
      ),
      strikes: integer(
        'The deeds of the wallet for which trades failed; they are forgotten after 30 days without another.',
      ),
      failureReason: described(nullable(ref('FailureReason')), 'The reason of the last strike.'),
      tradeId: described(nullable(ref('TradeId')), 'The trade that failed then.'),
      suspendedUntil: described(
        nullable(ref('Time')),
        'The time from which the wallet may order again; null: now.',
      ),
    }),
    'The limits of the wallet, of which `UNSETTLED_LIMIT` tells, and its strikes, of which `WALLET_SUSPENDED` tells. `unsettled` is the value of the trades that wait for the chain, `committed` the same with all that open orders need, and `settled` the value of all trades that the chain has settled.',
  ),
  owed: described(
    array(
      object({
        marketId: nullable(ref('MarketId')),
        outcomeIndex: nullable(ref('OutcomeIndex')),
        tokenId: described(nullable(ref('TokenId')), 'A null stands for collateral.'),
        amount: ref('Money'),
        call: ref('WalletCall'),
      }),
    ),
    'The amounts that the exchange contract holds for the wallet, because it refused them at a delivery. `call` pays all of one to the wallet, once it accepts it; the wallet itself may name another receiver in the last word of its data. As of some blocks ago.',
  ),
};

/** Sign-in, and a wallet's own data. */
export const ACCOUNT_SCHEMAS: Readonly<Record<string, Json>> = {
  Challenge: object({
    nonce: text('The nonce is alphanumeric, and can be used once within 300 s.', {
      pattern: '^[A-Za-z0-9]{17,}$',
    }),
    address: ref('Address'),
    domain: text(),
    uri: text(),
    chainId: integer(),
    version: constant('1'),
    statement: text(),
    issuedAt: ref('Time'),
    expiresAt: ref('Time'),
  }),
  Session: object({
    accessToken: text('The token is a JWT; send it as `Authorization: Bearer`.'),
    refreshToken: text('The token can be used once, for `POST /auth/refresh`.'),
    tokenType: constant('Bearer'),
    expiresIn: integer('The lifetime of the token in seconds.'),
    refreshExpiresIn: integer('The lifetime of the token in seconds.'),
    user: object({ id: ref('Address'), address: ref('Address'), chainId: integer() }),
  }),
  Balances: object(BALANCES_MEMBERS, ON_CHAIN_BALANCES),
};
