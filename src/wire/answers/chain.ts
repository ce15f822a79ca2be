/** A transaction for a wallet to send itself, with words for its owner. */
interface WalletCall {
  readonly to: string;
  readonly data: string;
  readonly description: string;
}

/** The part of GET /config about funds on a chain. */
export interface ChainConfigFacts {
  readonly rpcUrl: string | null;
  readonly approvals: readonly WalletCall[];
  readonly confirmations: number | null;
}
