import { AbiCoder } from 'ethers';

/** Fits a request's body beside the message, with the call that deploys the wallet. */
const CONTRACT_SIGNATURE_MAX_BYTES = 4_096;

const FORM = new RegExp(`^0x(?:[0-9a-fA-F]{2}){0,${CONTRACT_SIGNATURE_MAX_BYTES}}$`);
/** The end of a signature that EIP-6492 wraps, with the call that deploys the wallet. */
const WRAPPED_END = '6492'.repeat(16);
const WRAPPER = ['address', 'bytes', 'bytes'];

/** Returns why no contract wallet can have made the signature; null when one can. */
export function malformedContractSignature(signature: string): string | null {
  if (!FORM.test(signature))
    return `a signature must be at most ${CONTRACT_SIGNATURE_MAX_BYTES} bytes: 0x and hexadecimal digits`;
  const text = signature.toLowerCase();
  if (!text.endsWith(WRAPPED_END)) return null;
  const inner = innerOf(text.slice(0, -WRAPPED_END.length));
  if (inner === null)
    return 'the signature has the EIP-6492 ending but is not the ABI encoding of (address, bytes, bytes)';
  return inner.endsWith(WRAPPED_END) ? 'a signature can be wrapped only once (EIP-6492)' : null;
}

function innerOf(wrapper: string): string | null {
  try {
    return String(AbiCoder.defaultAbiCoder().decode(WRAPPER, wrapper)[2]);
  } catch {
    return null;
  }
}
