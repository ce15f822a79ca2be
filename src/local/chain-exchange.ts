import { randomBytes } from 'node:crypto';
import { createRpc } from '../chain/rpc';
import { deployContracts } from '../extensions/chain/contracts/deploy';
import { createKeySender } from '../extensions/chain/contracts/key-sender';
import { type RunningChain, startChain } from './chain';

export interface LocalChainOptions {
  readonly chainId: number;
  /** The name in the EIP-712 domain of the orders. */
  readonly eip712Name: string;
  readonly onStart: (chain: RunningChain) => void;
}

/** More than any session uses. */
const GAS_MONEY = `0x${(10n ** 24n).toString(16)}`;
const LANES = 2;
const GAS_PRICE_MAX_WEI = 10n ** 10n;
/** A machine that starts everything at once is slow. */
const PATIENCE = 10;

const newKey = (): string => `0x${randomBytes(32).toString('hex')}`;

/** Starts a chain, deploys the contracts and returns the variables with which an exchange uses them. */
export async function openLocalChain({ chainId, eip712Name, onStart }: LocalChainOptions) {
  const chain = await startChain({ chainId });
  onStart(chain);
  const rpc = createRpc([chain.url], { patience: PATIENCE });
  const senderOf = (key: string) => createKeySender({ rpc, chainId, key, gasPriceMaxWei: GAS_PRICE_MAX_WEI });
  const keys = Array.from({ length: LANES }, newKey);
  const oracleKey = newKey();
  const oracle = senderOf(oracleKey);
  const admin = senderOf(newKey());
  const lanes = keys.map((key) => senderOf(key).address);
  for (const address of [admin.address, oracle.address, ...lanes])
    await rpc.ask('anvil_setBalance', [address, GAS_MONEY], () => undefined);
  const deployment = await deployContracts({ sender: admin, operators: lanes, domainName: eip712Name });
  return {
    CHAIN_RPC_URL: chain.url,
    CHAIN_PUBLIC_RPC_URL: chain.url,
    EXCHANGE_ADDRESS: deployment.exchangeAddress,
    COLLATERAL_ADDRESS: deployment.collateralAddress,
    CONDITIONAL_TOKENS_ADDRESS: deployment.conditionalTokensAddress,
    COLLATERAL_DECIMALS: '18',
    OPERATOR_KEYS: keys.join(','),
    ORACLE_KEY: oracleKey,
    ORACLE_ADDRESS: oracle.address,
  };
}
