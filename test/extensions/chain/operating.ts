import { Redis } from 'ioredis';
import { createBlocks } from '../../../src/chain/blocks';
import { binaryMarketIds } from '../../../src/chain/ctf';
import { EXCHANGE, type MatchName, matchOf } from '../../../src/chain/exchange-contract';
import { createRpc } from '../../../src/chain/rpc';
import type { Side } from '../../../src/exchange/match';
import { orderOf, type SignedOrder } from '../../../src/exchange/order';
import { lots, micro } from '../../../src/exchange/units';
import { createConversionReader } from '../../../src/extensions/chain/contracts/conversions';
import { createEventReader } from '../../../src/extensions/chain/contracts/exchange-events';
import { createWalletLookup } from '../../../src/extensions/chain/contracts/wallet-lookup';
import { createWalletReader } from '../../../src/extensions/chain/contracts/wallet-reader';
import { createObservation } from '../../../src/extensions/chain/jobs/observation';
import { startObserver } from '../../../src/extensions/chain/jobs/observe';
import type { Operator } from '../../../src/extensions/chain/jobs/operate';
import { createReadRecorded } from '../../../src/extensions/chain/jobs/recorded';
import { noteFunds } from '../../../src/extensions/chain/store/funds';
import { createIntents } from '../../../src/extensions/chain/store/intents';
import { createChainLedger } from '../../../src/extensions/chain/store/ledger';
import { createSettle } from '../../../src/jobs/settle';
import { runProbe } from '../../../src/store/health/health';
import { createMarkets } from '../../../src/store/markets/markets';
import { createPlainLease } from '../../../src/store/outbox/lease';
import { settlementId } from '../../../src/store/records/settlement';
import { packSigned } from '../../../src/store/records/signed-order';
import { createClock } from '../../../src/store/redis/clock';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts, scriptSources } from '../../../src/store/redis/scripts';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { createEngine } from '../../../src/store/verbs/engine';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { PLAIN_TERMS } from '../../support/engine-order';
import { startTestRedis } from '../../support/redis';
import { sleep, until } from '../../support/waiting';
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
export async function startOperating({ lanes = 2, blockMs = BLOCK_MS } = {}) {
  const world = await startWorld({ slotsInAnEpoch: 1 });
  const { chain, exchange, collateral, ctf: conditionalTokens } = world;
  await chain.ask('evm_setBlockGasLimit', BLOCK_GAS);
  const operators = Array.from({ length: lanes }, newTrader);
  for (const { address } of operators) {
    await chain.ask('anvil_setBalance', address, `0x${GAS_MONEY_WEI.toString(16)}`);
    await world.call(world.admin.address, 'addOperator', address);
  }
  // As web wants it (checked.ts).
  const server = await startTestRedis({ appendonly: 'always' });
  const redis = new Redis(server.url);
  const run = createScripts(redis, scriptSources('chain'));
  const keys = createKeys();
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
    run,
    keys,
    grantMicro: micro(0),
    makersMax: 256,
    chain: { unsettledMaxNewMicro: UNLIMITED, freshMaxMicro: micro(0), see, approval },
  });
  const settlements = createSettlements({ redis, run, keys, funds: 'chain' });
  const matches = createMatches({ redis, run, keys, settlements, funds: 'chain' });
  const ctfIds = (oracle: string, questionId: string) => binaryMarketIds({ oracle, questionId, collateral });
  const markets = createMarkets({ engine, clock, defaultOracle: world.deployer, ctfIds });
  const made = { question: 'Does it settle?', feeRateBps: 0, minOrderLots: lots(1) };
  const { terms } = await markets.create(made);
  const { conditionId, questionId, tokenIds } = terms;
  const prepare = ctfAbi.encodeFunctionData('prepareCondition', [world.deployer, questionId, 2]);
  await chain.send(world.deployer, conditionalTokens, prepare);
  await world.call(world.operator.address, 'registerToken', ...tokenIds, conditionId);

  const [halts, others]: [string[], string[]] = [[], []];
  const observation = createObservation({
    blocks,
    wallets,
    tokensOf,
    events: createEventReader(rpc, exchange),
    conversions: createConversionReader(rpc, { exchange, collateral, conditionalTokens }),
    marketOf: async () => terms,
    recorded: createReadRecorded(settlements),
    onOther: async (settled) => void others.push(...settled.map(settlementId)),
    withdraw: async () => undefined,
    ledger: createChainLedger({
      redis,
      run,
      keys,
      scale: SCALE,
      onUnknown: async (unknown) => void halts.push(...unknown.map(settlementId)),
    }),
  });
  const settle = createSettle({
    matches,
    settlements,
    scale: SCALE,
    funds: 'chain',
    termsOf: async () => terms,
  });

  /** A signed order, by default a BUY. */
  function order(trader: Trader, outcome: 0 | 1, pips: number, size: number, side: Side = 0): PlaceRequest {
    const amounts = [BigInt(size * pips) * SCALE.microAmount, BigInt(size) * SCALE.lotAmount] as const;
    const [makerAmount, takerAmount] = side === 0 ? amounts : [amounts[1], amounts[0]];
    const tokenId = BigInt(terms.tokenIds[outcome]);
    const signed: SignedOrder = world.sign(trader, { tokenId, side, makerAmount, takerAmount });
    const maker = trader.address.toLowerCase();
    return {
      marketId: terms.id,
      orderHash: world.hashOf(signed),
      maker,
      orderType: 'GTC',
      ...PLAIN_TERMS,
      order: orderOf(signed, outcome, 'GTC', terms, SCALE),
      signed: packSigned({ ...signed, maker, signer: maker }, Buffer.from(signed.signature.slice(2), 'hex')),
    };
  }

  /** Two wallets buy Yes and No of each other. */
  async function fill(maker: Trader, taker: Trader): Promise<Key> {
    await engine.place(order(maker, 1, 4_000, 10));
    const { record } = await engine.place(order(taker, 0, 6_000, 10));
    return { marketId: terms.id, tradeMs: record.fillMs, sequence: record.sequence, part: 0 };
  }

  /** Writes the records of a match, which wait to be sent then. */
  async function write(key: Key): Promise<Key> {
    const [failure] = await settle([key]);
    if (failure) throw failure.error;
    return key;
  }
  const match = async (maker: Trader, taker: Trader): Promise<Key> => write(await fill(maker, taker));

  /** A wallet with collateral, full sets, and both approvals, which the books have read. */
  async function trader(cash = 1_000n * ONE, sets = 0n): Promise<Trader> {
    const one = newTrader();
    const [yes = 0n, no = 0n] = tokenIds.map(BigInt);
    await world.fund(one.address, cash, { conditionId, tokens: [yes, no] }, sets);
    const funded = Number(await chain.ask<string>('eth_blockNumber'));
    const isFinal = async () => ((await ledger.finalBlock())?.number ?? 0) >= funded;
    await until('a trader has funds in the books', isFinal, { explain: () => errors.join() });
    return one;
  }

  const errors: string[] = [];
  const running = new Set<Operator>();
  const lanesOf = (some: readonly number[]): TestOperatorOptions => ({
    redisUrl: server.url,
    nodeUrls: [world.anvil.url],
    exchange,
    collateral,
    terms,
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
      fromBlock: '0x0',
      address: exchange,
      topics,
    });
    return logs.map((log) => matchOf(BigInt(log.topics[1] ?? 0)));
  }

  let isOver = false;
  let isMining = true;
  async function mine(): Promise<void> {
    for (let due = performance.now(); !isOver; due = Math.max(due + blockMs, performance.now())) {
      if (isMining) await chain.ask('evm_mine');
      await sleep(due + blockMs - performance.now());
    }
  }
  await chain.ask('evm_setAutomine', false);
  const mining = mine();
  const observer = startObserver({
    lease: createPlainLease({ run, keys }, keys.observerLease),
    observation,
    halt: async (reason) => halts.push(reason),
    onError: (error) => errors.push(`observer: ${error.message}`),
  });
  await until('the books have a block', async () => (await ledger.finalBlock()) !== null);

  return {
    world,
    redis,
    keys,
    run,
    clock,
    engine,
    matches,
    settlements,
    intents: createIntents({ redis, run, keys }),
    ledger,
    terms,
    operators,
    server,
    errors,
    halts,
    others,
    order,
    fill,
    write,
    match,
    trader,
    operate,
    lanesOf,
    settled,
    mine(on: boolean) {
      isMining = on;
    },
    statusOf: async (key: MatchName) => (await settlements.find(key))?.settlementStatus,
    async stop() {
      for (const operator of running) await operator.stop();
      await observer.stop();
      isOver = true;
      await mining;
      rpc.stop();
      redis.disconnect();
      await server.stop();
      await world.stop();
    },
  };
}
