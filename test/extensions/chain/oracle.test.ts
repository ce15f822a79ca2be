import { Transaction } from 'ethers';
import { createStore, type Store } from '../../../src/app/store';
import type { ChainConfig } from '../../../src/config/chain';
import { type Config, loadConfig } from '../../../src/config/load';
import { lots } from '../../../src/exchange/units';
import type { KeySender } from '../../../src/extensions/chain/contracts/key-sender';
import { booksIn } from '../../../src/extensions/chain/exchange';
import { createFaucet } from '../../../src/extensions/chain/jobs/faucet';
import { createOpenOnChain } from '../../../src/extensions/chain/jobs/open';
import { createServeOracle } from '../../../src/extensions/chain/jobs/oracle';
import { createFollowResults, createReportResults } from '../../../src/extensions/chain/jobs/resolve';
import { type OpenChain, openChain, oracleOf } from '../../../src/extensions/chain/nodes';
import { noteFunds } from '../../../src/extensions/chain/store/funds';
import { type ChainRequests, createChainRequests } from '../../../src/extensions/chain/store/requests';
import { unsettledMarkets } from '../../../src/extensions/chain/store/sendable';
import type { RunningRedis } from '../../../src/local/redis';
import { createLogger } from '../../../src/log';
import { partAt } from '../../../src/store/lists/list';
import type { Markets } from '../../../src/store/markets/markets';
import { startTestRedis } from '../../support/redis';
import { ENVIRONMENT } from '../../support/settings';
import { until } from '../../support/waiting';
import { type Nodes, startNodes } from './nodes';
import { COLLATERAL, ctfAbi, newTrader, ONE, startWorld, type World } from './world';

/** The work of the oracle's key: a chain, two nodes of it, and the books of an exchange. */
let world: World;
let nodes: Nodes;
let server: RunningRedis;
let config: Config & { readonly chain: ChainConfig };
let store: Store;
let ownMarkets: Markets;
let requests: ChainRequests;
let chain: OpenChain;
let oracle: KeySender;
let parts: Parameters<typeof createReportResults>[0];

const AMOUNT = 100n * ONE;
const RICH = `0x${(10n ** 21n).toString(16)}`;

beforeAll(async () => {
  world = await startWorld({ slotsInAnEpoch: 1 });
  nodes = await startNodes(2, world.anvil);
  server = await startTestRedis();
  const { key, address } = newTrader();
  const loaded = loadConfig({
    ...ENVIRONMENT,
    REDIS_URL: server.url,
    FUNDS: 'chain',
    ORACLE_KEY: key.privateKey,
    EXCHANGE_ADDRESS: world.exchange,
    COLLATERAL_ADDRESS: world.collateral,
    ORACLE_ADDRESS: address,
    CONDITIONAL_TOKENS_ADDRESS: world.ctf,
    CHAIN_RPC_URL: nodes.proxies.map(({ url }) => url).join(','),
  });
  if (loaded.chain === null) throw new Error('these are paper funds');
  config = { ...loaded, chain: loaded.chain };
  const log = createLogger(config, 'test', { write: () => undefined });
  store = await createStore(config, log);
  await store.clock.measure();
  const exchange = world.exchange.toLowerCase();
  await noteFunds(store.run, store.keys, { chainId: config.chainId, exchange, hold: 'cost' });
  const books = booksIn(store);
  if (books === null) throw new Error('there are no books');
  requests = books.requests;
  ownMarkets = partAt(store.partitions, 0).markets;
  chain = openChain(config, config.chain, log);
  const sender = oracleOf(config, config.chain, chain.rpc);
  if (sender === null) throw new Error('there is no key');
  oracle = sender;
  await nodes.ask('anvil_setBalance', address, RICH);
  parts = {
    requests,
    conditions: chain.conditions,
    oracle,
    finalBlock: chain.finalBlock,
    markets: ownMarkets,
    view: store.reads.view,
    allMarkets: store.marketList,
    now: store.clock.now,
    unsettledMarkets: () => unsettledMarkets(store),
  };
});
afterEach(() => nodes.heal());
afterAll(async () => {
  oracle?.stop();
  chain?.rpc.stop();
  store?.close();
  await server?.stop();
  await nodes?.stop();
  await world?.stop();
});

const faucet = () => createFaucet({ ...parts, oracle, amount: AMOUNT });
const finalize = () => nodes.ask('anvil_mine', '0x4');
const moneyOf = async (address: string) =>
  BigInt(String(await nodes.ask('eth_getBalance', address, 'latest')));
const nonceOf = async (address: string) =>
  Number(await nodes.ask('eth_getTransactionCount', address, 'latest'));
const statusOf = async (id: string) => (await store.reads.view(id)).state.status;
const create = async (question: string, by = config.chain.oracleAddress) =>
  (await ownMarkets.create({ question, feeRateBps: 0, minOrderLots: lots(1), oracle: by, draft: true }))
    .terms;
type Terms = Awaited<ReturnType<typeof create>>;

/** A market of an oracle of its own, open here, whose condition the chain knows. */
async function openMarketOf(by: string, question: string): Promise<Terms> {
  const terms = await create(question, by);
  const prepare = ctfAbi.encodeFunctionData('prepareCondition', [by, terms.questionId, 2]);
  await world.chain.send(world.deployer, world.ctf, prepare);
  await world.call(world.operator.address, 'registerToken', ...terms.tokenIds, terms.conditionId);
  await ownMarkets.open(terms.id);
  return terms;
}

const report = (by: string, { questionId }: Terms, payouts: readonly number[]) =>
  world.chain.send(by, world.ctf, ctfAbi.encodeFunctionData('reportPayouts', [questionId, payouts]));

test('without a recent final block only cancels are taken, and the message says why', async () => {
  const { reads, keys, redis } = store;
  const books = booksIn(store);
  const isLate = { mode: 'CANCEL_ONLY', message: expect.stringContaining('no new final block') };
  expect(await reads.mode()).toMatchObject(isLate);
  const follow = async () => {
    await finalize();
    const from = (await books?.ledger.finalBlock()) ?? null;
    const final = await books?.blocks.final();
    if (final) await books?.ledger.observeBlock(from, final, [], []);
  };
  await follow();
  expect(await reads.mode()).toEqual({ mode: 'NORMAL', message: null });
  await redis.hset(keys.cursor, 'finalNotedMs', store.clock.now() - 31_000);
  expect(await reads.mode()).toMatchObject(isLate);
  await follow();
  expect((await reads.mode()).mode).toBe('NORMAL');
  await store.engine.setMode('HALTED', 'the operator says so');
  await redis.hset(keys.cursor, 'finalNotedMs', 0);
  expect(await reads.mode()).toEqual({ mode: 'HALTED', message: 'the operator says so' });
  await store.engine.setMode('NORMAL', null);
});

test('without a worker that has the key, the faucet refuses instead of promising', async () => {
  await expect(requests.askFaucet(newTrader().address)).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('the faucet pays every wallet once, and one that refuses gas money gets its collateral all the same', async () => {
  const [refusing, ...others] = Array.from({ length: 3 }, () => newTrader().address);
  // PUSH1 0, PUSH1 0, REVERT: a wallet with code may refuse whatever comes.
  await nodes.ask('anvil_setCode', refusing, '0x60006000fd');
  await faucet()();
  for (const wallet of [refusing, ...others]) await requests.askFaucet(String(wallet));
  await expect(faucet()()).rejects.toThrow(`${refusing}: it gets collateral, but takes no gas money`);
  for (let round = 0; round < 3; round++) await faucet()();
  for (const wallet of others) {
    expect(await world.balance(wallet, COLLATERAL)).toBe(AMOUNT);
    expect(await moneyOf(wallet)).toBe(10n ** 16n);
  }
  expect(await world.balance(String(refusing), COLLATERAL)).toBe(AMOUNT);
  expect(await moneyOf(String(refusing))).toBe(0n);
  expect(await requests.thirsty()).toEqual([]);
});

test('a wallet waits while no node answers, and the faucet keeps what markets need', async () => {
  const wallet = newTrader().address;
  await requests.askFaucet(wallet);
  await nodes.ask('anvil_setBalance', oracle.address, `0x${(10n ** 17n).toString(16)}`);
  await expect(faucet()()).rejects.toThrow('more gas money');
  expect(await requests.thirsty()).toEqual([wallet]);
  await nodes.ask('anvil_setBalance', oracle.address, RICH);
  for (const proxy of nodes.proxies) proxy.fail(['eth_estimateGas']);
  await expect(faucet()()).rejects.toThrow();
  nodes.heal();
  for (const proxy of nodes.proxies) proxy.drop();
  await expect(faucet()()).rejects.toThrow();
  nodes.heal();
});

test('a request for test funds is forgotten after an hour', async () => {
  const { redis, keys, clock } = store;
  const later = createChainRequests({ redis, keys, now: () => clock.now() + 3_700_000 });
  const wallet = newTrader().address;
  await requests.askFaucet(wallet);
  expect(await later.thirsty()).toEqual([]);
  expect(await requests.thirsty()).not.toContain(wallet);
});

test('a registration that the chain would refuse costs nothing, and no role is needed for one that it takes', async () => {
  const terms = await create('May the oracle register?');
  await requests.openMarket(terms.id);
  const { conditions } = parts;
  const open = createOpenOnChain(parts);
  const refused = createOpenOnChain({
    ...parts,
    conditions: {
      ...conditions,
      register: (market) =>
        conditions.register({ ...market, tokenIds: [market.tokenIds[1], market.tokenIds[0]] }),
    },
  });
  await open();
  const [money, nonce] = [await moneyOf(oracle.address), await nonceOf(oracle.address)];
  for (let round = 0; round < 3; round++) await expect(refused()).rejects.toThrow(terms.conditionId);
  expect([await moneyOf(oracle.address), await nonceOf(oracle.address)]).toEqual([money, nonce]);
  expect(await world.read('isOperator', oracle.address)).toBe(false);
  await open();
  expect(await nonceOf(oracle.address)).toBe(nonce + 1);
  await finalize();
  await open();
  expect(await statusOf(terms.id)).toBe('OPEN');
});

test('a lie of one node opens no market, and ends none', async () => {
  const [liar] = nodes.proxies;
  const unregistered = await create('Does a lie open me?');
  await requests.openMarket(unregistered.id);
  const open = await openMarketOf(world.deployer, 'Does a lie end me?');
  await finalize();
  // This node says that every token is registered, and that every condition has a result.
  liar?.forge(({ method, params: [call] }, result) => {
    if (method !== 'eth_call') return result;
    const hasOneWord = (call as { data: string }).data.length === 2 + 8 + 64;
    return hasOneWord ? unregistered.conditionId : `0x${'1'.padStart(64, '0')}`;
  });
  await createOpenOnChain({ ...parts, oracle: null })().catch(() => undefined);
  await createFollowResults(parts)
    .run()
    .catch(() => undefined);
  expect(await statusOf(unregistered.id)).toBe('DRAFT');
  expect(await statusOf(open.id)).toBe('OPEN');
});

test('a market follows its own oracle, and a result that is none closes it before anybody trades on', async () => {
  const other = world.deployer;
  const follow = createFollowResults(parts);
  const right = await openMarketOf(other, 'Is it Yes?');
  const strange = await openMarketOf(other, 'Is it three to one?');
  await report(other, right, [1, 0]);
  await report(other, strange, [3, 1]);
  await finalize();
  await expect(follow.run()).rejects.toThrow('3 to 1');
  expect(await statusOf(right.id)).toBe('RESOLVED');
  expect(await statusOf(strange.id)).toBe('CLOSED');
});

test('a result that is not due is not reported, and can be withdrawn until it is', async () => {
  const { wantResult, wantedResults, withdrawResult } = requests;
  const terms = await openMarketOf(oracle.address, 'Was it a mistake?');
  const result = { outcome: 0, evidence: null } as const;
  await wantResult(terms.id, { ...result, dueMs: store.clock.now() + 600_000 });
  const nonce = await nonceOf(oracle.address);
  await createReportResults(parts)();
  expect(await nonceOf(oracle.address)).toBe(nonce);
  expect([await withdrawResult(terms.id), await withdrawResult(terms.id)]).toEqual([true, true]);
  expect((await wantedResults()).has(terms.id)).toBe(false);
  await wantResult(terms.id, { ...result, dueMs: store.clock.now() - 60_000 });
  expect(await withdrawResult(terms.id)).toBe(false);
  await createReportResults(parts)();
  expect(await nonceOf(oracle.address)).toBe(nonce + 1);
  await finalize();
  await createReportResults(parts)();
  expect(await statusOf(terms.id)).toBe('RESOLVED');
});

test('the last matches of a market are settled before its result is reported, for ten minutes', async () => {
  const { wantResult } = requests;
  const terms = await openMarketOf(oracle.address, 'Who was late?');
  const other = await openMarketOf(oracle.address, 'Who was not?');
  const settlement = {
    part: 0,
    takerHash: `0x${'1'.repeat(64)}`,
    makerHashes: [`0x${'2'.repeat(64)}`],
    takerFillAmount: 6n,
    makerFillAmounts: [10n],
    matchTypes: ['COMPLEMENTARY' as const],
    refundAmount: 0n,
    takerFeeAmount: 0n,
    makerFeeAmounts: [0n],
  };
  await store.redis.xadd(
    ...([`${store.keys.prefix}m:${terms.id}:t`, '1000-1', 'r', Buffer.from('1'.repeat(64), 'hex')] as const),
  );
  const ref = { marketId: terms.id, tradeMs: 1_000, sequence: 1 };
  await store.settlements.record([{ ref, settlement }], 'MATCHED');
  expect(await unsettledMarkets(store)).toEqual(new Set([terms.id]));
  const want = (dueMs: number) => wantResult(terms.id, { outcome: 0, evidence: null, dueMs });
  const nonce = await nonceOf(oracle.address);
  await want(store.clock.now() - 60_000);
  await createReportResults(parts)();
  expect(await nonceOf(oracle.address)).toBe(nonce);
  await wantResult(other.id, { outcome: 1, evidence: null, dueMs: store.clock.now() - 60_000 });
  await createReportResults(parts)();
  expect(await nonceOf(oracle.address)).toBe(nonce + 1);
  await want(store.clock.now() - 700_000);
  await createReportResults(parts)();
  expect(await nonceOf(oracle.address)).toBe(nonce + 2);
});

test('only markets that live are asked about', async () => {
  const ended = (await store.marketList()).filter(({ state }) => state.status === 'RESOLVED');
  expect(ended.length).toBeGreaterThan(0);
  const asked: string[] = [];
  const { conditions } = parts;
  const payouts: typeof conditions.payouts = (market, block) => {
    asked.push(market.conditionId);
    return conditions.payouts(market, block);
  };
  await createFollowResults({ ...parts, conditions: { ...conditions, payouts } })
    .run()
    .catch(() => undefined);
  expect(asked.length).toBeGreaterThan(0);
  for (const { terms } of ended) expect(asked).not.toContain(terms.conditionId);
});

test('a transaction that no block takes is signed again under its nonce, for at least an eighth more', async () => {
  for (const proxy of nodes.proxies) {
    proxy.forget();
    proxy.swallow();
    proxy.refuseSmallBumps();
  }
  const sent = oracle.send([{ to: newTrader().address, data: '0x', valueWei: 1n }]);
  const seen = () => [...new Set(nodes.proxies[0]?.broadcasts)].map((raw) => Transaction.from(raw));
  await until('it was signed three times', async () => {
    await nodes.ask('anvil_mine', '0x1');
    return seen().length >= 3;
  });
  nodes.heal();
  let isMined = false;
  sent.then(
    () => {
      isMined = true;
    },
    () => undefined,
  );
  await until('it is in a block', async () => {
    await nodes.ask('anvil_mine', '0x1');
    return isMined;
  });
  const [receipt] = await sent;
  const attempts = seen();
  expect(attempts.map(({ hash }) => hash)).toContain(receipt?.hash);
  const [first] = attempts;
  expect(new Set(attempts.map(({ nonce }) => nonce))).toEqual(new Set([first?.nonce]));
  const prices = attempts.map(({ maxFeePerGas }) => maxFeePerGas ?? 0n);
  for (const [i, price] of prices.entries())
    if (i > 0) expect(price * 8n).toBeGreaterThanOrEqual((prices[i - 1] ?? 0n) * 9n);
});

test('a transaction that an earlier process left in the pool is replaced', async () => {
  await nodes.ask('evm_setAutomine', false);
  const before = oracleOf(config, config.chain, nodes.client());
  const left = before?.send([{ to: newTrader().address, data: '0x', valueWei: 1n }]);
  left?.catch(() => undefined);
  await until('it is in the pool', async () => {
    const pending = Number(await nodes.ask('eth_getTransactionCount', oracle.address, 'pending'));
    return pending > (await nonceOf(oracle.address));
  });
  before?.stop();
  const wallet = newTrader().address;
  const sent = oracle.send([{ to: wallet, data: '0x', valueWei: 2n }]);
  await until('it is in a block', async () => {
    await nodes.ask('evm_mine');
    return (await moneyOf(wallet)) === 2n;
  });
  await sent;
  await nodes.ask('evm_setAutomine', true);
});

test('one that fails holds up no other of those that use the key', async () => {
  const ran: string[] = [];
  const chore = createServeOracle([
    ['first', async () => Promise.reject(new Error('no node'))],
    ['second', async () => void ran.push('second')],
  ]);
  await expect(chore.run()).rejects.toThrow('first: no node');
  expect(ran).toEqual(['second']);
});
