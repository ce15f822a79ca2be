import { Refusal } from './errors';

/** A signature that a contract wallet would have to know as its own. */
export interface SignatureQuestion {
  readonly wallet: string;
  /** The signed digest, 32 bytes as 0x-prefixed hex. */
  readonly digest: string;
  /** 0x-prefixed hex; the caller bounds its length. */
  readonly signature: string;
  /** A wallet that is not deployed yet may say by ERC-6492 how it would be. */
  readonly allowsUndeployed: boolean;
  /** The most that the wallet itself may use; without it the whole question has a limit of its own, which is higher. */
  readonly walletGas?: number;
  /** A name that has only a part of the turns, such as the client's address; without it the wallet. */
  readonly asker?: string;
}

export interface SignatureCheck {
  readonly isValid: boolean;
  /** The wallet is a contract on the chain. */
  readonly hasCode: boolean;
}

/** Others have all turns, or the asker has more than its part of them. */
export class WalletsBusy extends Refusal {
  constructor() {
    const detail = 'too many signatures of contract wallets wait for the chain; try again';
    super('UNAVAILABLE', detail, { retryAfterMs: 1_000 });
  }
}

/** Asks contract wallets whether a signature is theirs (ERC-1271). */
export interface WalletSignatures {
  /** Throws UNAVAILABLE when the nodes do not answer in time or contradict each other, as WalletsBusy when too many wait. */
  verify(question: SignatureQuestion): Promise<SignatureCheck>;
}
