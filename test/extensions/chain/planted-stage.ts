import { id as keccakOfText, Wallet } from 'ethers';
import { createClient, patiently } from '../../support/client';
import { type DurableRedis, startDurableRedis } from '../../support/durable-redis';
import { portOf, type Started, startNode } from '../../support/processes';
import { ADMIN_TOKEN } from '../../support/settings';
import { createTrader, domainOf, type Limit, type OpenMarket } from '../../support/trader';
import { sleep, until } from '../../support/waiting';
import { environmentOf } from './checked';
import { type Checked, checkFunds } from './checker';
import { openApi } from './checker-api';
import { finalBlockOf } from './checker-chain';
import { startSampler } from './checker-sampler';
import { approval } from './deals';
import { type ChainProxy, startChainProxy } from './proxy';
import { newTrader, ONE, startWorld, type World } from './world';

/** One chain and one Redis for all builds that are tried, one after the other, and one node between them that can misbehave. */
export interface PlantedWorld {
  readonly world: World;
  readonly redis: DurableRedis;
  readonly proxy: ChainProxy;
  readonly lane: ReturnType<typeof newTrader>;
  stop(): Promise<void>;
}

const LANE_MONEY = `0x${(10n ** 21n).toString(16)}`;

export async function startPlantedWorld(): Promise<PlantedWorld> {
  const world = await startWorld({ slotsInAnEpoch: 1 });
  const lane = newTrader();
  await world.chain.ask('anvil_setBalance', lane.address, LANE_MONEY);
  await world.call(world.admin.address, 'addOperator', lane.address);
  const redis = await startDurableRedis({ appendonly: 'always' });
  const proxy = await startChainProxy(world.anvil.url);
  return {
    world,
    redis,
    proxy,
    lane,
    async stop() {
      await proxy.stop();
      await redis.stop();
      await world.stop();
    },
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;
interface Means {
  readonly cash?: bigint;
  readonly allowance?: bigint;
}
export interface StageTrader {
  readonly address: string;
  /** Returns the status of the order; `more` are members of the order. */
  place(limit: Limit, more?: { readonly mayFail?: boolean; readonly expiration?: string }): Promise<unknown>;
}

const BLOCK_MS = 60;
const PATIENT = { pollMs: 50 };
let questions = 0;

/** An exchange of the program in a folder, with empty books and a market of its own. */
export async function openStage({ world, redis, proxy, lane }: PlantedWorld, program: string) {
  const { chain } = world;
  proxy.heal();
  proxy.forget();
  await chain.ask('evm_setAutomine', true);
  await chain.ask('anvil_dropAllTransactions');
  await redis.ask('FLUSHALL');
  const question = `Is the bug ${++questions} caught?`;
  await world.openMarket(question);
  const env = {
    ...environmentOf(world, redis.url, [proxy.url]),
    LOG_LEVEL: 'info',
    UNSETTLED_MAX_NEW: '100000',
    FRESH_FUNDS_MAX: '0',
  };
  const web = startNode([`${program}/web.js`], env);
  const worker = startNode([`${program}/worker.js`], { ...env, OPERATOR_KEYS: lane.key.privateKey });
  const running: readonly Started[] = [web, worker];
  const said = (): string =>
    running
      .map((one) => one.stdout() + one.stderr())
      .join('\n')
      .slice(-4_000);
  const soon = (what: string, holds: () => Promise<boolean>): Promise<void> =>
    until(what, holds, { ...PATIENT, explain: said });

  let isMining = true;
  let isOver = false;
  async function mine(): Promise<void> {
    while (!isOver) {
      if (isMining) await chain.ask('evm_mine');
      await sleep(BLOCK_MS);
    }
  }
  await chain.ask('evm_setAutomine', false);
  const mining = mine();
  async function stop(): Promise<void> {
    for (const { child } of running) child.kill('SIGKILL');
    await Promise.all(running.map(({ exited }) => exited));
    isOver = true;
    await mining;
  }

  try {
    const baseUrl = `http://127.0.0.1:${await portOf(web)}`;
    const client = createClient(baseUrl);
    const body = {
      question,
      oracle: world.deployer,
      questionId: keccakOfText(question),
      minOrderSize: '0.01',
    };
    let market: OpenMarket | null = null;
    await soon('the market is created', async () => {
      const answer = await patiently(() => client.post('/admin/markets', { token: ADMIN_TOKEN, body }));
      market = answer.status === 201 ? answer.body : null;
      return market !== null;
    });
    const { id } = market as unknown as OpenMarket;
    await soon('the market is open', async () => (await client.get(`/markets/${id}`)).body.status === 'OPEN');
    return stageOf(
      { world, proxy, baseUrl, client, market: market as unknown as OpenMarket, soon },
      {
        mine(on: boolean): void {
          isMining = on;
        },
        stop,
      },
    );
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Opened {
  readonly world: World;
  readonly proxy: ChainProxy;
  readonly baseUrl: string;
  readonly client: ReturnType<typeof createClient>;
  readonly market: OpenMarket;
  readonly soon: (what: string, holds: () => Promise<boolean>) => Promise<void>;
}

function stageOf(opened: Opened, control: { mine(on: boolean): void; stop(): Promise<void> }) {
  const { world, proxy, baseUrl, client, market, soon } = opened;
  const { chain } = world;
  const wallets: Wallet[] = [];
  const head = async (): Promise<number> => Number(await chain.ask<string>('eth_blockNumber'));
  /** The chain was used by other builds before. */
  let fromBlock = 0;

  /** Gives a wallet 100 of collateral and both approvals, or so much of each. */
  async function fund(wallet: Wallet, { cash = 100n, allowance }: Means): Promise<void> {
    await world.fund(wallet.address, cash * ONE);
    if (allowance !== undefined)
      await chain.send(wallet.address, world.collateral, approval(world, allowance * ONE));
  }

  /** Wallets whose funds the books know. */
  async function traders(...means: readonly Means[]): Promise<StageTrader[]> {
    control.mine(false);
    await chain.ask('evm_setAutomine', true);
    const made = means.map(() => new Wallet(newTrader().key));
    for (const [i, wallet] of made.entries()) await fund(wallet, means[i] ?? {});
    await chain.ask('evm_setAutomine', false);
    fromBlock = await head();
    control.mine(true);
    wallets.push(...made);
    const domain = await domainOf(client);
    const signedIn = made.map((wallet) => createTrader(client, domain, wallet));
    for (const one of signedIn)
      await soon('the books know the funds of a trader', async () => {
        const { status, body } = await one.get('/me/balances');
        return status === 200 && body.asOfBlock > fromBlock && body.collateral.total !== '0';
      });
    return signedIn.map((one) => ({ address: one.address, place: placing(one) }));
  }

  /** Sends an order again while its wallet cannot be read. Throws its refusal, unless it may be refused. */
  const placing =
    (one: ReturnType<typeof createTrader>): StageTrader['place'] =>
    async (limit, { mayFail = false, ...more } = {}) => {
      const order = await one.order(market, limit, more);
      const answer = await patiently(() => client.post(`/markets/${market.id}/orders`, { body: { order } }));
      if (answer.status >= 300 && !mayFail) throw new Error(`refused: ${answer.text}`);
      return answer.body.status;
    };

  const checked = (drainMs: number): Checked => ({
    rpcUrl: world.anvil.url,
    baseUrl,
    adminToken: ADMIN_TOKEN,
    wallets,
    fromBlock,
    newsBlocks: 1_000_000,
    drainMs,
  });
  const api = openApi(baseUrl, ADMIN_TOKEN);
  const metric = async (name: string): Promise<number> =>
    (await (await api).metrics()).find((one) => one.name === name)?.value ?? 0;

  return {
    world,
    proxy,
    market,
    soon,
    traders,
    head,
    metric,
    ...control,
    /** Both buy, one Yes at 0.60 and the other No at 0.40: the first gives 6 for 10 shares. */
    async match(yes: StageTrader, no: StageTrader, shares: number, expiration = '0'): Promise<void> {
      await no.place({ side: 'BUY', outcome: 1, pips: 4_000, lots: shares * 100 });
      const status = await yes.place(
        { side: 'BUY', outcome: 0, pips: 6_000, lots: shares * 100 },
        { expiration },
      );
      if (status !== 'FILLED') throw new Error(`the orders do not meet: ${status}`);
    },
    /** Makes one block at a time, and waits until the books have its final block; the sampler looks at each. */
    async steps(count: number, sampler: Awaited<ReturnType<typeof startSampler>>): Promise<void> {
      for (let step = 0; step < count; step++) {
        await chain.ask('evm_mine');
        const final = await finalBlockOf(chain);
        await soon('the books follow', async () => (await metric('exchange_chain_final_block')) >= final);
        await sampler.look();
      }
    },
    asked: (method: string): number => proxy.asked.get(method) ?? 0,
    /** Waits until that number of transactions was sent, each counted once. */
    broadcast: (count: number): Promise<void> =>
      soon(`${count} transactions are sent`, async () => new Set(proxy.broadcasts).size >= count),
    sampler: () => startSampler(checked(0), true),
    check: (drainMs: number): Promise<string[]> => checkFunds(checked(drainMs)),
  };
}
