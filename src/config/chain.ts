import type { Micro } from '../exchange/units';
import type { ConfigProblem } from './report';

/** The settings of FUNDS=chain; the addresses of the contracts are in Config. */
export interface ChainConfig {
  /** At least one; the first is asked first. */
  readonly rpcUrls: readonly string[];
  /** Private keys, one for each lane; empty where a signer holds them, and on web. */
  readonly operatorKeys: readonly string[];
  readonly operatorSignerUrl: string | null;
  readonly oracleKey: string | null;
  readonly oracleAddress: string;
  /** Shown to everybody. */
  readonly publicRpcUrl: string | null;
  /** Null: the node says itself what is final. */
  readonly confirmations: number | null;
  /** Null: an empty ledger begins at the newest final block. */
  readonly startBlock: number | null;
  readonly gasPriceMaxWei: bigint;
  readonly unsettledMaxNewMicro: Micro;
  readonly freshMaxMicro: Micro;
}

/** The values of the variables on which these rules depend. */
export interface ChainValues {
  readonly NETWORK: 'mainnet' | 'testnet';
  readonly ARCHIVE_URL: string | null;
  readonly SHARDS: number;
  readonly CHAIN_RPC_URL: readonly string[] | null;
  readonly OPERATOR_KEYS: readonly string[] | null;
  readonly OPERATOR_SIGNER_URL: string | null;
  readonly ALLOW_HOT_KEYS: boolean;
  readonly ORACLE_KEY: string | null;
  readonly ORACLE_ADDRESS: string | null;
  readonly CHAIN_PUBLIC_RPC_URL: string | null;
  readonly CHAIN_CONFIRMATIONS: number | null;
  readonly CHAIN_START_BLOCK: number | null;
  readonly GAS_PRICE_MAX: bigint;
  readonly UNSETTLED_MAX_NEW: Micro;
  readonly FRESH_FUNDS_MAX: Micro;
  readonly CONTRACTS_AUDIT: string | null;
  readonly MATCH_MAKERS_MAX: number;
}

const CONTRACTS = ['EXCHANGE_ADDRESS', 'COLLATERAL_ADDRESS', 'CONDITIONAL_TOKENS_ADDRESS'] as const;
const MAINNET_ENDPOINTS_MIN = 2;
/** The number of a settlement among those of its match has 8 bits on the chain (src/chain/exchange-contract.ts). */
export const CHAIN_MAKERS_MAX = 256;
/** The default of MATCH_MAKERS_MAX. */
export const PAPER_MAKERS_MAX = 500;
const UNSET = '(unset)';
const HIDDEN = '(hidden)';

/** Returns what is wrong with the variables of FUNDS=chain, given that each of them is well formed. */
export function chainProblems(values: ChainValues, isSet: (name: string) => boolean): ConfigProblem[] {
  const rows: ConfigProblem[] = [];
  const refuse = (variable: string, given: string, problem: string): void => {
    rows.push({ variable, given, problem });
  };
  for (const name of CONTRACTS) {
    if (!isSet(name))
      refuse(name, UNSET, 'is required with FUNDS=chain; FUNDS=chain npm start deploys contracts of its own');
  }
  if (values.CHAIN_RPC_URL === null) {
    refuse('CHAIN_RPC_URL', UNSET, 'is required with FUNDS=chain: set the URL of a node of the chain');
  }
  if (values.ORACLE_ADDRESS === null) {
    refuse('ORACLE_ADDRESS', UNSET, 'is required with FUNDS=chain: set the address that reports the results');
  }
  if (values.OPERATOR_KEYS !== null && values.OPERATOR_SIGNER_URL !== null) {
    refuse('OPERATOR_KEYS', HIDDEN, 'and OPERATOR_SIGNER_URL are both set: set only one of them');
  }
  if (values.ARCHIVE_URL !== null) {
    refuse('ARCHIVE_URL', HIDDEN, 'does not work with FUNDS=chain yet: unset it');
  }
  if (values.SHARDS > 1) {
    const problem = 'must be 1 with FUNDS=chain: its accounts follow the chain in one shard';
    refuse('SHARDS', String(values.SHARDS), problem);
  }
  // A copy of .env.example sets the default of paper funds, which stands for that of a chain.
  if (values.MATCH_MAKERS_MAX > CHAIN_MAKERS_MAX && values.MATCH_MAKERS_MAX !== PAPER_MAKERS_MAX) {
    const problem = `must be at most ${CHAIN_MAKERS_MAX} with FUNDS=chain: each maker of a match is settled by itself`;
    refuse('MATCH_MAKERS_MAX', String(values.MATCH_MAKERS_MAX), problem);
  }
  if (values.NETWORK === 'mainnet') rows.push(...mainnetProblems(values));
  return rows;
}

/** Real money is at stake there, so nothing is taken on trust. */
function mainnetProblems(values: ChainValues): ConfigProblem[] {
  const rows: ConfigProblem[] = [];
  const endpoints = values.CHAIN_RPC_URL?.length ?? MAINNET_ENDPOINTS_MIN;
  if (endpoints < MAINNET_ENDPOINTS_MIN) {
    const problem = 'must name two or more endpoints on mainnet, because one alone could lie: add another';
    rows.push({ variable: 'CHAIN_RPC_URL', given: HIDDEN, problem });
  }
  if (values.CONTRACTS_AUDIT === null) {
    const problem = 'is required on mainnet: state who audited the exchange contract, and when';
    rows.push({ variable: 'CONTRACTS_AUDIT', given: UNSET, problem });
  }
  for (const [variable, isGiven, instead] of [
    ['OPERATOR_KEYS', values.OPERATOR_KEYS !== null, 'use OPERATOR_SIGNER_URL'],
    ['ORACLE_KEY', values.ORACLE_KEY !== null, 'report results from elsewhere'],
  ] as const) {
    if (!isGiven || values.ALLOW_HOT_KEYS) continue;
    const problem = `is a key in the environment of mainnet: ${instead}, or set ALLOW_HOT_KEYS=1`;
    rows.push({ variable, given: HIDDEN, problem });
  }
  return rows;
}

export function chainConfig(values: ChainValues): ChainConfig {
  return {
    rpcUrls: values.CHAIN_RPC_URL ?? [],
    operatorKeys: values.OPERATOR_KEYS ?? [],
    operatorSignerUrl: values.OPERATOR_SIGNER_URL,
    oracleKey: values.ORACLE_KEY,
    oracleAddress: values.ORACLE_ADDRESS ?? '',
    publicRpcUrl: values.CHAIN_PUBLIC_RPC_URL,
    confirmations: values.CHAIN_CONFIRMATIONS,
    startBlock: values.CHAIN_START_BLOCK,
    gasPriceMaxWei: values.GAS_PRICE_MAX,
    unsettledMaxNewMicro: values.UNSETTLED_MAX_NEW,
    freshMaxMicro: values.FRESH_FUNDS_MAX,
  };
}

/** The configuration of a web process, which serves strangers: it uses no key, so it keeps none. */
export function withoutKeys<C extends { readonly chain: ChainConfig | null }>(config: C): C {
  const { chain } = config;
  if (chain === null || (chain.operatorKeys.length === 0 && chain.oracleKey === null)) return config;
  return { ...config, chain: { ...chain, operatorKeys: [], oracleKey: null } };
}

/** A worker settles, so it needs keys or a signer; web must have none. */
export const operatorProblem = (chain: ChainConfig): ConfigProblem | null =>
  chain.operatorKeys.length > 0 || chain.operatorSignerUrl !== null
    ? null
    : {
        variable: 'OPERATOR_KEYS',
        given: UNSET,
        problem: 'is required by a worker with FUNDS=chain: set it, or OPERATOR_SIGNER_URL',
      };
