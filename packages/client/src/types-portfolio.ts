import type { Decimal } from './types';

/** The value of the wallet, now and over time. */
export interface Portfolio {
  /** Cash, reserved and positions. */
  readonly value: Decimal;
  readonly cash: Decimal;
  /** In open orders. */
  readonly reserved: Decimal;
  readonly positionsValue: Decimal;
  readonly pnl: { readonly total: Decimal; readonly today: Decimal };
  /** Oldest first; `t` in epoch seconds. */
  readonly history: readonly { readonly t: number; readonly value: Decimal }[];
}
