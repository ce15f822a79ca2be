import type { ChainConfig } from '../config/chain';
import type { Config } from '../config/load';
import { createFaucet } from '../jobs/chain/faucet';
import { createOpenOnChain } from '../jobs/chain/open';
import { createFollowResults, createReportResults } from '../jobs/chain/resolve';
import { openChain, oracleOf } from './chain';
import type { Store } from './store';

/** The work of a worker with FUNDS=chain, besides that with paper funds. */
export function workOnChain(config: Config, chain: ChainConfig, store: Store) {
  const { rpc, node, conditions, finalBlock } = openChain(config, chain);
  const { chainRequests: requests, reads, ownMarkets: markets, marketList, scale } = store;
  const oracle = oracleOf(config, chain, node);
  const parts = {
    ...{ requests, conditions, finalBlock, markets, oracle },
    view: reads.view,
    marketIds: async () => (await marketList()).map(({ terms }) => terms.id),
  };
  const amount = BigInt(config.paperGrantMicro) * scale.microAmount;
  const hasFaucet = config.network === 'testnet' && oracle !== null;
  return {
    chores: [
      createOpenOnChain(parts),
      createReportResults(parts),
      createFollowResults(parts),
      ...(hasFaucet ? [createFaucet({ requests, conditions, oracle, amount })] : []),
    ],
    stop: () => rpc.stop(),
  };
}
