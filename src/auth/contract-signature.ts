import { Refusal } from '../exchange/errors';
import type { SignedOrder } from '../exchange/order';
import { type WalletSignatures, WalletsBusy } from '../exchange/wallet-signature';
import { invalidSignature } from './order-signature';

/** As the exchange contract takes them (`SIGNATURE_MAX` of contracts/Orders.sol). */
const SIGNATURE_MAX_BYTES = 1_024;
/** `SIGNATURE_GAS` there: a wallet that needs more here would fail each of its matches. */
const SIGNATURE_GAS = 300_000;
const SIGNATURE = new RegExp(`^0x(?:[0-9a-fA-F]{2}){0,${SIGNATURE_MAX_BYTES}}$`);

/**
 * The signature of a contract wallet (signatureType 3), of which nothing but its form is checked: only the wallet itself knows
 * whether it is right. Throws INVALID_SIGNATURE.
 */
export function contractSignature({ signature, signer, maker }: SignedOrder, orderHash: string): Buffer {
  const refuse = (detail: string): Refusal => invalidSignature(detail, null, orderHash, null);
  if (!SIGNATURE.test(signature))
    throw refuse(
      `the signature of a contract wallet must be hexadecimal, at most ${SIGNATURE_MAX_BYTES} bytes`,
    );
  if (signer !== maker) throw invalidSignature('signer must equal maker', null, orderHash, 'SIGNER');
  return Buffer.from(signature.slice(2), 'hex');
}

/**
 * Asks the wallet. Its funds are approved by transactions of its own, so a wallet that is not deployed has none to trade with.
 * Throws INVALID_SIGNATURE, or UNAVAILABLE when the chain does not answer.
 */
export async function confirmByContract(
  signatures: WalletSignatures,
  { maker, signature }: SignedOrder,
  orderHash: string,
  asker: string,
): Promise<void> {
  const question = { wallet: maker, digest: orderHash, signature, allowsUndeployed: false };
  const { isValid, hasCode } = await signatures.verify({ ...question, walletGas: SIGNATURE_GAS, asker });
  if (isValid) return;
  const detail = hasCode
    ? `the contract wallet ${maker} was asked about expectedHash (isValidSignature) and does not accept the signature, or not within ${SIGNATURE_GAS} gas: check that the signature is over expectedHash in the wallet's own form, of owners that it has now, and enough of them`
    : `the wallet ${maker} is not deployed, and only a contract on the chain can accept a signature of type 3: deploy it first, or sign with its key, signatureType 0`;
  throw invalidSignature(detail, null, orderHash, null);
}

/** The most expensive check was for nothing: the signature is wrong, or its wallet had no turn to be asked after all others. */
export const isCheckedInVain = (refusal: unknown): boolean =>
  refusal instanceof WalletsBusy || (refusal instanceof Refusal && refusal.code === 'INVALID_SIGNATURE');
