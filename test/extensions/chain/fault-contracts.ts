import { TypedDataEncoder, Wallet } from 'ethers';
import { createTrader, domainOf, type Trader } from '../../support/trader';
import type { FaultWorld } from './fault-world';
import { type ContractTrader, checkedWalletOf, createContractTrader } from './storm-contracts';
import { type Market, newTrader } from './world';

/** A trader, and the contract that it is when it is one. */
export interface FaultTrader extends Trader {
  readonly contract?: ContractTrader | undefined;
}

/** A Safe with collateral, full sets and both approvals. It signs in and orders as other traders do. */
export async function safeTrader(
  { world, client, traders }: FaultWorld,
  cash: bigint,
  market: Market,
  sets: bigint,
): Promise<FaultTrader> {
  const contract = await createContractTrader(world.chain, 'safe');
  const { key } = newTrader();
  const { signMessage } = checkedWalletOf({ key, contract });
  const wallet: Wallet = Object.create(new Wallet(key), {
    address: { value: contract.address },
    signMessage: { value: signMessage },
    signTypedData: { value: (...typed: Parameters<Wallet['signTypedData']>) => sign(...typed) },
  });
  const sign = async (...typed: Parameters<Wallet['signTypedData']>): Promise<string> => {
    const signature = await contract.sign(TypedDataEncoder.hash(...typed));
    if (signature === null) throw new Error(`${contract.address} accepts no signature`);
    return signature;
  };
  await world.fund(contract.address, cash, market, sets, (to, data) => contract.execute([{ to, data }]));
  const made = createTrader(client, await domainOf(client), wallet);
  const trader: FaultTrader = {
    ...made,
    contract,
    order: (at, limit, more) => made.order(at, limit, { ...more, signatureType: 3 }),
  };
  traders.push(trader);
  return trader;
}
