import { Transaction, Wallet } from 'ethers';
import { EXCHANGE } from '../../../src/chain/exchange-contract';
import { createShell } from '../../cli/shell';
import { type Answer, type Client, createClient, patiently } from '../../support/client';
import { startDurableRedis } from '../../support/durable-redis';
import { portOf, type Started, startNode } from '../../support/processes';
import { startProxy } from '../../support/proxy';
import { ADMIN_TOKEN, ENVIRONMENT } from '../../support/settings';
import {
  createTrader,
  domainOf,
  type Limit,
  type OpenMarket,
  openMarket,
  type Trader,
} from '../../support/trader';
import { sleep, until as waitUntil } from '../../support/waiting';
import { checkFunds } from './checker';
import { chainId } from './checker-matches';
import { startWatch } from './fault-watch';
import { startNodes } from './nodes';
import type { ChainProxy } from './proxy';
import { ctfAbi, newTrader, ONE, startWorld } from './world';

const { isStale } = require('../../../scripts/build.js') as { isStale(): boolean };

/** As many as BSC allows, and its time of a block. */
const BLOCK_GAS = '0x5f5e100';
const BLOCK_MS = 450;
const GAS_MONEY = `0x${(10n ** 21n).toString(16)}`;
const LANES = 2;
const NODES = 3;
const RESTART_MS = 500;
const PATIENCE_MS = 120_000;

export type FaultWorld = Awaited<ReturnType<typeof startFaultWorld>>;

/**
 * An exchange as it is deployed, dist/web.js and dist/worker.js, behind proxies: of three nodes of its chain, and of its Redis. The
 * test makes the blocks.
 */
export async function startFaultWorld() {
  if (isStale()) throw new Error('dist is older than the sources: npm run build');
  const world = await startWorld({ slotsInAnEpoch: 1 });
  const { chain, exchange, collateral, ctf } = world;
  const nodes = await startNodes(NODES, world.anvil);
  await chain.ask('evm_setBlockGasLimit', BLOCK_GAS);
  const lanes = Array.from({ length: LANES }, newTrader);
  for (const { address } of lanes) {
    await chain.ask('anvil_setBalance', address, GAS_MONEY);
    await world.call(world.admin.address, 'addOperator', address);
  }
  const redis = await startDurableRedis({ appendonly: 'always' });
  const link = await startProxy(redis.port);
  const redisUrl = `redis://127.0.0.1:${link.port}`;
  const places = {
    FUNDS: 'chain',
    NETWORK: 'testnet',
    CHAIN_RPC_URL: nodes.proxies.map(({ url }) => url).join(','),
    EXCHANGE_ADDRESS: exchange,
    COLLATERAL_ADDRESS: collateral,
    CONDITIONAL_TOKENS_ADDRESS: ctf,
    ORACLE_ADDRESS: world.deployer,
    UNSETTLED_MAX_NEW: '100000',
    FRESH_FUNDS_MAX: '0',
  };
  const env = { ...ENVIRONMENT, ...places, REDIS_URL: redisUrl, LOG_LEVEL: 'warn' };
  const shell = createShell(redisUrl, places);

  let said = '';
  let stopped = false;
  let worker: Started | null = null;
  let workerEnv: Record<string, string> = {};
  /** As a process manager does, it starts a worker again that has ended by itself. */
  function startWorker(more: Record<string, string> = workerEnv): void {
    workerEnv = more;
    const keys = lanes.map(({ key }) => key.privateKey).join(',');
    const started = startNode(['dist/worker.js'], {
      ...env,
      OPERATOR_KEYS: keys,
      GAS_PRICE_MAX: '1000',
      ...more,
    });
    worker = started;
    void started.exited.then(async () => {
      said += started.stdout() + started.stderr();
      await sleep(RESTART_MS);
      if (worker === started && !stopped) startWorker();
    });
  }
  /** The worker, which goes on and is not started again; another one may be started beside it. */
  function detachWorker(): Started {
    const detached = worker;
    worker = null;
    if (!detached) throw new Error('no worker runs');
    return detached;
  }
  async function killWorker(): Promise<void> {
    const killed = worker;
    worker = null;
    killed?.child.kill('SIGKILL');
    await killed?.exited;
  }

  const web = startNode(['dist/web.js'], { ...env, LOG_LEVEL: 'info' });
  const client: Client = createClient(`http://127.0.0.1:${await portOf(web)}`);
  const explain = (): string =>
    [said, worker?.stdout(), worker?.stderr(), web.stderr()].join('\n').split('\n').slice(-8).join('\n');
  const until = (what: string, holds: () => boolean | Promise<boolean>): Promise<void> =>
    waitUntil(what, holds, { patienceMs: PATIENCE_MS, pollMs: 50, explain });

  let isMining = true;
  let turn: Promise<unknown> = Promise.resolve();
  async function mine(): Promise<void> {
    for (let due = performance.now(); !stopped; due = Math.max(due + BLOCK_MS, performance.now())) {
      if (isMining) {
        turn = chain.ask('evm_mine');
        await turn;
      }
      await sleep(due + BLOCK_MS - performance.now());
    }
  }
  await chain.ask('evm_setAutomine', false);
  const mining = mine();
  startWorker();

  const config = async () => (await client.get('/config')).body;
  const isMode = async (mode: string): Promise<boolean> => (await config())?.mode === mode;
  await until('the exchange takes orders', () => isMode('NORMAL'));

  async function open(): Promise<OpenMarket> {
    const made = await openMarket(client, ADMIN_TOKEN);
    const prepare = ctfAbi.encodeFunctionData('prepareCondition', [world.deployer, made.questionId, 2]);
    await chain.send(world.deployer, ctf, prepare);
    const tokenIds = made.outcomes.map(({ tokenId }) => tokenId);
    await world.call(world.operator.address, 'registerToken', ...tokenIds, made.conditionId);
    await until('the market is open', async () => {
      return (await client.get(`/markets/${made.id}`)).body?.status === 'OPEN';
    });
    return made;
  }
  const domain = await domainOf(client);
  let market = await open();

  const shown = async (address: Trader) => (await patiently(() => address.get('/me/balances'))).body;
  const traders: Trader[] = [];
  /** A wallet with collateral and both approvals. */
  async function trader(cash = 10_000n * ONE): Promise<Trader> {
    const one = newTrader();
    await world.fund(one.address, cash);
    const made = createTrader(client, domain, new Wallet(one.key.privateKey));
    traders.push(made);
    return made;
  }
  async function readyTrader(cash?: bigint): Promise<Trader> {
    const made = await trader(cash);
    await until('the books have its funds and approvals', async () => {
      const { collateral: held, approvals } = await shown(made);
      return Number(held?.total) > 0 && approvals.collateral.enough && approvals.conditionalTokens.approved;
    });
    return made;
  }

  async function submit(one: Trader, limit: Limit): Promise<Answer> {
    return one.submit(market, limit);
  }
  /** An order that must be taken. */
  async function place(one: Trader, limit: Limit) {
    const { body } = await submit(one, limit);
    if (!body?.orderHash) throw new Error(`the order was refused: ${JSON.stringify(body)}\n${explain()}`);
    return body;
  }
  /** Two wallets buy Yes and No of each other; returns the id of the settlement. */
  async function match(one: Trader, other: Trader, lots = 100): Promise<string> {
    await place(one, { side: 'BUY', outcome: 1, pips: 4_000, lots });
    const { orderHash, status } = await place(other, { side: 'BUY', outcome: 0, pips: 6_000, lots });
    if (status !== 'FILLED') throw new Error(`the order is ${status}`);
    let id = '';
    await until('the match has a record', async () => {
      const { fills } = (await other.get(`/orders/${orderHash}`)).body;
      // A busy exchange answers 503.
      if (!fills) return false;
      const sequence = String(fills[0].tradeId).split('-')[1];
      id = `${market.id}-${sequence}-s0`;
      return watch.of(id) !== undefined;
    });
    return id;
  }

  /** anvil turns its clock back with its blocks, and a chain whose time is half a minute behind takes no orders. */
  const setClock = (): Promise<unknown> => chain.ask('evm_setTime', Math.floor(Date.now() / 1_000));

  const finalBlock = async (): Promise<number> => {
    const block = await nodes.ask('eth_getBlockByNumber', 'finalized', false);
    return Math.min(Number((block as { number: string }).number), heldAt);
  };
  let heldAt = Number.POSITIVE_INFINITY;
  const watch = startWatch(() => client, finalBlock);
  const is = (id: string, status: string): Promise<void> =>
    until(`${id} is ${status}`, () => watch.of(id)?.status === status);

  /** Every transaction with this match that the nodes were given. */
  function sentWith(id: string, by: readonly ChainProxy[] = nodes.proxies): Transaction[] {
    const wanted = chainId(id);
    const raws = new Set(by.flatMap(({ broadcasts }) => broadcasts));
    return [...raws].map(Transaction.from).filter(({ data }) => {
      const call = EXCHANGE.parseTransaction({ data });
      return call?.name === 'settle' && (call.args[0] as { id: bigint }[]).some((one) => one.id === wanted);
    });
  }

  return {
    world,
    nodes,
    redis,
    link,
    redisUrl,
    lanes,
    client,
    shell,
    watch,
    traders,
    web,
    places,
    until,
    isMode,
    config,
    trader,
    readyTrader,
    submit,
    place,
    match,
    is,
    sentWith,
    shown,
    startWorker,
    detachWorker,
    killWorker,
    explain,
    finalBlock,
    market: () => market,
    async openAnother() {
      market = await open();
    },
    /** No block is made from now on but by `mine`. */
    async halt(): Promise<void> {
      isMining = false;
      await turn;
    },
    goOn(): void {
      isMining = true;
    },
    mine: (count = 1): Promise<unknown> => chain.ask('anvil_mine', `0x${count.toString(16)}`),
    /** Takes blocks back with all that waits. */
    async rollback(depth: number): Promise<void> {
      await chain.ask('anvil_dropAllTransactions');
      await chain.ask('anvil_rollback', depth);
      await setClock();
    },
    /** Replaces blocks by others, of which the first has this transaction. */
    async reorganize(depth: number, transaction: object): Promise<void> {
      await chain.ask('anvil_reorg', depth, [[transaction, 0]]);
      await setClock();
    },
    async holdFinality(): Promise<void> {
      const wasMining = isMining;
      isMining = false;
      await turn;
      heldAt = await finalBlock();
      await Promise.all(nodes.proxies.map((proxy) => proxy.holdFinality()));
      isMining = wasMining;
    },
    heal(): void {
      nodes.heal();
      heldAt = Number.POSITIVE_INFINITY;
    },
    /** Asks the checker; `lost` are settlements that are no more in Redis. */
    check: (lost: readonly string[] = []) =>
      checkFunds({
        rpcUrl: world.anvil.url,
        baseUrl: client.url,
        adminToken: ADMIN_TOKEN,
        wallets: traders.map(({ wallet }) => wallet),
        lost: new Set(lost),
      }),
    /** How often the nodes were given this transaction. */
    sent: (hash: string): number =>
      nodes.proxies
        .flatMap(({ broadcasts }) => broadcasts)
        .filter((raw) => Transaction.from(raw).hash === hash).length,
    async stop() {
      stopped = true;
      await watch.stop();
      await killWorker();
      web.child.kill('SIGKILL');
      await web.exited;
      await mining;
      await link.stop();
      await redis.stop();
      await nodes.stop();
      await world.stop();
    },
  };
}
