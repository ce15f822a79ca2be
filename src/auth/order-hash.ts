import { getBytes, id, TypedDataEncoder } from 'ethers';
import type { SignedOrder } from '../exchange/order';
import { keccak256 } from './keccak';

/** The EIP-712 domain of one network; fields as EIP-712 orders them. */
export interface OrderDomain {
  readonly name: string;
  readonly version: '1';
  readonly chainId: number;
  readonly verifyingContract: string;
}

export const ORDER_PRIMARY_TYPE = 'Order';

/** The signed members in their published order, ready for any EIP-712 library. */
export const EIP712_ORDER_TYPES = {
  Order: [
    { name: 'salt', type: 'uint256' },
    { name: 'maker', type: 'address' },
    { name: 'signer', type: 'address' },
    { name: 'taker', type: 'address' },
    { name: 'tokenId', type: 'uint256' },
    { name: 'makerAmount', type: 'uint256' },
    { name: 'takerAmount', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'feeRateBps', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'signatureType', type: 'uint8' },
  ],
};

/** The domain as a type: wallets that take typed data as JSON hash an empty domain without it. */
export const EIP712_DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

const WORD = 32;
const WORDS = 1 + EIP712_ORDER_TYPES.Order.length;
const ADDRESS_LENGTH = 42;
const UINT64_MAX = 2n ** 64n - 1n;
const UINT256_MAX = 2n ** 256n - 1n;
const UINT8_MAX = 255;

/** One word for the hash of the type and one for each member: 416 bytes, reused for every order. */
const struct = Buffer.alloc(WORDS * WORD);
const words = new DataView(struct.buffer, struct.byteOffset, struct.length);
struct.set(
  getBytes(
    id(
      `${ORDER_PRIMARY_TYPE}(${EIP712_ORDER_TYPES.Order.map(({ type, name }) => `${type} ${name}`).join(',')})`,
    ),
  ),
);

/** 0x19, 0x01, domain separator, struct hash (EIP-712), also reused. */
const envelope = Buffer.alloc(2 + 2 * WORD);
envelope.set([0x19, 0x01]);

/** The domain separator, 32 bytes. A missing field is also missing in the domain's type. */
export function domainSeparator(
  domain: Partial<Omit<OrderDomain, 'version'> & { readonly version: string }>,
): Uint8Array {
  return getBytes(TypedDataEncoder.hashDomain(domain));
}

/** The digest that the wallet signs: keccak256(0x1901, separator, structHash). */
export function typedDigest(separator: Uint8Array, structHash: Uint8Array): Uint8Array {
  envelope.set(separator, 2);
  envelope.set(structHash, 2 + WORD);
  return keccak256(envelope);
}

/**
 * EIP-712 hashStruct of the order, written by hand because every member is one static word.
 * Throws a RangeError when a number or an address does not fit its type; the checks of requests refuse these before.
 */
export function orderStructHash(order: SignedOrder): Uint8Array {
  putUint(1, order.salt);
  putAddress(2, order.maker);
  putAddress(3, order.signer);
  putAddress(4, order.taker);
  putUint(5, order.tokenId);
  putUint(6, order.makerAmount);
  putUint(7, order.takerAmount);
  putUint(8, order.expiration);
  putUint(9, order.nonce);
  putUint(10, order.feeRateBps);
  putUint8(11, order.side);
  putUint8(12, order.signatureType);
  return keccak256(struct);
}

function putUint(word: number, value: bigint): void {
  if (value < 0n || value > UINT256_MAX) throw new RangeError('a uint256 is out of range');
  const at = word * WORD;
  if (value <= UINT64_MAX) {
    struct.fill(0, at, at + 24);
  } else {
    // setBigUint64 keeps the low 64 bits.
    words.setBigUint64(at, value >> 192n);
    words.setBigUint64(at + 8, value >> 128n);
    words.setBigUint64(at + 16, value >> 64n);
  }
  words.setBigUint64(at + 24, value);
}

function putAddress(word: number, address: string): void {
  // Buffer.write stops silently at the first character that is not hexadecimal, so the code counts the bytes.
  const written =
    address.length === ADDRESS_LENGTH ? struct.write(address.slice(2), word * WORD + 12, 20, 'hex') : 0;
  if (written !== 20) throw new RangeError('an address is malformed');
}

function putUint8(word: number, value: number): void {
  if (!Number.isInteger(value) || value < 0 || value > UINT8_MAX)
    throw new RangeError('a uint8 is out of range');
  struct[word * WORD + WORD - 1] = value;
}
