import { claimCall, createOwedReader } from '../chain/owed';
import { createWalletLookup } from '../chain/wallet-lookup';
import type { ChainConfig } from '../config/chain';
import type { Config } from '../config/load';
import type { ChainScale } from '../exchange/order';
import { micro } from '../exchange/units';
import type { Logger } from '../log';
import { watchCongestion } from '../store/chain/congestion';
import { noteFunds, otherFunds, readFunds } from '../store/chain/funds';
import { createChainLedger } from '../store/chain/ledger';
import { modeOnChain } from '../store/chain/standstill';
import type { MarketList } from '../store/reads/market-list';
import { accountReads } from '../store/reads/on-chain';
import type { Reads } from '../store/reads/reads';
import type { Clock } from '../store/redis/clock';
import type { ShardKeys } from '../store/redis/keys';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import type { ChainPlacing } from '../store/verbs/place';
import { openChain } from './chain';
import { createWalletRefresh } from './wallet-refresh';

interface Door {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
}

interface BooksParts extends Door {
  readonly scale: ChainScale;
  /** Those of paper funds. */
  readonly reads: Reads;
  readonly marketList: MarketList;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Null for paper funds. */
const markOf = (config: Config) =>
  config.chain && {
    chainId: config.chainId,
    exchange: config.exchangeAddress.toLowerCase(),
    hold: 'cost' as const,
  };

/** Returns the reason why this program must not use the data; it notes the chain of empty data. */
export async function otherFundsOf(config: Config, { redis, run, keys }: Door): Promise<string | null> {
  const own = markOf(config);
  return otherFunds(own, own === null ? await readFunds(redis, keys) : await noteFunds(run, keys, own));
}

/** The same without a note, for a program that may only look. */
export async function otherFundsSeen(
  config: Config,
  { redis, keys }: Pick<Door, 'redis' | 'keys'>,
): Promise<string | null> {
  const own = markOf(config);
  const noted = await readFunds(redis, keys);
  const isEmpty = noted === null && (await redis.exists(keys.markets)) === 0;
  return own !== null && isEmpty ? null : otherFunds(own, noted);
}

/** The books of funds on a chain, and the chain that they follow. */
export function openBooks(config: Config, chainConfig: ChainConfig, parts: BooksParts) {
  const { redis, run, keys, scale, marketList, clock, log } = parts;
  const chain = openChain(config, chainConfig, log);
  const ledger = createChainLedger({
    redis,
    run,
    keys,
    scale,
    onUnknown: async (settlements) =>
      log.error({ settlements }, 'the chain settled matches that the books lack'),
  });
  const { market } = parts.reads;
  const congestion = watchCongestion({ redis, keys, now: clock.now });
  const mode = modeOnChain({ mode: parts.reads.mode, cursor: ledger.cursor, congestion, now: clock.now });
  const { exchangeAddress, collateralAddress, conditionalTokensAddress } = chain.contracts;
  const seeing = createWalletRefresh({
    lookup: createWalletLookup(chain.wallets, ledger.finalBlock),
    observing: ledger,
    accounts: ledger,
    market,
    marketList,
    owing: {
      ...createOwedReader(chain.rpc, exchangeAddress),
      call: (wallet, asset) => claimCall(exchangeAddress, wallet, asset),
    },
    toMicro: (units) => micro(Number(units / scale.microAmount)),
    onError: (error) => log.warn({ err: error.message }, 'reading a wallet from the chain'),
  });
  const { unsettledMaxNewMicro, freshMaxMicro } = chainConfig;
  const placing: ChainPlacing = {
    unsettledMaxNewMicro,
    freshMaxMicro,
    see: seeing.see,
    approval: (asset) => ({
      spender: exchangeAddress,
      token: asset === 'COLLATERAL' ? collateralAddress : conditionalTokensAddress,
    }),
  };
  const own = accountReads({
    owed: seeing.owed,
    accounts: ledger,
    market,
    unsettledMaxNewMicro,
    now: clock.now,
  });
  const reads = { ...parts.reads, ...own, mode };
  return { ...chain, ledger, congestion, seeing, placing, reads };
}
