import type { Side } from '../exchange/match';
import type { SignedOrder } from '../exchange/order';

/**
 * The signed order as it is kept beside its record, for settlement: 65 bytes of signature, then side B, signature
 * type B, then salt, tokenId-free amounts, expiration, nonce and fee rate, each as length B + big-endian bytes, then
 * the signer when it is not the maker. Maker, taker (zero) and token follow from the record and its market.
 */
const SIGNATURE_BYTES = 65;

export function packSigned(order: SignedOrder, signature: Buffer): Buffer {
  const parts: Buffer[] = [signature, Buffer.from([order.side, order.signatureType])];
  for (const n of [
    order.salt,
    order.makerAmount,
    order.takerAmount,
    order.expiration,
    order.nonce,
    order.feeRateBps,
  ]) {
    parts.push(shortest(n));
  }
  if (order.signer !== order.maker) parts.push(Buffer.from(order.signer.slice(2), 'hex'));
  return Buffer.concat(parts);
}

/** `maker` and `tokenId` come from the record and its market. Addresses come out as given. */
export function unpackSigned(packed: Buffer, maker: string, tokenId: bigint): SignedOrder {
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
  return {
    salt,
    maker,
    signer: at < packed.length ? `0x${packed.toString('hex', at)}` : maker,
    taker: `0x${'0'.repeat(40)}`,
    tokenId,
    makerAmount,
    takerAmount,
    expiration,
    nonce,
    feeRateBps,
    side: packed.readUInt8(SIGNATURE_BYTES) as Side,
    signatureType: packed.readUInt8(SIGNATURE_BYTES + 1),
    signature: `0x${packed.toString('hex', 0, SIGNATURE_BYTES)}`,
  };
}

function shortest(n: bigint): Buffer {
  if (n === 0n) return Buffer.from([0]);
  const hex = n.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}
