import marketExchange from '../../contracts/artifacts/MarketExchange.json';
import signatureProbe from '../../contracts/artifacts/SignatureProbe.json';
import testCollateral from '../../contracts/artifacts/TestCollateral.json';
import walletReader from '../../contracts/artifacts/WalletReader.json';

/** A compiled contract (`npm run contracts`, docs/run/contracts.md). */
export interface Artifact {
  readonly abi: readonly object[];
  /** The code that creates the contract, 0x-prefixed hex; the encoded arguments of the constructor follow it. */
  readonly bytecode: string;
}

export const MARKET_EXCHANGE: Artifact = marketExchange;
export const TEST_COLLATERAL: Artifact = testCollateral;
/** Deployless: `eth_call` without `to` (contracts/WalletReader.sol has the answer). */
export const WALLET_READER: Artifact = walletReader;
/** Deployless: `eth_call` without `to` (contracts/SignatureProbe.sol has the answer). */
export const SIGNATURE_PROBE: Artifact = signatureProbe;
