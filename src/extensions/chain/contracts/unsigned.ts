import { keccak256, type Signature } from 'ethers';

/** Prices of a unit of gas. A chain without base fees gets transactions of the old type, whose tip is null. */
export interface Fee {
  readonly maxWei: bigint;
  readonly tipWei: bigint | null;
}

export interface Call {
  readonly to: string;
  readonly data: string;
  readonly gasLimit: bigint;
}

export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: number;
  readonly call: Call;
  readonly fee: Fee;
  /** The hash that is signed. */
  readonly digest: string;
  /** The transaction with its signature. */
  signed(signature: Signature): { readonly hash: string; readonly bytes: string };
}

/*
 * The encoding of a transaction by hand: a batch is some hundred kilobytes, which ethers takes apart and hashes several times
 * to sign it once, for a fifth of a second.
 */
type Item = Buffer | readonly Item[];
const DYNAMIC = Buffer.from([2]);
const NOTHING = Buffer.alloc(0);
/** EIP-155. */
const LEGACY_V = 35n;

export function unsigned(of: {
  readonly chainId: number;
  readonly nonce: number;
  readonly call: Call;
  readonly fee: Fee;
}): UnsignedTransaction {
  const { chainId, nonce, call, fee } = of;
  const rest = [number(call.gasLimit), hex(call.to), NOTHING, hex(call.data)];
  const encode = (after: readonly Buffer[]): Buffer =>
    fee.tipWei === null
      ? encoded([number(nonce), number(fee.maxWei), ...rest, ...after])
      : Buffer.concat([
          DYNAMIC,
          encoded([
            ...[number(chainId), number(nonce), number(fee.tipWei), number(fee.maxWei), ...rest],
            ...[[], ...after],
          ]),
        ]);
  return {
    ...of,
    digest: keccak256(encode(fee.tipWei === null ? [number(chainId), NOTHING, NOTHING] : [])),
    signed({ r, s, yParity }) {
      const v = fee.tipWei === null ? 2n * BigInt(chainId) + LEGACY_V + BigInt(yParity) : yParity;
      const bytes = encode([number(v), number(BigInt(r)), number(BigInt(s))]);
      return { hash: keccak256(bytes), bytes: `0x${bytes.toString('hex')}` };
    },
  };
}

const hex = (text: string): Buffer => Buffer.from(text.slice(2), 'hex');

/** Without leading zeros; 0 is empty. */
function number(n: bigint | number): Buffer {
  if (BigInt(n) === 0n) return NOTHING;
  const digits = n.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
}

const SHORT_MAX = 55;
const BYTES_FROM = 0x80;
const LIST_FROM = 0xc0;

/** Recursive length prefix. */
function encoded(item: Item): Buffer {
  if (Buffer.isBuffer(item)) {
    const [first = BYTES_FROM] = item;
    return item.length === 1 && first < BYTES_FROM ? item : withLength(item, BYTES_FROM);
  }
  return withLength(Buffer.concat((item as readonly Item[]).map(encoded)), LIST_FROM);
}

function withLength(body: Buffer, from: number): Buffer {
  if (body.length <= SHORT_MAX) return Buffer.concat([Buffer.from([from + body.length]), body]);
  const length = number(body.length);
  return Buffer.concat([Buffer.from([from + SHORT_MAX + length.length]), length, body]);
}
