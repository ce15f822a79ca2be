import { checksumAddress } from '../../auth/address';
import { type Blocks, createBlocks } from '../../chain/blocks';
import { createRpc, type Rpc } from '../../chain/rpc';
import type { ChainConfig } from '../../config/chain';
import type { Config } from '../../config/load';
import type { Logger } from '../../log';
import type { Check } from '../../store/health/doctor';
import type { ChainConfigFacts } from '../../wire/answers/chain';
import { approvalCalls, type Conditions, type Contracts, createConditions } from './contracts/conditions';
import { createKeySender } from './contracts/key-sender';
import { createKeySigner, createRemoteSigner } from './contracts/signer';
import { createWalletReader, type WalletReader } from './contracts/wallet-reader';

const contractsOf = (config: Config): Contracts => ({
  exchangeAddress: checksumAddress(config.exchangeAddress),
  collateralAddress: checksumAddress(config.collateralAddress),
  conditionalTokensAddress: checksumAddress(config.conditionalTokensAddress),
});

const asIs = (answer: unknown): unknown => answer;

/** The parts of a process that talk to the chain; they hold no key. */
export interface OpenChain {
  readonly rpc: Rpc;
  readonly blocks: Blocks;
  readonly wallets: WalletReader;
  readonly contracts: Contracts;
  readonly conditions: Conditions;
  /** The number of the newest final block, as 0x hex. */
  finalBlock(): Promise<string>;
}

export function openChain(config: Config, chain: ChainConfig, log: Pick<Logger, 'warn'>): OpenChain {
  const rpc = createRpc(chain.rpcUrls, {
    onAside: (node, why) =>
      log.warn(
        { node, why },
        why === null ? 'a node of the chain is well again' : 'a node of the chain is set aside',
      ),
  });
  const { confirmations } = chain;
  const finality =
    confirmations === null ? ({ kind: 'tag' } as const) : ({ kind: 'confirmations', confirmations } as const);
  const blocks = createBlocks(rpc, finality);
  const contracts = contractsOf(config);
  const { exchangeAddress: exchange, collateralAddress: collateral } = contracts;
  const wallets = createWalletReader(rpc, {
    exchange,
    collateral,
    conditionalTokens: contracts.conditionalTokensAddress,
  });
  return {
    rpc,
    blocks,
    wallets,
    contracts,
    conditions: createConditions(rpc, contracts),
    async finalBlock(): Promise<string> {
      return `0x${(await blocks.final()).number.toString(16)}`;
    },
  };
}

/** Signs settlements; `stop` ends the requests to a remote one. */
export function signerOf({ operatorKeys, operatorSignerUrl: url }: ChainConfig) {
  if (url === null) return { signer: createKeySigner(operatorKeys), stop: () => undefined };
  const rpc = createRpc([url]);
  return { signer: createRemoteSigner((method, params) => rpc.ask(method, params, asIs)), stop: rpc.stop };
}

/** The sender of what the exchange does on the chain besides settlements; null without the oracle's key. */
export const oracleOf = ({ chainId }: Config, chain: ChainConfig, rpc: Rpc) =>
  chain.oracleKey === null
    ? null
    : createKeySender({ rpc, chainId, key: chain.oracleKey, gasPriceMaxWei: chain.gasPriceMaxWei });

/** The part of GET /config about the chain. */
export const chainFacts = (
  { publicRpcUrl, confirmations }: ChainConfig,
  contracts: Contracts,
): ChainConfigFacts => ({
  rpcUrl: publicRpcUrl,
  approvals: approvalCalls(contracts),
  confirmations,
});

/** The nodes of the chain that this process asks last. */
export const nodesSetAside = (rpc: Pick<Rpc, 'health'>): Check[] =>
  rpc
    .health()
    .flatMap(({ name, aside }): Check[] =>
      aside === null
        ? []
        : [{ name: `node ${name}`, verdict: 'warn', detail: `this process asks it last: ${aside}` }],
    );
