import type { ChainConfig } from '../../config/chain';
import type { Config } from '../../config/load';
import type { ChainScale } from '../../exchange/order';
import { micro } from '../../exchange/units';
import type { Logger } from '../../log';
import type { NodeChecks } from '../../store/exchange';
import type { Markets } from '../../store/markets/markets';
import type { MarketList } from '../../store/reads/market-list';
import type { Reads } from '../../store/reads/reads';
import type { Clock } from '../../store/redis/clock';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient, RunScript } from '../../store/redis/scripts';
import type { Engine } from '../../store/verbs/engine';
import type { ChainPlacing } from '../../store/verbs/place';
import type { ChainConfigFacts } from '../../wire/answers/chain';
import { contradiction, type ExamineOptions } from './contracts/examine';
import { claimCall, createOwedReader } from './contracts/owed';
import { createWalletLookup } from './contracts/wallet-lookup';
import { examineFunds, examineOptions } from './examine';
import { chainFacts, type OpenChain, openChain } from './nodes';
import { type Congestion, watchCongestion } from './store/congestion';
import { type ChainLedger, createChainLedger } from './store/ledger';
import { accountReads } from './store/reads';
import { type ChainRequests, createChainRequests } from './store/requests';
import { modeOnChain } from './store/standstill';
import { marketsOnChain, walletsOnChain } from './trade';
import { createWalletRefresh } from './wallet-refresh';

/** The books of funds on a chain, with what they replace in an exchange with paper funds. */
export interface ChainBooks extends OpenChain {
  readonly ledger: ChainLedger;
  /** What waits for the worker that follows the chain. */
  readonly requests: ChainRequests;
  /** Accounts and the mode follow the chain. */
  readonly reads: Reads;
  /** How the script that books orders sees funds. */
  readonly placing: ChainPlacing;
  /** Wallets split, merge, redeem and raise nonces themselves, and the worker serves the faucet. */
  engine(own: Engine): Engine;
  /** A market opens once the chain knows it, and ends as its oracle reports there. */
  markets(own: Markets): Markets;
  readonly congestion: Congestion;
  /** Reads the wallet from the chain, unless the books have seen it lately. */
  refresh(wallet: string): Promise<void>;
  /** Member of GET /config. */
  readonly facts: ChainConfigFacts;
  readonly nodes: NodeChecks;
}

export interface BooksParts {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly scale: ChainScale;
  /** Those of paper funds. */
  readonly reads: Reads;
  readonly marketList: MarketList;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The books of funds on a chain, and the chain that they follow. */
export function openBooks(config: Config, chainConfig: ChainConfig, parts: BooksParts): ChainBooks {
  const { redis, run, keys, scale, marketList, clock, log } = parts;
  const chain = openChain(config, chainConfig, log);
  const { rpc, contracts } = chain;
  const { exchangeAddress, collateralAddress, conditionalTokensAddress } = contracts;
  const { unsettledMaxNewMicro, freshMaxMicro } = chainConfig;
  const { market } = parts.reads;
  const now = clock.now;
  const ledger = createChainLedger({
    redis,
    run,
    keys,
    scale,
    onUnknown: async (settlements) =>
      log.error({ settlements }, 'the chain settled matches that the books lack'),
  });
  const congestion = watchCongestion({ redis, keys, now });
  const requests = createChainRequests({ redis, keys, now });
  const { see, refresh, owed } = createWalletRefresh({
    lookup: createWalletLookup(chain.wallets, ledger.finalBlock),
    observing: ledger,
    accounts: ledger,
    market,
    marketList,
    owing: {
      ...createOwedReader(rpc, exchangeAddress),
      call: (wallet, asset) => claimCall(exchangeAddress, wallet, asset),
    },
    toMicro: (units) => micro(Number(units / scale.microAmount)),
    onError: (error) => log.warn({ err: error.message }, 'reading a wallet from the chain'),
  });
  const reads: Reads = {
    ...parts.reads,
    ...accountReads({ owed, accounts: ledger, market, unsettledMaxNewMicro, now }),
    mode: modeOnChain({ mode: parts.reads.mode, cursor: ledger.cursor, congestion, now }),
  };
  const examined = (): Promise<ExamineOptions> =>
    examineOptions(config, chainConfig, { chain, redis, run, keys, clock });
  return {
    ...chain,
    ledger,
    requests,
    reads,
    congestion,
    refresh,
    facts: chainFacts(chainConfig, contracts),
    placing: {
      unsettledMaxNewMicro,
      freshMaxMicro,
      see,
      approval: (asset) => ({
        spender: exchangeAddress,
        token: asset === 'COLLATERAL' ? collateralAddress : conditionalTokensAddress,
      }),
    },
    engine: (own) => ({
      ...own,
      ...walletsOnChain(config.network, { requests, reads, see, scale, contracts }),
    }),
    markets: (own) =>
      marketsOnChain(own, {
        requests,
        contracts,
        view: reads.view,
        oracleAddress: chainConfig.oracleAddress,
        clock: now,
        resolveDelayMs: config.resolveDelayMs,
      }),
    nodes: {
      examine: async () => examineFunds(chainConfig, await examined()),
      contradiction: async () => contradiction(await examined()),
    },
  };
}
