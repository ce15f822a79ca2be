import type { ChainBooks, ChainWork } from '../../app/extensions';
import { checksumAddress } from '../../auth/address';
import { createConversionReader } from '../../chain/conversions';
import { createEventReader } from '../../chain/exchange-events';
import type { ChainConfig } from '../../config/chain';
import type { Config } from '../../config/load';
import { otherFundsOf } from '../../store/chain/funds';
import type { Markets } from '../../store/markets/markets';
import { createPlainLease } from '../../store/outbox/lease';
import { settlementId } from '../../store/records/settlement';
import type { Settlements } from '../../store/settlement/settlements';
import type { Engine } from '../../store/verbs/engine';
import type { BooksParts } from './books';
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
import { createIntents } from './store/intents';
import { createChainLedger } from './store/ledger';
import { createSendable, unsettledMarkets } from './store/sendable';
import { createWithdrawals } from './store/withdrawals';

const CANCEL_EVERY_MS = 1_000;

interface WorkParts extends BooksParts, OpenChain, Pick<ChainBooks, 'ledger' | 'requests'> {
  readonly engine: Engine;
  readonly settlements: Settlements;
  /** The markets of Redis, which follow the chain. */
  readonly ownMarkets: Markets;
}

/** Brings the state of the chain into the books, in one worker at a time. */
function observe(config: Config, { startBlock }: ChainConfig, parts: WorkParts) {
  const { engine, reads, settlements, rpc, blocks, wallets, contracts, log } = parts;
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
function operate(config: Config, chain: ChainConfig, parts: WorkParts) {
  const { reads, settlements, rpc, contracts, ledger, log } = parts;
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
export function workOnChain(config: Config, chain: ChainConfig, parts: WorkParts): ChainWork {
  const { requests, conditions, ledger, scale } = parts;
  const oracle = oracleOf(config, chain, parts.rpc);
  const tasked = {
    requests,
    conditions,
    oracle,
    finalBlock: parts.finalBlock,
    markets: parts.ownMarkets,
    view: parts.reads.view,
    allMarkets: parts.marketList,
    now: parts.clock.now,
    unsettledMarkets: () => unsettledMarkets(parts),
  };
  const observer = observe(config, chain, parts);
  const operator = operate(config, chain, parts);
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
