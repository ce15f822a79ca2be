import { array, constant, integer, type Json, object, ref, text } from '../schema';

const balance = { total: ref('Money'), available: ref('Money'), reserved: ref('Money') };

export const BALANCES_MEMBERS = {
  collateral: object(balance),
  tokens: array(
    object({
      marketId: ref('MarketId'),
      outcomeIndex: ref('OutcomeIndex'),
      tokenId: ref('TokenId'),
      ...balance,
    }),
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
  Balances: object(BALANCES_MEMBERS),
};
