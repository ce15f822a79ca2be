import { Wallet } from 'ethers';
import type { WireOrder } from '../../support/trader';
import { approval, approvalForAll, tokenTransfer, transfer } from './deals';
import type { FaultTrader } from './fault-contracts';
import type { FaultWorld } from './fault-world';
import { CODE } from './stories';
import { COLLATERAL, exchangeAbi, newTrader } from './world';

/** A deed of a wallet on the chain while its match is under way. */
export interface Deed {
  readonly name: string;
  /** The side of the wallet in the match that the deed concerns. */
  readonly side: 'BUY' | 'SELL';
  /** For this reason the match fails when the deed comes before it; null when it settles all the same. */
  readonly reason: string | null;
  /** The end of another order of the wallet on that side. */
  readonly rest: 'CANCELLED' | 'INVALIDATED' | 'OPEN';
  /** Whether the wallet is a contract. */
  readonly isContract?: true;
  readonly call: (faults: FaultWorld, trader: FaultTrader, order: WireOrder) => Promise<Call>;
}
interface Call {
  /** By default the wallet. */
  readonly from?: string;
  readonly to: string;
  readonly data: string;
  /** The code that the wallet lends itself. */
  readonly code?: string;
}

/** More than any lane pays, so that a block has such a transaction first. */
const GAS_PRICE = 400n * 10n ** 9n;
const GAS = 500_000n;
const hex = (n: bigint): string => `0x${n.toString(16)}`;

export const DEEDS: readonly Deed[] = [
  {
    name: 'moves its collateral away',
    side: 'BUY',
    reason: 'COLLATERAL',
    rest: 'CANCELLED',
    async call({ world }, { address }) {
      const all = await world.balance(address, COLLATERAL);
      return { to: world.collateral, data: transfer(world.fees.address, all) };
    },
  },
  {
    name: 'lowers its allowance to 1 wei',
    side: 'BUY',
    reason: 'ALLOWANCE',
    rest: 'CANCELLED',
    call: async ({ world }) => ({ to: world.collateral, data: approval(world, 1n) }),
  },
  {
    name: 'moves its tokens away',
    side: 'SELL',
    reason: 'TOKENS',
    rest: 'CANCELLED',
    async call({ world, market }, { address }) {
      const tokenId = BigInt(market().outcomes[0]?.tokenId ?? 0);
      const held = await world.balance(address, tokenId);
      return { to: world.ctf, data: tokenTransfer(address, world.fees.address, tokenId, held) };
    },
  },
  {
    name: 'revokes its approval',
    side: 'SELL',
    reason: 'APPROVAL',
    rest: 'CANCELLED',
    call: async ({ world }) => ({ to: world.ctf, data: approvalForAll(world, false) }),
  },
  {
    // The contract follows two minutes later, so that no match is hit.
    name: 'cancels the order',
    side: 'BUY',
    reason: null,
    rest: 'OPEN',
    call: async ({ world }, _, order) => ({
      to: world.exchange,
      data: exchangeAbi.encodeFunctionData('cancelOrder', [order]),
    }),
  },
  {
    name: 'raises its nonce',
    side: 'BUY',
    reason: null,
    rest: 'INVALIDATED',
    call: async ({ world }) => ({
      to: world.exchange,
      data: exchangeAbi.encodeFunctionData('raiseNonce', [7n]),
    }),
  },
  {
    // The contract keeps what such a wallet refuses.
    name: 'grows code that refuses tokens',
    side: 'BUY',
    reason: null,
    rest: 'OPEN',
    call: async (_, { address }) => ({ to: address, data: DELEGATION, code: CODE.reverts }),
  },
  {
    name: 'grows code that burns all gas',
    side: 'BUY',
    reason: null,
    rest: 'OPEN',
    call: async (_, { address }) => ({ to: address, data: DELEGATION, code: CODE.burnsAllGas }),
  },
  {
    name: 'replaces its owner',
    side: 'BUY',
    reason: 'SIGNATURE',
    rest: 'CANCELLED',
    isContract: true,
    async call(_, { contract }) {
      const changing = await contract?.changing();
      if (!changing) throw new Error('only a contract has an owner');
      return changing;
    },
  },
];
/** The wallet lends itself code (EIP-7702) in place of a call. */
const DELEGATION = 'delegation';

/** Sends what the deed needs, and does not wait for its block. Returns the hash of the transaction. */
export async function commit(
  faults: FaultWorld,
  deed: Deed,
  trader: FaultTrader,
  order: WireOrder,
): Promise<string> {
  const { chain } = faults.world;
  const { from = trader.address, to, data, code = '0x' } = await deed.call(faults, trader, order);
  if (data !== DELEGATION)
    return chain.ask<string>('eth_sendTransaction', {
      from,
      to,
      data,
      gas: hex(GAS),
      gasPrice: hex(GAS_PRICE),
    });
  const lender = newTrader().address;
  await chain.ask('anvil_setCode', lender, code);
  const wallet = new Wallet(trader.wallet.privateKey);
  const nonce = Number(await chain.ask<string>('eth_getTransactionCount', trader.address, 'latest'));
  const signed = await wallet.signTransaction({
    type: 4,
    chainId: 97,
    nonce,
    to: trader.address,
    gasLimit: GAS,
    maxFeePerGas: GAS_PRICE,
    maxPriorityFeePerGas: GAS_PRICE,
    // The transaction itself uses the nonce before.
    authorizationList: [wallet.authorizeSync({ address: lender, chainId: 97, nonce: nonce + 1 })],
  });
  return chain.ask<string>('eth_sendRawTransaction', signed);
}
