import { randomBytes } from 'node:crypto';
import { Wallet } from 'ethers';
import { EIP712_ORDER_TYPES } from '../../src/auth/order-hash';
import { type SignedOrder, ZERO_ADDRESS } from '../../src/exchange/order';

export const DOMAIN = {
  name: 'Market CTF Exchange',
  version: '1',
  chainId: 97,
  verifyingContract: '0x2A6413639BD3d73a20ed8C95F634Ce198ABbd2d7',
} as const;

/** The key is fixed so that a failure can be repeated. */
export const alice = new Wallet(`0x${'a1'.repeat(32)}`);
export const bob = new Wallet(`0x${'b0'.repeat(32)}`);

export const uint256 = (): bigint => BigInt(`0x${randomBytes(32).toString('hex')}`);

/** 100 Yes at 0.62, not signed yet. */
export function orderOf(maker: string, more: Partial<SignedOrder> = {}): SignedOrder {
  return {
    salt: 479249096354n,
    maker,
    signer: maker,
    taker: ZERO_ADDRESS,
    tokenId: 21742633143463906290569050155826241533067272736897614950488156847949938836455n,
    makerAmount: 62n * 10n ** 18n,
    takerAmount: 100n * 10n ** 18n,
    expiration: 0n,
    nonce: 0n,
    feeRateBps: 0n,
    side: 0,
    signatureType: 0,
    signature: '0x',
    ...more,
  };
}

/** Every member takes values of every length its type allows. */
export function randomOrder(maker: string): SignedOrder {
  const uint = () => uint256() >> BigInt((randomBytes(1)[0] ?? 0) & 0xff);
  return orderOf(maker, {
    taker: `0x${randomBytes(20).toString('hex')}`,
    salt: uint(),
    tokenId: uint(),
    makerAmount: uint(),
    takerAmount: uint(),
    expiration: uint(),
    nonce: uint(),
    feeRateBps: uint(),
    side: ((randomBytes(1)[0] ?? 0) & 1) as 0 | 1,
  });
}

/** Signs an order as a wallet does, by default for the exchange's own domain. */
export async function signed(
  wallet: Wallet,
  order: SignedOrder,
  domain: object = DOMAIN,
): Promise<SignedOrder> {
  return { ...order, signature: await wallet.signTypedData(domain, EIP712_ORDER_TYPES, order) };
}

/** Returns the code and members of the refusal that `act` throws. */
export async function refusal(act: () => unknown): Promise<{ code: string; [member: string]: unknown }> {
  try {
    await act();
  } catch (error) {
    const { code, extra } = error as { code: string; extra: Record<string, unknown> };
    return { code, ...extra };
  }
  throw new Error('nothing was refused');
}
