import type { MarketTerms } from '../../exchange/market';
import type { Side } from '../../exchange/match';
import { SIGNATURE_TYPE_CONTRACT, type SignedOrder } from '../../exchange/order';
import type { OrderRecord } from './order';
import type { SettlementRecord } from './settlement';

/**
 * The signed order, stored with its record for settlement: 65 bytes of signature, then side B, signature type B, then salt,
 * the two amounts, expiration, nonce and fee rate, each as length B + big-endian bytes, then the signer when it is not the
 * maker. Maker, taker (zero) and token follow from the record and its market.
 * The length of a contract's signature (type 3) varies: its first 65 bytes, or what it has of them and zeros, stand where a key's
 * stand, and its length I2 and the rest stand at the end.
 */
const SIGNATURE_BYTES = 65;
const UINT256_BYTES = 32;
const ADDRESS_BYTES = 20;
const LENGTH_BYTES = 2;
const PACKED_MAX_BYTES = SIGNATURE_BYTES + 2 + 6 * (1 + UINT256_BYTES) + ADDRESS_BYTES;

export function packSigned(order: SignedOrder, signature: Buffer): Buffer {
  const isContract = order.signatureType === SIGNATURE_TYPE_CONTRACT;
  const packed = Buffer.allocUnsafe(PACKED_MAX_BYTES + (isContract ? LENGTH_BYTES + signature.length : 0));
  if (isContract) packed.fill(0, 0, SIGNATURE_BYTES);
  signature.copy(packed);
  packed[SIGNATURE_BYTES] = order.side;
  packed[SIGNATURE_BYTES + 1] = order.signatureType;
  let at = SIGNATURE_BYTES + 2;
  at = putShortest(packed, at, order.salt);
  at = putShortest(packed, at, order.makerAmount);
  at = putShortest(packed, at, order.takerAmount);
  at = putShortest(packed, at, order.expiration);
  at = putShortest(packed, at, order.nonce);
  at = putShortest(packed, at, order.feeRateBps);
  if (isContract) at = putRest(packed, at, signature);
  else if (order.signer !== order.maker) at += packed.write(order.signer.slice(2), at, 'hex');
  return packed.subarray(0, at);
}

function putRest(packed: Buffer, at: number, signature: Buffer): number {
  const restAt = packed.writeUInt16BE(signature.length, at);
  return restAt + signature.subarray(SIGNATURE_BYTES).copy(packed, restAt);
}

function wholeSignature(packed: Buffer, at: number): Buffer {
  const bytes = packed.readUInt16BE(at);
  const first = packed.subarray(0, Math.min(bytes, SIGNATURE_BYTES));
  return Buffer.concat([first, packed.subarray(at + LENGTH_BYTES)]);
}

/** `maker` and `tokenId` come from the record and its market. Addresses are returned as given. */
function unpackSigned(packed: Buffer, maker: string, tokenId: bigint): SignedOrder {
  let at = SIGNATURE_BYTES + 2;
  const next = (): bigint => {
    const length = packed.readUInt8(at);
    const hex = packed.toString('hex', at + 1, at + 1 + length);
    at += 1 + length;
    return length === 0 ? 0n : BigInt(`0x${hex}`);
  };
  const [salt, makerAmount, takerAmount, expiration, nonce, feeRateBps] = [
    next(),
    next(),
    next(),
    next(),
    next(),
    next(),
  ];
  const signatureType = packed.readUInt8(SIGNATURE_BYTES + 1);
  const isContract = signatureType === SIGNATURE_TYPE_CONTRACT;
  const signature = isContract ? wholeSignature(packed, at) : packed.subarray(0, SIGNATURE_BYTES);
  return {
    salt,
    maker,
    signer: !isContract && at < packed.length ? `0x${packed.toString('hex', at)}` : maker,
    taker: `0x${'0'.repeat(40)}`,
    tokenId,
    makerAmount,
    takerAmount,
    expiration,
    nonce,
    feeRateBps,
    side: packed.readUInt8(SIGNATURE_BYTES) as Side,
    signatureType,
    signature: `0x${signature.toString('hex')}`,
  };
}

/** Returns the signed order of a record; `checksum` returns the EIP-55 form of an address, else they stay in lower case. */
export function signedOf(
  record: OrderRecord,
  { tokenIds }: Pick<MarketTerms, 'tokenIds'>,
  checksum: (address: string) => string = (address) => address,
): SignedOrder {
  const maker = checksum(record.maker);
  const signed = unpackSigned(record.signed, maker, BigInt(tokenIds[record.outcome]));
  return signed.signer === maker ? signed : { ...signed, signer: checksum(signed.signer) };
}

/** Returns the signed orders of a settlement that are among `orders`. */
export function signedOrdersOf(
  { settlement }: SettlementRecord,
  orders: ReadonlyMap<string, OrderRecord>,
  terms: MarketTerms,
  checksum: (address: string) => string,
): { takerOrder: SignedOrder | null; makerOrders: SignedOrder[] } {
  const signed = (hash: string): SignedOrder[] => {
    const order = orders.get(hash);
    return order ? [signedOf(order, terms, checksum)] : [];
  };
  const [takerOrder = null] = settlement ? signed(settlement.takerHash) : [];
  return { takerOrder, makerOrders: (settlement?.makerHashes ?? []).flatMap(signed) };
}

/** Returns the position after it. */
function putShortest(packed: Buffer, at: number, n: bigint): number {
  const hex = n === 0n ? '' : n.toString(16);
  const bytes = packed.write(hex.length % 2 ? `0${hex}` : hex, at + 1, 'hex');
  packed[at] = bytes;
  return at + 1 + bytes;
}
