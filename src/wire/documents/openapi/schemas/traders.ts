import { choice, described, type Json, nullable, object, ref, text } from '../schema';
import { TRADE_MEMBERS } from './books';

export const ROLE = choice(['MAKER', 'TAKER']);
/** The public trade, and the part of the wallet's own order in it. */
export const OWN_TRADE_MEMBERS: Readonly<Record<string, Json>> = {
  ...TRADE_MEMBERS,
  role: ROLE,
  own: object({
    orderHash: ref('Hash'),
    clientOrderId: nullable(text()),
    role: ROLE,
    side: ref('Side'),
    outcomeIndex: ref('OutcomeIndex'),
    tokenId: ref('TokenId'),
    price: described(ref('Price'), "The price in the own order's token."),
    size: ref('Size'),
    fee: ref('Money'),
    feeAsset: ref('FeeAsset'),
  }),
};

export const TRADER_SCHEMAS: Readonly<Record<string, Json>> = {
  Nonce: object({ nonce: ref('Uint256') }),
};
