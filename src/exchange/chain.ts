/** The facts of the chain that the rooms which read it, send to it and keep its books pass to each other. */

/** Paper funds, which the exchange hands out, or the wallets' own on a chain. Each has scripts of its own (src/lua-bundle/). */
export type Funds = 'paper' | 'chain';

/** A block, by number and hash; `timeMs` is its own time. */
export interface BlockRef {
  readonly number: number;
  readonly hash: string;
  readonly timeMs: number;
}

/** The state of a wallet on the chain at one block; amounts in chain units. */
export interface WalletReading {
  /** 0x, lower case. */
  readonly address: string;
  readonly collateral: { readonly balance: bigint; readonly allowance: bigint };
  /** Whether the exchange contract may move the wallet's conditional tokens. */
  readonly approvedForAll: boolean;
  /** The exchange contract accepts only orders of the wallet whose nonce is at least this. */
  readonly minNonce: bigint;
  readonly hasCode: boolean;
  /** Yes and No by market, of the markets asked for. */
  readonly tokens: readonly { readonly marketId: string; readonly balances: readonly [bigint, bigint] }[];
}

/** A transaction for a wallet to send itself, with words for its owner. */
export interface WalletCall {
  readonly to: string;
  readonly data: string;
  readonly description: string;
}

/** What the limit of UNSETTLED_LIMIT is of, by the code of the script (src/extensions/chain/lua/lib/admission.lua). */
export const LIMIT_SCOPES = ['MATCHES', 'OPEN_ORDERS', 'FRESH_FUNDS', 'ADDRESS'] as const;

/** Why a match failed. The reasons before EXPIRED are the fault of one wallet, the others of none. Their places are stored. */
export const FAULT_REASONS = [
  ...([
    'NONCE',
    'SIGNATURE',
    'CANCELLED',
    'COLLATERAL',
    'ALLOWANCE',
    'TOKENS',
    'APPROVAL',
    'CALLBACK',
  ] as const),
  ...(['EXPIRED', 'PAUSED', 'NOT_OPERATOR', 'INVALID_TOKEN', 'OUT_OF_GAS', 'UNKNOWN', 'RESOLVED'] as const),
] as const;
export type FaultReason = (typeof FAULT_REASONS)[number];

/** The result of one settlement in a final block (named as in lua/lib/settlements.lua). */
export interface SettlementEvent {
  readonly marketId: string;
  readonly sequence: number;
  readonly part: number;
  readonly result: 'CONFIRMED' | 'FAILED';
  readonly transactionHash: string;
  readonly blockNumber: number;
  /** Only of FAILED: the guilty wallet, and why. */
  readonly fault: { readonly wallet: string; readonly reason: FaultReason } | null;
}

/** Tokens that a wallet converted itself, in a market of the exchange, in chain units. */
export interface ConvertedTokens {
  readonly kind: 'SPLIT' | 'MERGE' | 'REDEEM';
  readonly wallet: string;
  readonly marketId: string;
  readonly collateral: bigint;
  readonly yes: bigint;
  readonly no: bigint;
}
