/** What the chain says, as the rooms that read it, send to it and keep its books tell each other. */

/** A block, by number and hash; `timeMs` is its own time. */
export interface BlockRef {
  readonly number: number;
  readonly hash: string;
  readonly timeMs: number;
}

/** What the chain says of a wallet at one block; amounts in chain units. */
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

/** Why a match failed. The reasons before EXPIRED are the fault of one wallet, the others of nobody who trades. */
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
  ...(['EXPIRED', 'PAUSED', 'NOT_OPERATOR', 'INVALID_TOKEN', 'OUT_OF_GAS', 'UNKNOWN'] as const),
] as const;
export type FaultReason = (typeof FAULT_REASONS)[number];

/** What a final block did to one settlement (named as in lua/lib/settlements.lua). */
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
