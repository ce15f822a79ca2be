import { ERRORS } from '../../../../exchange/errors';
import { FILLS_SHOWN_MAX } from '../../../../exchange/match';
import { orderShape } from '../../../requests/orders';
import {
  array,
  choice,
  constant,
  integer,
  type Json,
  jsonSchemaOf,
  nullable,
  object,
  page,
  ref,
  text,
  withProperty,
} from '../schema';
import { CHAIN_SETTLEMENT, IN_CHAIN_SETTLEMENT } from './chain';

const sizes = {
  size: ref('Size'),
  filledSize: ref('Size'),
  remainingSize: ref('Size'),
  cancelledSize: ref('Size'),
  averagePrice: nullable(ref('AveragePrice')),
};

const fillCount = integer('The total number of fills.', { minimum: 0 });
const latestFills: Json = { maxItems: FILLS_SHOWN_MAX, description: 'The latest fills, oldest first.' };

const submission = {
  orderHash: ref('Hash'),
  status: ref('OrderStatus'),
  reason: ref('Reason'),
  price: ref('Price'),
  ...sizes,
  fillCount,
  fills: array(
    object({
      tradeId: ref('TradeId'),
      price: ref('Price'),
      size: ref('Size'),
      matchType: ref('MatchType'),
      makerOrderHash: ref('Hash'),
      fee: ref('Money'),
      feeAsset: ref('FeeAsset'),
      matchedAt: ref('Time'),
    }),
    latestFills,
  ),
  sequence: ref('Sequence'),
  createdAt: ref('Time'),
};

export const ORDER_MEMBERS = {
  orderHash: ref('Hash'),
  marketId: ref('MarketId'),
  conditionId: ref('Hash'),
  maker: ref('Address'),
  outcomeIndex: ref('OutcomeIndex'),
  tokenId: ref('TokenId'),
  side: ref('Side'),
  orderType: ref('OrderType'),
  price: ref('Price'),
  ...sizes,
  settledSize: ref('Size'),
  failedSize: ref('Size'),
  status: ref('OrderStatus'),
  reason: ref('Reason'),
  expiration: ref('Uint256'),
  clientOrderId: {
    type: ['string', 'null'],
    description: 'Only the maker sees it; it is null for everyone else.',
  },
  createdAt: ref('Time'),
  updatedAt: ref('Time'),
  sequence: ref('Sequence'),
  fillCount,
  fills: array(ref('OrderFill'), latestFills),
  order: ref('SignedOrder'),
};

/** Only the maker sees the struct, and only a chain settles later. */
export const IN_SOME_ORDERS = ['order', 'settledSize', 'failedSize'];

/** Orders: the signed struct, the answers of a submission and a cancel, the current order. */
export const ORDER_SCHEMAS: Readonly<Record<string, Json>> = {
  OrderToSubmit: withProperty(jsonSchemaOf(orderShape), 'side', {
    anyOf: [
      { type: 'integer', enum: [0, 1] },
      { type: 'string', pattern: '^[01]$' },
    ],
    description: '0 means BUY, and 1 means SELL.',
  }),
  SignedOrder: object({
    salt: ref('Uint256'),
    maker: ref('Address'),
    signer: ref('Address'),
    taker: ref('Address'),
    tokenId: ref('Uint256'),
    makerAmount: ref('Uint256'),
    takerAmount: ref('Uint256'),
    expiration: ref('Uint256'),
    nonce: ref('Uint256'),
    feeRateBps: ref('Uint256'),
    side: { type: 'integer', enum: [0, 1], description: '0 means BUY, and 1 means SELL.' },
    signatureType: {
      type: 'integer',
      enum: [0, 3],
      description: '0 means the key of an ordinary wallet, and 3 a contract wallet (ERC-1271).',
    },
    signature: ref('Signature'),
  }),
  Submission: object(submission),
  Replacement: object({
    ...submission,
    replaced: nullable(
      object({ orderHash: ref('Hash'), filledSize: ref('Size'), cancelledSize: ref('Size') }),
    ),
  }),
  BatchResults: object({
    results: array({
      oneOf: [object({ status: constant(200), order: ref('Submission') }), ref('Problem')],
    }),
  }),
  Order: object(ORDER_MEMBERS, IN_SOME_ORDERS),
  OrderPage: page(ref('Order')),
  OrderFill: object(
    {
      tradeId: ref('TradeId'),
      price: ref('Price'),
      size: ref('Size'),
      role: choice(['MAKER', 'TAKER']),
      matchType: ref('MatchType'),
      fee: ref('Money'),
      feeAsset: ref('FeeAsset'),
      matchedAt: ref('Time'),
      settlementStatus: ref('SettlementStatus'),
      transactionHash: ref('TransactionHash'),
      ...CHAIN_SETTLEMENT,
    },
    IN_CHAIN_SETTLEMENT,
  ),
  OrderFillPage: page(ref('OrderFill')),
  Cancelled: object({
    orderHash: ref('Hash'),
    status: ref('OrderStatus'),
    cancelled: { type: 'boolean', description: 'False when the order was cancelled before.' },
    filledSize: ref('Size'),
    remainingSize: ref('Size'),
    cancelledSize: ref('Size'),
    sequence: ref('Sequence'),
    message: text(),
  }),
  CancelledAll: object({
    cancelled: array(ref('Hash')),
    count: integer(),
    sequence: ref('Sequence'),
    message: text(),
  }),
  CancelledEverywhere: object({
    cancelled: array(ref('Hash')),
    count: integer(),
    sequences: {
      type: 'object',
      description:
        'The sequence of the latest cancel in each market, by market id. A market in which nothing was cancelled is left out.',
      additionalProperties: ref('Sequence'),
    },
    message: text(),
  }),
  CancelledList: object({
    cancelled: array(ref('Hash')),
    notCancelled: {
      type: 'object',
      description: 'The code that explains why an order was not cancelled, by its hash.',
      propertyNames: { pattern: '^0x[0-9a-f]{64}$' },
      additionalProperties: { type: 'string', enum: Object.keys(ERRORS) },
    },
  }),
};
