import type { Decimal, OutcomeIndex } from './types';

/** The balances of a wallet as they come over the wire. */
interface Balance {
  readonly total: Decimal;
  readonly available: Decimal;
  readonly reserved: Decimal;
  /** Only with funds on a chain: the amounts that trades take and bring which are not final yet. */
  readonly unsettled?: Decimal;
  readonly pending?: Decimal;
}

export interface Balances {
  /** Only with funds on a chain, as the final block `asOfBlock` has them; tokens may be of an earlier one. */
  readonly approvals?: {
    readonly collateral: { readonly allowance: Decimal; readonly enough: boolean };
    readonly conditionalTokens: { readonly approved: boolean };
  };
  readonly asOfBlock?: number;
  readonly collateral: Balance;
  readonly tokens: readonly (Balance & {
    readonly marketId: string;
    readonly outcomeIndex: OutcomeIndex;
    readonly tokenId: string;
  })[];
}
