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
