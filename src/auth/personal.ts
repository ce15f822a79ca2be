import { keccak256 } from './keccak';

const PREFIX = '\x19Ethereum Signed Message:\n';

/** The bytes that personal_sign signs for `message` (EIP-191, version 0x45). */
export function personalDigest(message: Uint8Array): Uint8Array {
  return keccak256(Buffer.concat([Buffer.from(`${PREFIX}${message.length}`), message]));
}
