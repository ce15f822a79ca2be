import type { WorkerPart } from '../../app/extensions';
import type { Store } from '../../app/store';
import { checksumAddress } from '../../auth/address';
import type { ChainConfig } from '../../config/chain';
import { partAt } from '../../store/lists/list';
import type { Markets } from '../../store/markets/markets';
import { createPlainLease } from '../../store/outbox/lease';
import { settlementId } from '../../store/records/settlement';
import type { ChainBooks } from './books';
import { createConversionReader } from './contracts/conversions';
import { createEventReader } from './contracts/exchange-events';
import { createFaucet } from './jobs/faucet';
import { createObservation } from './jobs/observation';
import { startObserver } from './jobs/observe';
import { createOpenOnChain } from './jobs/open';
import { startOperator } from './jobs/operate';
import { createServeOracle, type OracleTask } from './jobs/oracle';
import { createReadRecorded } from './jobs/recorded';
import { createFollowResults, createReportResults } from './jobs/resolve';
import { haltingOnOther, haltingOnUnknown } from './jobs/unknown';
import { createWithdraw } from './jobs/withdraw';
import { type OpenChain, oracleOf, signerOf } from './nodes';
import { observerSamples, spentSamples } from './samples';
import { otherFundsOf } from './store/funds';
import { createIntents } from './store/intents';
import { createChainLedger } from './store/ledger';
import { createSendable, unsettledMarkets } from './store/sendable';
import { createWithdrawals } from './store/withdrawals';

const CANCEL_EVERY_MS = 1_000;

/** The store, with the books in place of what is different with paper funds. */
interface WorkParts
  extends Omit<Store, 'markets'>,
    OpenChain,
    Pick<ChainBooks, 'ledger' | 'requests' | 'reads'> {
  /** The markets of Redis, which follow the chain. */
  readonly ownMarkets: Markets;
}

/** Brings the state of the chain into the books, in one worker at a time. */
function observe({ startBlock }: ChainConfig, parts: WorkParts) {
  const { config, engine, reads, settlements, rpc, blocks, wallets, contracts, log } = parts;
  const halt = (reason: string): Promise<unknown> => engine.setMode('HALTED', `the chain: ${reason}`);
  const haltOnUnknown = haltingOnUnknown(halt);
  const haltOnOther = haltingOnOther(halt);
  const ledger = createChainLedger({
    ...parts,
    async onUnknown(settlements) {
      log.error({ settlements }, 'the chain settled matches that the books lack');
      await haltOnUnknown(settlements);
    },
  });
  const observation = createObservation({
    blocks,
    wallets,
    startBlock,
    events: createEventReader(rpc, contracts.exchangeAddress),
    conversions: createConversionReader(rpc, {
      exchange: contracts.exchangeAddress,
      collateral: contracts.collateralAddress,
      conditionalTokens: contracts.conditionalTokensAddress,
    }),
    marketOf: async (conditionId) => (await reads.market(conditionId))?.terms ?? null,
    ledger: {
      ...ledger,
      async observeBlock(from, ...said) {
        // A Redis that lost everything while this process runs has lost the note of its start, too.
        const other = from === null ? await otherFundsOf(config, parts) : null;
        if (other !== null) throw new Error(other);
        return ledger.observeBlock(from, ...said);
      },
    },
    async tokensOf(marketId) {
      const market = await reads.market(marketId);
      // The name of another market may look like an id.
      return market?.terms.id === marketId ? market.terms.tokenIds : null;
    },
    recorded: createReadRecorded(settlements),
    async onOther(settled) {
      log.error(
        { settled: settled.map(settlementId) },
        'the chain settled other orders or amounts than were matched',
      );
      await haltOnOther(settled);
    },
    withdraw: createWithdraw({ engine, withdrawals: createWithdrawals(parts) }),
  });
  const running = startObserver({
    lease: createPlainLease(parts, parts.keys.observerLease),
    observation,
    halt,
    onError: (error) => log.warn({ err: error.message }, 'observing the chain'),
  });
  return { state: observation.state, stop: running.stop };
}

/** Settles matches, in the lanes of which this worker gets the leases. */
function operate(chain: ChainConfig, parts: WorkParts) {
  const { config, reads, settlements, rpc, contracts, ledger, log } = parts;
  const { signer } = signerOf(chain);
  return startOperator({
    rpc,
    signer,
    settlements,
    chainId: config.chainId,
    gasPriceMaxWei: chain.gasPriceMaxWei,
    intents: createIntents(parts),
    sendable: createSendable(parts),
    async termsOf(marketId) {
      const market = await reads.market(marketId);
      if (market === null) throw new Error(`a settlement names the unknown market ${marketId}`);
      return market.terms;
    },
    finalBlock: async () => (await ledger.finalBlock())?.number ?? null,
    withCode: ledger.withCode,
    fail: ledger.voidSettlement,
    checksum: checksumAddress,
    exchange: contracts.exchangeAddress,
    collateral: contracts.collateralAddress,
    onError: (error) => log.warn({ err: error.message }, 'settling on the chain'),
  });
}

/** The work of a worker with FUNDS=chain, besides that with paper funds. */
export function workOnChain(chain: ChainConfig, store: Store, books: ChainBooks): WorkerPart {
  const { rpc, blocks, wallets, contracts, conditions, finalBlock, ledger, requests } = books;
  const parts: WorkParts = {
    ...store,
    rpc,
    blocks,
    wallets,
    contracts,
    conditions,
    finalBlock,
    ledger,
    requests,
    ownMarkets: partAt(store.partitions, 0).markets,
  };
  const { config, scale } = store;
  const oracle = oracleOf(config, chain, rpc);
  const tasked = {
    requests,
    conditions,
    oracle,
    finalBlock,
    markets: parts.ownMarkets,
    view: parts.reads.view,
    allMarkets: parts.marketList,
    now: parts.clock.now,
    unsettledMarkets: () => unsettledMarkets(parts),
  };
  const observer = observe(chain, parts);
  const operator = operate(chain, parts);
  const amount = BigInt(config.paperGrantMicro) * scale.microAmount;
  const hasFaucet = config.network === 'testnet' && oracle !== null;
  const tasks: readonly OracleTask[] = [
    ['opening markets', createOpenOnChain(tasked)],
    ['reporting results', createReportResults(tasked)],
    ...(hasFaucet ? [['the faucet', createFaucet({ requests, conditions, oracle, amount })] as const] : []),
  ];
  return {
    samples: () => [...observerSamples(observer.state()), ...spentSamples(operator.spent())],
    chores: [
      createServeOracle(tasks),
      createFollowResults(tasked),
      {
        name: 'cancel-unpaid',
        everyMs: CANCEL_EVERY_MS,
        async run() {
          await ledger.cancelUnpaid();
        },
      },
    ],
    async stop() {
      oracle?.stop();
      await Promise.all([observer.stop(), operator.stop()]);
    },
  };
}
