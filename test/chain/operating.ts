import { Redis } from 'ioredis';
import { createBlocks } from '../../src/chain/blocks';
import { binaryMarketIds } from '../../src/chain/ctf';
import { EXCHANGE, type MatchName, matchOf } from '../../src/chain/exchange-contract';
import { createEventReader } from '../../src/chain/exchange-events';
import { createRpc } from '../../src/chain/rpc';
import { createWalletLookup } from '../../src/chain/wallet-lookup';
import { createWalletReader } from '../../src/chain/wallet-reader';
import { orderOf, type SignedOrder } from '../../src/exchange/order';
import { lots, micro } from '../../src/exchange/units';
import { createObservation } from '../../src/jobs/chain/observation';
import type { Operator } from '../../src/jobs/chain/operate';
import { createSettle } from '../../src/jobs/settle';
import { noteFunds } from '../../src/store/chain/funds';
import { createIntents } from '../../src/store/chain/intents';
import { createChainLedger } from '../../src/store/chain/ledger';
import { runProbe } from '../../src/store/health/health';
import { createMarkets } from '../../src/store/markets/markets';
import { packSigned } from '../../src/store/records/signed-order';
import { createClock } from '../../src/store/redis/clock';
import { shardKeys } from '../../src/store/redis/keys';
import { createScripts, scriptSources } from '../../src/store/redis/scripts';
import { createMatches } from '../../src/store/settlement/matches';
import { createSettlements } from '../../src/store/settlement/settlements';
import { createEngine } from '../../src/store/verbs/engine';
import { PLAIN_TERMS } from '../support/engine-order';
import { startTestRedis } from '../support/redis';
import { sleep, until } from '../support/waiting';
import { SCALE, startTestOperator, type TestOperatorOptions } from './operator';
import { CHAIN_ID, ctfAbi, newTrader, ONE, startWorld, type Trader } from './world';

/** As many as BSC allows. */
const BLOCK_GAS = 100_000_000;
const GAS_MONEY_WEI = 10n ** 21n;
const BLOCK_MS = 200;
const UNLIMITED = micro(0);

export type Operating = Awaited<ReturnType<typeof startOperating>>;
export type Key = MatchName & { readonly tradeMs: number };

/** A chain with the contracts, the books of an exchange beside it, one market, and lanes that no operator holds yet. */
export async function startOperating({ lanes = 2 }: { lanes?: number } = {}) {
  const world = await startWorld({ slotsInAnEpoch: 1 });
  const { chain, exchange, collateral, ctf: conditionalTokens } = world;
  await chain.ask('evm_setBlockGasLimit', BLOCK_GAS);
  const operators = Array.from({ length: lanes }, newTrader);
  for (const { address } of operators) {
    await chain.ask('anvil_setBalance', address, `0x${GAS_MONEY_WEI.toString(16)}`);
    await world.call(world.admin.address, 'addOperator', address);
  }
  const server = await startTestRedis();
  const redis = new Redis(server.url);
  const run = createScripts(redis, scriptSources('chain'));
  const keys = shardKeys();
  await noteFunds(run, keys, { chainId: CHAIN_ID, exchange: exchange.toLowerCase(), hold: 'cost' });
  const clock = createClock(() => runProbe(run, keys));
  await clock.measure();
  const rpc = createRpc([world.anvil.url]);
  const blocks = createBlocks(rpc, { kind: 'tag' });
  const wallets = createWalletReader(rpc, { exchange, collateral, conditionalTokens });
  const ledger = createChainLedger({ redis, run, keys, scale: SCALE });
  const lookup = createWalletLookup(wallets, ledger.finalBlock);
  const tokensOf = async () => terms.tokenIds;

  async function see(address: string, marketId: string): Promise<void> {
    const markets = [{ marketId, tokenIds: terms.tokenIds }];
    await until('a wallet is read before the next block', async () => {
      const { at, reading } = await lookup.readWallet(address, markets);
      return ledger.observeWallets(at, [reading]);
    });
  }
  const approval = () => ({ token: collateral, spender: exchange });
  const engine = createEngine({
    ...{ run, keys, grantMicro: micro(0), makersMax: 500 },
    chain: { unsettledMaxNewMicro: UNLIMITED, see, approval },
  });
  const settlements = createSettlements({ redis, run, keys });
  const matches = createMatches({ redis, run, keys, settlements });
  const ctfIds = (oracle: string, questionId: string) => binaryMarketIds({ oracle, questionId, collateral });
  const markets = createMarkets({ engine, clock, defaultOracle: world.deployer, ctfIds });
  const made = { question: 'Does it settle?', feeRateBps: 0, minOrderLots: lots(1) };
  const { terms } = await markets.create(made);
  const { conditionId, questionId, tokenIds } = terms;
  const prepare = ctfAbi.encodeFunctionData('prepareCondition', [world.deployer, questionId, 2]);
  await chain.send(world.deployer, conditionalTokens, prepare);
  await world.call(world.operator.address, 'registerToken', ...tokenIds, conditionId);

  const observation = createObservation({
    ...{ blocks, wallets, tokensOf, events: createEventReader(rpc, exchange) },
    withdraw: async () => undefined,
    ledger,
  });
  const settle = createSettle({
    ...{ matches, settlements, scale: SCALE },
    funds: 'chain',
    termsOf: async () => terms,
  });

  async function place(trader: Trader, outcome: 0 | 1, pips: number, size: number) {
    const signed: SignedOrder = world.sign(trader, {
      tokenId: BigInt(terms.tokenIds[outcome]),
      makerAmount: BigInt(size) * BigInt(pips) * SCALE.microAmount,
      takerAmount: BigInt(size) * SCALE.lotAmount,
    });
    const maker = trader.address.toLowerCase();
    return engine.place({
      ...{ marketId: terms.id, orderHash: world.hashOf(signed), maker, orderType: 'GTC', ...PLAIN_TERMS },
      order: orderOf(signed, outcome, 'GTC', terms, SCALE),
      signed: packSigned({ ...signed, maker, signer: maker }, Buffer.from(signed.signature.slice(2), 'hex')),
    });
  }

  /** Two wallets buy Yes and No of each other. */
  async function fill(maker: Trader, taker: Trader): Promise<Key> {
    await place(maker, 1, 4_000, 10);
    const { record } = await place(taker, 0, 6_000, 10);
    return { marketId: terms.id, tradeMs: record.fillMs, sequence: record.sequence, part: 0 };
  }

  /** The same, and the record of the match waits to be sent. */
  async function match(maker: Trader, taker: Trader): Promise<Key> {
    const key = await fill(maker, taker);
    const [failure] = await settle([key]);
    if (failure) throw failure.error;
    return key;
  }

  async function trader(cash = 1_000n * ONE): Promise<Trader> {
    const one = newTrader();
    await world.fund(one.address, cash);
    const funded = Number(await chain.ask<string>('eth_blockNumber'));
    const isFinal = async () => ((await ledger.finalBlock())?.number ?? 0) >= funded;
    await until('a trader has funds in the books', isFinal, { explain: () => errors.join() });
    return one;
  }

  const errors: string[] = [];
  const running = new Set<Operator>();
  const lanesOf = (some: readonly number[]): TestOperatorOptions => ({
    ...{ redisUrl: server.url, nodeUrls: [world.anvil.url], exchange, terms },
    keys: some.map((n) => operators[n]?.key.privateKey ?? ''),
    onError: (message) => void errors.push(message),
  });
  function operate(some: readonly number[] = [0, 1], more: Partial<TestOperatorOptions> = {}): Operator {
    const operator = startTestOperator({ ...lanesOf(some), ...more });
    running.add(operator);
    return operator;
  }

  /** The matches that the chain has settled so far, one for each event. */
  async function settled(): Promise<MatchName[]> {
    const topics = [EXCHANGE.getEvent('MatchSettled')?.topicHash];
    const logs = await chain.ask<{ topics: string[] }[]>('eth_getLogs', {
      ...{ fromBlock: '0x0', address: exchange, topics },
    });
    return logs.map((log) => matchOf(BigInt(log.topics[1] ?? 0)));
  }

  let isOver = false;
  let isMining = true;
  /** Makes blocks, and brings them into the books. */
  async function turn(): Promise<void> {
    while (!isOver) {
      if (isMining) await chain.ask('evm_mine');
      try {
        await observation.stepFinal();
        await observation.stepHead();
      } catch (error) {
        errors.push(`observer: ${String(error)}`);
      }
      await sleep(BLOCK_MS);
    }
  }
  await chain.ask('evm_setAutomine', false);
  const turning = turn();
  await until('the books have a block', async () => (await ledger.finalBlock()) !== null);

  return {
    ...{ world, redis, keys, run, engine, settlements, intents: createIntents({ redis, run, keys }) },
    ...{ ledger, terms, operators, server, errors, place, fill, match, trader, operate, lanesOf, settled },
    mine(on: boolean) {
      isMining = on;
    },
    statusOf: async (key: MatchName) => (await settlements.find(key))?.settlementStatus,
    async stop() {
      for (const operator of running) await operator.stop();
      isOver = true;
      await turning;
      rpc.stop();
      redis.disconnect();
      await server.stop();
      await world.stop();
    },
  };
}
