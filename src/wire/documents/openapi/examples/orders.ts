import {
  ALICE,
  ALICE_HASH,
  ALICE_NEXT_HASH,
  ALICE_NEXT_ORDER,
  ALICE_ORDER,
  BOB_HASH,
  BOB_ORDER,
  CONDITION_ID,
  MARKET_ID,
  MATCHED_AT,
  MOVED_AT,
  SEQUENCE,
  SIGNED_IN_AT,
  TRADE_ID,
  YES_TOKEN,
} from './story';

/** Alice's order after it was booked. */
export const SUBMISSION = {
  orderHash: ALICE_HASH,
  status: 'PARTIALLY_FILLED',
  reason: null,
  price: '0.62',
  size: '100',
  filledSize: '40',
  remainingSize: '60',
  cancelledSize: '0',
  averagePrice: '0.6',
  fillCount: 1,
  fills: [
    {
      tradeId: TRADE_ID,
      price: '0.6',
      size: '40',
      matchType: 'MINT',
      makerOrderHash: BOB_HASH,
      fee: '0',
      feeAsset: 'YES',
      matchedAt: MATCHED_AT,
    },
  ],
  sequence: SEQUENCE,
  createdAt: MATCHED_AT,
};

/** Alice moves the rest of it to another price. */
export const REPLACE_BODY = { order: ALICE_NEXT_ORDER, orderType: 'POST_ONLY' };
export const REPLACEMENT = {
  orderHash: ALICE_NEXT_HASH,
  status: 'OPEN',
  reason: null,
  price: '0.61',
  size: '60',
  filledSize: '0',
  remainingSize: '60',
  cancelledSize: '0',
  averagePrice: null,
  fillCount: 0,
  fills: [],
  sequence: SEQUENCE + 2,
  createdAt: MOVED_AT,
  replaced: { orderHash: ALICE_HASH, filledSize: '40', cancelledSize: '60' },
};

export const ORDER = {
  orderHash: ALICE_HASH,
  marketId: MARKET_ID,
  conditionId: CONDITION_ID,
  maker: ALICE,
  outcomeIndex: 0,
  tokenId: YES_TOKEN,
  side: 'BUY',
  orderType: 'GTC',
  price: '0.62',
  size: '100',
  filledSize: '40',
  remainingSize: '60',
  cancelledSize: '0',
  averagePrice: '0.6',
  status: 'PARTIALLY_FILLED',
  reason: null,
  expiration: '0',
  clientOrderId: 'rain-1',
  createdAt: MATCHED_AT,
  updatedAt: MATCHED_AT,
  sequence: SEQUENCE,
  fillCount: 1,
  fills: [
    {
      tradeId: TRADE_ID,
      price: '0.6',
      size: '40',
      role: 'TAKER',
      matchType: 'MINT',
      fee: '0',
      feeAsset: 'YES',
      matchedAt: MATCHED_AT,
      settlementStatus: 'CONFIRMED',
      transactionHash: null,
    },
  ],
};

/** The members that only the maker's own bearer sees. */
export const OWN_ORDER = { ...ORDER, order: ALICE_ORDER };

export const SUBMIT_BODY = { order: ALICE_ORDER, orderType: 'GTC', clientOrderId: 'rain-1' };

/** After the trade, Alice cancels the rest. */
export const CANCELLED = {
  orderHash: ALICE_HASH,
  status: 'CANCELLED',
  cancelled: true,
  filledSize: '40',
  remainingSize: '0',
  cancelledSize: '60',
  sequence: SEQUENCE + 1,
  message: 'Order cancelled',
};

export const BALANCES = {
  collateral: { total: '9976', available: '9938.8', reserved: '37.2' },
  tokens: [
    {
      marketId: MARKET_ID,
      outcomeIndex: 0,
      tokenId: YES_TOKEN,
      total: '40',
      available: '40',
      reserved: '0',
    },
  ],
};

export const SETTLEMENT = {
  id: `${MARKET_ID}-${SEQUENCE}-s0`,
  marketId: MARKET_ID,
  conditionId: CONDITION_ID,
  sequence: SEQUENCE,
  status: 'CONFIRMED',
  takerOrderHash: ALICE_HASH,
  makerOrderHashes: [BOB_HASH],
  takerOrder: ALICE_ORDER,
  makerOrders: [BOB_ORDER],
  takerFillAmount: '24800000000000000000',
  makerFillAmounts: ['16000000000000000000'],
  matchTypes: ['MINT'],
  refundAmount: '800000000000000000',
  tradeIds: [TRADE_ID],
  attempts: 1,
  transactionHash: null,
  createdAt: MATCHED_AT,
  updatedAt: MATCHED_AT,
};

export const CHALLENGE = {
  nonce: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b',
  address: ALICE,
  domain: 'localhost:3000',
  uri: 'http://localhost:3000',
  chainId: 97,
  version: '1',
  statement: 'Sign in to the exchange. This costs nothing and moves no funds.',
  issuedAt: SIGNED_IN_AT,
  expiresAt: '2027-02-01T12:05:00.000Z',
};

/** The message for that challenge, signed by Alice. */
export const SIGN_IN = {
  message: `localhost:3000 wants you to sign in with your Ethereum account:
${ALICE}

${CHALLENGE.statement}

URI: http://localhost:3000
Version: 1
Chain ID: 97
Nonce: ${CHALLENGE.nonce}
Issued At: ${SIGNED_IN_AT}`,
  signature:
    '0x80a52ecec6f768cf7605710f4b5794ce06b81b269dbee9f62e504d41861af81e44a621efedd4817562e1cf946dd4b251b10d5620bc7dfa0d014c4a96cb5fae0b1c',
};

/** Shortened, because the signature of a token would show nothing here. */
const jwt = (use: string): string => `eyJhbGciOiJIUzI1NiJ9.${use}.c2lnbmF0dXJl`;

export const SESSION = {
  accessToken: jwt('YWNjZXNz'),
  refreshToken: jwt('cmVmcmVzaA'),
  tokenType: 'Bearer',
  expiresIn: 900,
  refreshExpiresIn: 2_592_000,
  user: { id: ALICE, address: ALICE, chainId: 97 },
};
