import { Redis } from 'ioredis';
import { binaryMarketIds } from '../../../src/chain/ctf';
import { RpcUnavailable } from '../../../src/chain/endpoint';
import { createRpc } from '../../../src/chain/rpc';
import { Refusal } from '../../../src/exchange/errors';
import type { MarketTerms } from '../../../src/exchange/market';
import type { Side } from '../../../src/exchange/match';
import { orderOf, type SignedOrder } from '../../../src/exchange/order';
import { partsOf } from '../../../src/exchange/settlement';
import type { OrderType } from '../../../src/exchange/status';
import { lots, micro } from '../../../src/exchange/units';
import { createWalletLookup } from '../../../src/extensions/chain/contracts/wallet-lookup';
import { createWalletReader } from '../../../src/extensions/chain/contracts/wallet-reader';
import { noteFunds } from '../../../src/extensions/chain/store/funds';
import { createIntents } from '../../../src/extensions/chain/store/intents';
import { createChainLedger } from '../../../src/extensions/chain/store/ledger';
import { runProbe } from '../../../src/store/health/health';
import { createMarkets } from '../../../src/store/markets/markets';
import {
  type SettlementKey,
  settlementId,
  settlementName,
  settlementStatusOf,
} from '../../../src/store/records/settlement';
import { packSigned } from '../../../src/store/records/signed-order';
import { createClock } from '../../../src/store/redis/clock';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts, scriptSources } from '../../../src/store/redis/scripts';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { createEngine } from '../../../src/store/verbs/engine';
import { startDurableRedis } from '../../support/durable-redis';
import { PLAIN_TERMS } from '../../support/engine-order';
import { until } from '../../support/waiting';
import { environmentOf, startCheckedWeb } from './checked';
import { startNodes } from './nodes';
import { SCALE } from './operator';
import { type ContractKind, type ContractTrader, createContractTrader } from './storm-contracts';
import { createMiner } from './storm-miner';
import { createWorkers } from './storm-workers';
import { CHAIN_ID, ctfAbi, newTrader, startWorld, type Trader } from './world';

const { isStale } = require('../../../scripts/build.js') as { isStale(): boolean };

/** As many as BSC allows. */
const BLOCK_GAS = '0x5f5e100';
const GAS_MONEY = `0x${(10n ** 21n).toString(16)}`;
const LANES = 2;
const NODES = 3;
/** No limit of what may wait for the chain. */
const UNLIMITED = micro(0);

export interface Terms {
  readonly market: MarketTerms;
  readonly side: Side;
  readonly outcome: 0 | 1;
  readonly pips: number;
  readonly lots: number;
  readonly type: OrderType;
  /** What a MARKET BUY pays besides the whole lots at its limit. */
  readonly extraMicro: number;
}
export interface Placed extends Terms {
  readonly hash: string;
  readonly maker: string;
  readonly signed: SignedOrder;
}

/** The key of a contract signs nothing. */
export interface StormTrader extends Trader {
  readonly contract?: ContractTrader | undefined;
}

export type StormWorld = Awaited<ReturnType<typeof startStormWorld>>;

/**
 * An exchange whose worker is the built program, in a process of its own, and talks to a chain over three nodes that can
 * misbehave. Orders are placed in the test's process, by the engine that web uses. One market for each fee rate.
 */
export async function startStormWorld(feeRates: readonly number[]) {
  if (isStale()) throw new Error('dist is older than the sources: npm run build');
  const world = await startWorld({ slotsInAnEpoch: 1 });
  const nodes = await startNodes(NODES, world.anvil);
  const { chain, exchange, collateral, ctf } = world;
  await chain.ask('evm_setBlockGasLimit', BLOCK_GAS);
  const lanes = Array.from({ length: LANES }, newTrader);
  for (const { address } of lanes) {
    await chain.ask('anvil_setBalance', address, GAS_MONEY);
    await world.call(world.admin.address, 'addOperator', address);
  }
  const server = await startDurableRedis({ appendonly: 'always' });
  const redis = new Redis(server.url);
  const run = createScripts(redis, scriptSources('chain'));
  const keys = createKeys();
  await noteFunds(run, keys, { chainId: CHAIN_ID, exchange: exchange.toLowerCase(), hold: 'cost' });
  const clock = createClock(() => runProbe(run, keys));
  await clock.measure();
  const rpc = createRpc([world.anvil.url]);
  const wallets = createWalletReader(rpc, { exchange, collateral, conditionalTokens: ctf });
  const ledger = createChainLedger({ redis, run, keys, scale: SCALE });
  const lookup = createWalletLookup(wallets, ledger.finalBlock);
  const terms: MarketTerms[] = [];
  async function see(address: string, ...marketIds: readonly string[]): Promise<void> {
    const some = terms.filter(({ id }) => marketIds.includes(id));
    const list = some.map(({ id, tokenIds }) => ({ marketId: id, tokenIds }));
    await until('a wallet is read before the next block', async () => {
      const found = await lookup.readWallet(address.toLowerCase(), list).catch(unlessLate);
      return found !== null && ledger.observeWallets(found.at, [found.reading]);
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
  const ctfIds = (oracle: string, questionId: string) => binaryMarketIds({ oracle, questionId, collateral });
  const markets = createMarkets({ engine, clock, defaultOracle: world.deployer, ctfIds });
  for (const feeRateBps of feeRates) {
    const made = await markets.create({
      question: `A fee of ${feeRateBps}?`,
      feeRateBps,
      minOrderLots: lots(1),
    });
    const { questionId, tokenIds, conditionId } = made.terms;
    const prepare = ctfAbi.encodeFunctionData('prepareCondition', [world.deployer, questionId, 2]);
    await chain.send(world.deployer, ctf, prepare);
    await world.call(world.operator.address, 'registerToken', ...tokenIds, conditionId);
    terms.push(made.terms);
  }

  /** One account pays for the transactions of all contracts, so they are made one after the other. */
  let contracts: Promise<unknown> = Promise.resolve();
  /** A wallet with collateral and full sets of each market, and both approvals. */
  function trader(cash: bigint, sets: bigint, kind: ContractKind | 'key' = 'key'): Promise<StormTrader> {
    if (kind === 'key') return makeTrader(cash, sets, kind);
    const made = contracts.then(() => makeTrader(cash, sets, kind));
    contracts = made.catch(() => undefined);
    return made;
  }
  async function makeTrader(cash: bigint, sets: bigint, kind: ContractKind | 'key'): Promise<StormTrader> {
    const contract = kind === 'key' ? undefined : await createContractTrader(chain, kind);
    const { key, address } = newTrader();
    const one = { key, contract, address: contract?.address ?? address };
    const send = contract && ((to: string, data: string) => contract.execute([{ to, data }]));
    await world.fund(one.address, cash, undefined, 0n, send);
    for (const { conditionId, tokenIds } of terms) {
      const tokens = tokenIds.map(BigInt) as [bigint, bigint];
      await world.fund(one.address, 0n, { conditionId, tokens }, sets, send);
    }
    return one;
  }

  const orders = new Map<string, Placed>();
  /** Every settlement that was made, by id, and those that have not ended. */
  const made = new Map<string, SettlementKey>();
  const waiting = new Map<string, SettlementKey>();

  /** Null when the wallet is a contract that accepts no signature now: web refuses such an order. */
  async function sign(one: StormTrader, of: Terms, nonce: number): Promise<Placed | null> {
    const { market, side, outcome, pips } = of;
    const paid = (BigInt(of.lots * pips) + BigInt(of.extraMicro)) * SCALE.microAmount;
    const amounts = [paid, BigInt(of.lots) * SCALE.lotAmount] as const;
    const [makerAmount, takerAmount] = side === 0 ? amounts : [amounts[1], amounts[0]];
    const fields = {
      tokenId: BigInt(market.tokenIds[outcome]),
      side,
      makerAmount,
      takerAmount,
      nonce: BigInt(nonce),
      feeRateBps: BigInt(market.feeRateBps),
    };
    const maker = one.address.toLowerCase();
    if (!one.contract) {
      const signed = world.sign(one, fields);
      return { ...of, signed, hash: world.hashOf(signed), maker };
    }
    const order = world.unsigned(one.address, fields);
    const hash = world.hashOf(order);
    const signature = await one.contract.sign(hash);
    return signature === null ? null : { ...of, signed: { ...order, signature }, hash, maker };
  }

  /** Returns the settlements that the order makes. Throws its refusal. */
  async function place(one: StormTrader, of: Terms, nonce = 0): Promise<SettlementKey[]> {
    const order = await sign(one, of, nonce);
    if (!order) throw new Refusal('INVALID_SIGNATURE');
    const { market, signed, maker, hash } = order;
    orders.set(hash, order);
    const { record, fills } = await engine.place({
      marketId: market.id,
      orderHash: hash,
      maker,
      orderType: of.type,
      ...PLAIN_TERMS,
      feeRateBps: market.feeRateBps,
      nonce,
      order: orderOf(signed, of.outcome, of.type, market, SCALE),
      signed: packSigned({ ...signed, maker, signer: maker }, Buffer.from(signed.signature.slice(2), 'hex')),
    });
    const parts = Array.from({ length: partsOf(fills.length, 'chain') }, (_, part) => part);
    const list = parts.map((part) => ({ marketId: market.id, sequence: record.sequence, part }));
    for (const key of list) {
      made.set(settlementId(key), key);
      waiting.set(settlementId(key), key);
    }
    return list;
  }

  /** Forgets what has ended among the settlements that wait. */
  async function look(): Promise<void> {
    const list = [...waiting];
    const packed = await settlements.packed(list.map(([, key]) => settlementName(key)));
    for (const [i, [id]] of list.entries()) {
      const record = packed[i];
      if (record && ['CONFIRMED', 'FAILED'].includes(settlementStatusOf(record))) waiting.delete(id);
    }
  }

  const nodeUrls = nodes.proxies.map(({ url }) => url);
  const env = {
    ...environmentOf(world, server.url, nodeUrls),
    OPERATOR_KEYS: lanes.map(({ key }) => key.privateKey).join(','),
  };
  const web = await startCheckedWeb(world, server.url, nodeUrls);
  const workers = createWorkers(env);
  const miner = createMiner(chain, world.deployer);
  const giveGas = (address: string, money: string): Promise<unknown> =>
    chain.ask('anvil_setBalance', address, money);

  return {
    world,
    nodes,
    engine,
    ledger,
    settlements,
    redis,
    keys,
    terms,
    orders,
    made,
    waiting,
    intents: createIntents({ redis, run, keys }),
    trader,
    place,
    look,
    checked: web.checked,
    server,
    workers,
    miner,
    /** A lane whose address has no money for gas, until all is healed. */
    impoverish: (lane: number): Promise<unknown> => giveGas(lanes[lane]?.address ?? '', '0x0'),
    /** Ends every fault of nodes, chain and lanes. */
    async heal(): Promise<void> {
      nodes.heal();
      miner.halt(false);
      for (const { address } of lanes) await giveGas(address, GAS_MONEY);
    },
    async stop() {
      await workers.killAll();
      await web.stop();
      await miner.stop();
      rpc.stop();
      redis.disconnect();
      await server.stop();
      await nodes.stop();
      await world.stop();
    },
  };
}

/** Web answers 503 then, and a client asks again. */
function unlessLate(error: unknown): null {
  if (!(error instanceof RpcUnavailable)) throw error;
  return null;
}
