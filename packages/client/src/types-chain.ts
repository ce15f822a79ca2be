/** A transaction that a wallet must send itself. */
export interface WalletCall {
  readonly to: string;
  readonly data: string;
  /** The effect in words, for the owner of the wallet. */
  readonly description: string;
}

export interface ChainConfig {
  /** A node that everybody may use; null: wallets bring their own. */
  readonly rpcUrl: string | null;
  /** With these a wallet approves the exchange contract, once. */
  readonly approvals: readonly WalletCall[];
  /** The blocks after which a block is final; null: the node says which block is final. */
  readonly confirmations: number | null;
}

/** The fault of a match that failed on the chain; those after CALLBACK are no wallet's. */
export type FailureReason =
  | 'NONCE'
  | 'SIGNATURE'
  | 'CANCELLED'
  | 'COLLATERAL'
  | 'ALLOWANCE'
  | 'TOKENS'
  | 'APPROVAL'
  | 'CALLBACK'
  | 'EXPIRED'
  | 'PAUSED'
  | 'NOT_OPERATOR'
  | 'INVALID_TOKEN'
  | 'OUT_OF_GAS'
  | 'UNKNOWN'
  | 'RESOLVED';

/** Members of a fill with funds on a chain, once its settlement is in a block. */
export interface ChainSettlement {
  /** The block of a SUBMITTED record may still be replaced, and the number then goes away. Afterwards it is final. */
  readonly blockNumber?: number;
  /** Only of FAILED: nothing was paid, and the fault was that of `failedWallet`. */
  readonly failureReason?: FailureReason;
  readonly failedWallet?: string;
}
