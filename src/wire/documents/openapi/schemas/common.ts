import { MARKET_STATUSES } from '../../../../exchange/market';
import { FEE_ASSETS, MATCH_TYPES, SIDES } from '../../../../exchange/match';
import {
  MODES,
  ORDER_STATUSES,
  ORDER_TYPES,
  REASONS,
  SETTLEMENT_STATUSES,
} from '../../../../exchange/status';
import { choice, described, type Json, nullable, ref, text } from '../schema';

/** Digits after the point, without a final zero. */
const decimal = (places: number): string => `^(0|[1-9][0-9]*)(\\.[0-9]{0,${places - 1}}[1-9])?$`;
const signed = (places: number): string => `^-?(0|[1-9][0-9]*)(\\.[0-9]{0,${places - 1}}[1-9])?$`;
const fraction = (places: number): string => `^0\\.[0-9]{0,${places - 1}}[1-9]$`;

/** The values of which the bodies consist. */
export const COMMON_SCHEMAS: Readonly<Record<string, Json>> = {
  Price: text('A price lies between 0 and 1 and has at most four decimals.', { pattern: fraction(4) }),
  Midpoint: text('A midpoint lies half-way between two prices and has at most five decimals.', {
    pattern: fraction(5),
  }),
  AveragePrice: text('An average price has up to six decimals, and is rounded half up.', {
    pattern: fraction(6),
  }),
  PriceChange: text('The difference of two prices; it may be negative.', { pattern: signed(4) }),
  Size: text('A size is a number of shares with at most two decimals.', { pattern: decimal(2) }),
  Money: text('An amount of collateral or tokens in whole units has at most six decimals.', {
    pattern: decimal(6),
  }),
  Amount: text('An amount in the units of the chain is an integer (one whole unit is 10^18 on BNB Chain).', {
    pattern: '^(0|[1-9][0-9]*)$',
  }),
  Uint256: text('The number is a decimal integer below 2^256, without leading zeros.', {
    pattern: '^(0|[1-9][0-9]*)$',
    maxLength: 78,
  }),
  TokenId: text('The id of an outcome token is its CTF position id, as a decimal integer.', {
    pattern: '^[1-9][0-9]*$',
    maxLength: 78,
  }),
  Hash: text('A hash is written as 0x and 64 lower-case hexadecimal digits.', {
    pattern: '^0x[0-9a-f]{64}$',
  }),
  Address: text('An address is written with its EIP-55 checksum.', { pattern: '^0x[0-9a-fA-F]{40}$' }),
  Signature: text(
    'A signature has 65 bytes: r, s and v. That of a contract wallet has what its contract takes, at most 1,024 bytes.',
    { pattern: '^0x(?:[0-9a-fA-F]{2}){0,1024}$' },
  ),
  MarketId: text('The id of a market has eight characters, which follow from its condition id.', {
    pattern: '^[0-9a-z]{8}$',
  }),
  TradeId: text(
    'The id of a trade names its market, its sequence, and its place among the fills of that sequence.',
    {
      pattern: '^[0-9a-z]{8}-[0-9]+-[0-9]+$',
    },
  ),
  Time: text('A time is written in ISO 8601, in UTC.', { format: 'date-time' }),
  EpochMs: { type: 'integer', minimum: 0, description: 'The time in milliseconds since 1970.' },
  Sequence: {
    type: 'integer',
    minimum: 0,
    description: 'The sequence counts the changes of one market, without gaps.',
  },
  Cursor: {
    type: ['string', 'null'],
    description:
      'Pass it as `cursor` to receive the next page; it is null at the end of the list. Its content has no meaning for a client.',
  },
  OutcomeIndex: { type: 'integer', enum: [0, 1], description: '0 is Yes, 1 is No.' },
  Side: choice(SIDES),
  OrderType: choice(ORDER_TYPES),
  OrderStatus: choice(ORDER_STATUSES, 'The last four are final.'),
  Reason: described(
    nullable(choice(REASONS.filter((reason) => reason !== null))),
    'The reason why an order is final; it is null while the order is open, and when it was filled. With funds on a chain `SETTLEMENT_FAILED` is also the reason of an open order of which lots are back on the book, because their match failed by the fault of another wallet.',
  ),
  MatchType: choice(MATCH_TYPES),
  FeeAsset: choice(FEE_ASSETS, 'A SELL pays its fee in collateral, and a BUY in the token that it bought.'),
  SettlementStatus: choice(SETTLEMENT_STATUSES),
  MarketStatus: choice(MARKET_STATUSES, 'A `PAUSED` market accepts cancels only.'),
  Mode: choice(MODES),
  TransactionHash: nullable(ref('Hash')),
};
