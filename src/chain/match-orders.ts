import { Interface } from 'ethers';
import type { SignedOrder } from '../exchange/order';

/** The functions and structs that an operator's transaction uses (ctf-exchange, mixins/Trading.sol, libraries/OrderStructs.sol). */
const ORDER = [
  'uint256 salt, address maker, address signer, address taker, uint256 tokenId, uint256 makerAmount',
  'uint256 takerAmount, uint256 expiration, uint256 nonce, uint256 feeRateBps, uint8 side, uint8 signatureType',
  'bytes signature',
].join(', ');

export const MATCH_ORDERS = new Interface([
  `function matchOrders((${ORDER}) takerOrder, (${ORDER})[] makerOrders, uint256 takerFillAmount, uint256[] makerFillAmounts)`,
]);

export interface MatchOrdersCall {
  readonly takerOrder: SignedOrder;
  readonly makerOrders: readonly SignedOrder[];
  readonly takerFillAmount: bigint;
  readonly makerFillAmounts: readonly bigint[];
}

/** The data of the transaction that settles a match on chain. */
export const matchOrdersData = (call: MatchOrdersCall): string =>
  MATCH_ORDERS.encodeFunctionData('matchOrders', [
    call.takerOrder,
    call.makerOrders,
    call.takerFillAmount,
    call.makerFillAmounts,
  ]);
