import { createEventReader } from '../chain/exchange-events';
import type { ChainConfig } from '../config/chain';
import type { Config } from '../config/load';
import { Refusal } from '../exchange/errors';
import { createFaucet } from '../jobs/chain/faucet';
import { createObservation } from '../jobs/chain/observation';
import { startObserver } from '../jobs/chain/observe';
import { createOpenOnChain } from '../jobs/chain/open';
import { createFollowResults, createReportResults } from '../jobs/chain/resolve';
import type { Logger } from '../log';
import { createPlainLease } from '../store/outbox/lease';
import { oracleOf } from './chain';
import type { Store } from './store';

/** Brings what the chain says into the books, in one worker at a time. */
function observe(books: NonNullable<Store['books']>, store: Store, log: Logger) {
  const { ledger, rpc, blocks, wallets, contracts } = books;
  const { engine, reads } = store;
  const observation = createObservation({
    ...{ blocks, wallets },
    events: createEventReader(rpc, contracts.exchangeAddress),
    ledger,
    async tokensOf(marketId) {
      const market = await reads.market(marketId);
      if (market === null) throw new Error(`the chain names the unknown market ${marketId}`);
      return market.terms.tokenIds;
    },
    async withdraw(withdrawals) {
      for (const one of withdrawals) {
        // A raised nonce comes with the reading of the wallet.
        if (one.kind === 'order')
          await engine.cancel(null, one.wallet, one.orderHash, 'USER').catch(unlessUnknown);
      }
    },
  });
  const running = startObserver({
    lease: createPlainLease(store, store.keys.observerLease),
    observation,
    halt: (reason) => engine.setMode('HALTED', `the chain: ${reason}`),
    onError: (error) => log.warn({ err: error.message }, 'observing the chain'),
  });
  return { state: observation.state, stop: running.stop };
}

/** Any wallet may cancel any order on the chain, also one that was never here. */
function unlessUnknown(error: unknown): void {
  if (!(error instanceof Refusal && error.code === 'ORDER_NOT_FOUND')) throw error;
}

/** The work of a worker with FUNDS=chain, besides that with paper funds. */
export function workOnChain(config: Config, chain: ChainConfig, store: Store, log: Logger) {
  const { books, chainRequests: requests, reads, ownMarkets: markets, marketList, scale } = store;
  if (books === null) throw new Error('the store was opened without a chain');
  const { node, conditions, finalBlock } = books;
  const oracle = oracleOf(config, chain, node);
  const parts = {
    ...{ requests, conditions, finalBlock, markets, oracle },
    view: reads.view,
    marketIds: async () => (await marketList()).map(({ terms }) => terms.id),
  };
  const observer = observe(books, store, log);
  const amount = BigInt(config.paperGrantMicro) * scale.microAmount;
  const hasFaucet = config.network === 'testnet' && oracle !== null;
  return {
    chores: [
      createOpenOnChain(parts),
      createReportResults(parts),
      createFollowResults(parts),
      ...(hasFaucet ? [createFaucet({ requests, conditions, oracle, amount })] : []),
    ],
    async stop() {
      await observer.stop();
    },
  };
}
