import type { Decimal, OutcomeIndex } from './types';
import type { FailureReason, WalletCall } from './types-chain';

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
  /** Only with funds on a chain: the limits behind UNSETTLED_LIMIT, and the strikes behind WALLET_SUSPENDED. */
  readonly standing?: {
    /** The value of trades that wait for the chain, and the most with the next order; null: no limit. */
    readonly unsettled: Decimal;
    readonly unsettledLimit: Decimal | null;
    /** The same with all that open orders need. */
    readonly committed: Decimal;
    readonly committedLimit: Decimal | null;
    /** The value of settled trades, and the one at which both limits grow tenfold; null: never. */
    readonly settled: Decimal;
    readonly growsAt: Decimal | null;
    readonly strikes: number;
    /** Time of the last strike. */
    readonly failureReason: FailureReason | null;
    readonly tradeId: string | null;
    /** Null when the wallet may order. */
    readonly suspendedUntil: string | null;
  };
  /** Only with funds on a chain: what the exchange contract holds for the wallet because it refused it; null members: collateral. */
  readonly owed?: readonly {
    readonly marketId: string | null;
    readonly outcomeIndex: OutcomeIndex | null;
    readonly tokenId: string | null;
    readonly amount: Decimal;
    /** Argument of `sendCalls`: pays all of it to the wallet, once it accepts that. */
    readonly call: WalletCall;
  }[];
  readonly collateral: Balance;
  readonly tokens: readonly (Balance & {
    readonly marketId: string;
    readonly outcomeIndex: OutcomeIndex;
    readonly tokenId: string;
  })[];
}
