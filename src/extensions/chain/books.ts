import type { ChainBooks } from '../../app/extensions';
import { contradiction } from '../../chain/examine';
import { claimCall, createOwedReader } from '../../chain/owed';
import { createWalletLookup } from '../../chain/wallet-lookup';
import type { ChainConfig } from '../../config/chain';
import type { Config } from '../../config/load';
import type { ChainScale } from '../../exchange/order';
import { micro } from '../../exchange/units';
import type { Logger } from '../../log';
import type { MarketList } from '../../store/reads/market-list';
import type { Reads } from '../../store/reads/reads';
import type { Clock } from '../../store/redis/clock';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient, RunScript } from '../../store/redis/scripts';
import { examineFunds, examineOptions } from './examine';
import { chainFacts, nodesSetAside, openChain } from './nodes';
import { chainSamples, failureSamples, unsettledSamples } from './samples';
import { watchCongestion } from './store/congestion';
import { createChainLedger } from './store/ledger';
import { accountReads } from './store/reads';
import { createChainRequests } from './store/requests';
import { CONGESTED, modeOnChain } from './store/standstill';
import { marketsOnChain, walletsOnChain } from './trade';
import { createWalletRefresh } from './wallet-refresh';
import { workOnChain } from './work';

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
  const examined = () => examineOptions(config, chainConfig, { chain, redis, run, keys, clock });
  return {
    ...chain,
    ledger,
    requests,
    reads,
    congestion,
    refusal: () => (congestion.isTooMuch() ? ['CANCEL_ONLY', CONGESTED] : null),
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
    examine: async () => examineFunds(chainConfig, await examined()),
    contradiction: async () => contradiction(await examined()),
    samples: [
      () => chainSamples({ redis, run, keys, clock, rpc, ledger, requests }),
      () => unsettledSamples(ledger),
      () => failureSamples({ redis, keys }),
    ],
    watched: () => nodesSetAside(rpc),
    work: (store) =>
      workOnChain(config, chainConfig, { ...parts, ...chain, ...store, ledger, requests, reads }),
    stop: rpc.stop,
  };
}
