import { MARKET_STATUSES } from '../../../../exchange/market';
import { FEE_ASSETS, MATCH_TYPES, SIDES } from '../../../../exchange/match';
import {
  MODES,
  ORDER_STATUSES,
  ORDER_TYPES,
  REASONS,
  SETTLEMENT_STATUSES,
} from '../../../../exchange/status';
import { choice, type Json, nullable, ref, text } from '../schema';

/** Digits after the point, without a zero at the end. */
const decimal = (places: number): string => `^(0|[1-9][0-9]*)(\\.[0-9]{0,${places - 1}}[1-9])?$`;
const signed = (places: number): string => `^-?(0|[1-9][0-9]*)(\\.[0-9]{0,${places - 1}}[1-9])?$`;
const fraction = (places: number): string => `^0\\.[0-9]{0,${places - 1}}[1-9]$`;

/** The values that the bodies are made of. */
export const COMMON_SCHEMAS: Readonly<Record<string, Json>> = {
  Price: text('A price in (0, 1), at most four decimals.', { pattern: fraction(4) }),
  Midpoint: text('A price half-way between two.', { pattern: fraction(5) }),
  AveragePrice: text('Up to six decimals, rounded half up.', { pattern: fraction(6) }),
  PriceChange: text('A difference of prices.', { pattern: signed(4) }),
  Size: text('Shares, at most two decimals.', { pattern: decimal(2) }),
  Money: text('Collateral or tokens in whole units, at most six decimals.', { pattern: decimal(6) }),
  Amount: text('An amount in chain units (18 decimals on BNB Chain), as an integer.', {
    pattern: '^(0|[1-9][0-9]*)$',
  }),
  Uint256: text('A canonical decimal integer below 2^256.', {
    pattern: '^(0|[1-9][0-9]*)$',
    maxLength: 78,
  }),
  TokenId: text('Id of an outcome token (a CTF position id), as a decimal integer.', {
    pattern: '^[1-9][0-9]*$',
    maxLength: 78,
  }),
  Hash: text('0x and 64 lower-case hexadecimal digits.', { pattern: '^0x[0-9a-f]{64}$' }),
  Address: text('An address in its EIP-55 spelling.', { pattern: '^0x[0-9a-fA-F]{40}$' }),
  Signature: text('65 bytes: r, s, v.', { pattern: '^0x[0-9a-fA-F]{130}$' }),
  MarketId: text('Eight characters, derived from the condition id.', { pattern: '^[0-9a-z]{8}$' }),
  TradeId: text('Market, sequence, place among the fills of that sequence.', {
    pattern: '^[0-9a-z]{8}-[0-9]+-[0-9]+$',
  }),
  Time: text('ISO 8601, UTC.', { format: 'date-time' }),
  EpochMs: { type: 'integer', minimum: 0, description: 'Milliseconds since 1970.' },
  Sequence: {
    type: 'integer',
    minimum: 0,
    description: 'Counts the changes of one market, without gaps.',
  },
  Cursor: {
    type: ['string', 'null'],
    description: 'Where the list goes on: pass it as `cursor`. Null at the end. Opaque.',
  },
  OutcomeIndex: { type: 'integer', enum: [0, 1], description: '0 is Yes, 1 is No.' },
  Side: choice(SIDES),
  OrderType: choice(ORDER_TYPES),
  OrderStatus: choice(ORDER_STATUSES, 'The last four are final.'),
  Reason: {
    type: ['string', 'null'],
    enum: REASONS,
    description: 'Why an order is final; null while it is open, and when it was filled.',
  },
  MatchType: choice(MATCH_TYPES),
  FeeAsset: choice(FEE_ASSETS, 'What the fee is taken in: of a SELL collateral, of a BUY the token bought.'),
  SettlementStatus: choice(SETTLEMENT_STATUSES),
  MarketStatus: choice(MARKET_STATUSES, '`PAUSED` takes cancels only.'),
  Mode: choice(MODES),
  TransactionHash: nullable(ref('Hash')),
};
