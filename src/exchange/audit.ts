import type { MarketId } from './market';

/** The kinds of differences that an audit can find. The members beside `kind` name the order, wallet or market. */
export const DIFFERENCE_KINDS = [
  'ORDER_RECORD',
  'BOOK_ENTRY',
  'WALLET_INDEX',
  'EXPIRY_INDEX',
  'HOLDINGS',
  'POSITION',
  'BALANCE_OUT_OF_RANGE',
  'RESERVED_COLLATERAL',
  'RESERVED_TOKENS',
  'COLLATERAL_TOTAL',
  'FEES',
  'SUPPLY',
  'PAYOUT',
  'AGENDA',
  'MARKET_STATE',
  'LEVEL',
  'LIQUIDITY',
  'CROSSED_BOOK',
  'VOLUME',
  'LAST_TRADE',
  'SEQUENCE',
  'MATCH',
  'FILLS',
  'FILL_CHAIN',
  'SETTLEMENT_MISSING',
  'SETTLEMENT_RECORD',
  'SETTLEMENT_LIST',
  'UNSETTLED',
  'DOCUMENT',
  'NAME',
  'DATA_LOST',
  'LOST_ENTRIES',
  'IN_TRANSIT',
  'TRANSFERS',
  'PURSE',
  'MORE_DIFFERENCES',
] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

/** Amounts are decimal strings in whole units, wallets lower-case hex. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly marketId?: MarketId;
  readonly orderHash?: string;
  readonly wallet?: string;
  readonly asset?: 'COLLATERAL' | 'YES' | 'NO';
  readonly side?: 'BID' | 'ASK';
  readonly price?: string;
  readonly sequence?: number;
  readonly settlementId?: string;
  readonly name?: string;
  /** The expected value, computed from the orders, and the stored value. */
  readonly expected?: string;
  readonly found?: string;
  readonly detail: string;
}

export interface AuditReport {
  readonly ok: boolean;
  readonly checked: {
    readonly orders: number;
    readonly balances: number;
    readonly markets: number;
    readonly fills: number;
  };
  readonly differences: readonly Difference[];
}
