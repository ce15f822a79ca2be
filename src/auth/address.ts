import { Refusal } from '../exchange/errors';
import { createRecent } from '../exchange/recent';
import { keccak256, loadKeccak } from './keccak';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

export const isAddress = (text: string): boolean => ADDRESS.test(text);

const KNOWN_MAX = 10_000;
/** The code of '8': a hash digit of 8 or more makes its letter a capital. */
const EIGHT = 0x38;

/** Spelling -> checksummed address, for spellings that were accepted. */
const known = createRecent<string>(KNOWN_MAX);

void loadKeccak();

/**
 * Returns the EIP-55 spelling of an address. It accepts digits that are all lower or all upper case as they are. Mixed case
 * must have a valid checksum, because the checksum reveals a mistyped address. Throws INVALID_ADDRESS.
 */
export function checksumAddress(text: string): string {
  const hit = known.get(text);
  if (hit !== undefined) return hit;
  if (!ADDRESS.test(text))
    throw new Refusal('INVALID_ADDRESS', 'an address must be 0x and 40 hexadecimal digits');
  const digits = text.slice(2);
  const lower = digits.toLowerCase();
  const address = capitalised(lower);
  if (text !== address && digits !== lower && digits !== digits.toUpperCase()) {
    throw new Refusal(
      'INVALID_ADDRESS',
      'the mixed case of the address is not its EIP-55 checksum; correct it or use lower case',
    );
  }
  known.put(text, address);
  return address;
}

function capitalised(lower: string): string {
  const hash = Buffer.from(keccak256(Buffer.from(lower, 'latin1'))).toString('hex');
  let out = '0x';
  for (let i = 0; i < lower.length; i++) {
    const digit = lower.charAt(i);
    out += hash.charCodeAt(i) >= EIGHT ? digit.toUpperCase() : digit;
  }
  return out;
}
