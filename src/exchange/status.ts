/** The Lua scripts store the codes (lua/lib/order.lua), so the order of every list here never changes. */
export const ORDER_STATUSES = [
  'OPEN',
  'PARTIALLY_FILLED',
  'FILLED',
  'CANCELLED',
  'EXPIRED',
  'INVALIDATED',
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export const isFinal = (status: OrderStatus): boolean => status !== 'OPEN' && status !== 'PARTIALLY_FILLED';

/** Index 0 means "no reason". */
export const REASONS = [
  null,
  'USER',
  'CANCEL_ALL',
  'IOC_REMAINDER',
  'MARKET_REMAINDER',
  'SELF_TRADE',
  'MATCH_LIMIT',
  'MARKET_CLOSED',
  'EXPIRED',
  'NONCE',
  'FUNDS',
  'DISCONNECT',
  'REPLACED',
  'SETTLEMENT_FAILED',
] as const;
export type Reason = (typeof REASONS)[number];

export const ORDER_TYPES = ['GTC', 'IOC', 'FOK', 'POST_ONLY', 'MARKET'] as const;
export type OrderType = (typeof ORDER_TYPES)[number];

export const SELF_TRADE_PREVENTIONS = ['NONE', 'CANCEL_TAKER', 'CANCEL_MAKER', 'CANCEL_BOTH'] as const;
export type SelfTradePrevention = (typeof SELF_TRADE_PREVENTIONS)[number];

export const MODES = ['NORMAL', 'CANCEL_ONLY', 'HALTED'] as const;
export type Mode = (typeof MODES)[number];

export const SETTLEMENT_STATUSES = ['MATCHED', 'SUBMITTED', 'CONFIRMED', 'RETRYING', 'FAILED'] as const;
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];
