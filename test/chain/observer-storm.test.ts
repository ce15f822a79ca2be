import { type Failure, failureOf, matchId } from '../../src/chain/exchange-contract';
import { Refusal } from '../../src/exchange/errors';
import type { SettlementKey } from '../../src/store/records/settlement';
import { createRandom } from '../support/random';
import { chooseSeed, tell } from '../support/telling';
import { until } from '../support/waiting';
import { approval, approvalForAll, tokenTransfer, transfer } from './deals';
import { type Deal, type Followed, startFollowed } from './followed';
import { type Nodes, startNodes } from './nodes';
import type { ChainProxy } from './proxy';
import { RpcError } from './rpc';
import { COLLATERAL, type Market, newTrader, ONE, startWorld, type Trader, type World } from './world';

/**
 * Traders place orders and, at random, move their funds away, lower allowances and revoke approvals. The chain takes blocks back,
 * and one of its three nodes at a time misbehaves. In the end the books equal the chain in every account.
 */
const STEPS = Number(process.env.STORM_STEPS ?? 400);
const TRADERS = 8;
/** The first of them: they only trade. */
const INNOCENT = 3;
/** Of collateral and of each token; open orders soon take most of it. */
const FUNDS = 60n * ONE;
const BATCH = 8;
const BLOCK_MS = 450;
/** Reverts whatever it is asked. */
const TRAP_CODE = '0x60006000fd';
const MICRO_UNITS = 10n ** 12n;
const MAX = 2n ** 256n - 1n;

let world: World;
let market: Market;
let nodes: Nodes;
let books: Followed;
let mining: NodeJS.Timeout;

beforeAll(async () => {
  world = await startWorld({ slotsInAnEpoch: 1 });
  market = await world.openMarket('storm');
  nodes = await startNodes(3, world.anvil);
  books = await startFollowed(world, market, nodes);
  // Besides, each transaction makes a block at once.
  mining = setInterval(() => void nodes.ask('anvil_mine', '0x1').catch(() => undefined), BLOCK_MS);
});
afterAll(async () => {
  clearInterval(mining);
  await books?.stop();
  await nodes?.stop();
  await world?.stop();
});

/** A chain takes no transaction of an account with code. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof RpcError)) throw error;
}

interface Sending extends Deal {
  /** The block of its latest transaction. */
  at: { number: string; hash: string } | null;
}

test('the books equal the chain after a storm of drains, rollbacks and lying nodes', async () => {
  const random = createRandom(chooseSeed('observer storm'));
  const traders = Array.from({ length: TRADERS }, newTrader);
  const guilty = traders.slice(INNOCENT);
  for (const { address } of traders) await world.fund(address, FUNDS, market, FUNDS);
  await until('the books have a block', async () => (await books.final()) !== null);
  let failures: Failure[] = [];
  const waiting = new Map<bigint, Sending>();
  const refusals = new Map<string, number>();
  const deals: Deal[] = [];

  async function place(): Promise<void> {
    const terms = {
      ...{ side: random.pick([0, 1] as const), outcome: random.pick([0, 1] as const) },
      ...{ pricePips: random.int(40, 60) * 100, sizeLots: random.int(1, 20) * 100 },
    };
    try {
      for (const deal of await books.place(random.pick(traders), terms)) {
        waiting.set(deal.match.id, { ...deal, at: null });
        deals.push(deal);
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusals.set(error.code, (refusals.get(error.code) ?? 0) + 1);
    }
  }

  /** Sends what no transaction in the chain contains. */
  async function send(): Promise<void> {
    for (const event of books.ended) waiting.delete(matchId(event));
    const unsent: Sending[] = [];
    for (const one of waiting.values()) if (!(await isInChain(one))) unsent.push(one);
    const batch = unsent.slice(0, BATCH);
    if (batch.length === 0) return;
    const receipt = await world.settle(batch.map(({ match }) => match));
    failures = world
      .eventsOf(receipt)
      .flatMap(({ name, args }) => (name === 'MatchFailed' ? [failureOf(String(args.reason))] : []));
    const { blockNumber: number, blockHash: hash } = receipt as unknown as {
      blockNumber: string;
      blockHash: string;
    };
    for (const one of batch) one.at = { number, hash };
  }

  async function isInChain({ at }: Sending): Promise<boolean> {
    if (at === null) return false;
    const now = (await nodes.ask('eth_getBlockByNumber', at.number, false)) as { hash: string } | null;
    return now?.hash === at.hash;
  }

  const trouble: Readonly<
    Record<string, (one: Trader, other: Trader, proxy: ChainProxy) => Promise<unknown>>
  > = {
    drain: async (one, other) => {
      const balance = await world.balance(one.address, COLLATERAL);
      const amount = (balance * BigInt(random.int(1, 100))) / 100n;
      await world.chain.send(one.address, world.collateral, transfer(other.address, amount));
    },
    allow: (one) => {
      const amount = random.pick([0n, ONE, 50n * ONE, MAX]);
      return world.chain.send(one.address, world.collateral, approval(world, amount));
    },
    approve: (one) => world.chain.send(one.address, world.ctf, approvalForAll(world, random.chance(0.5))),
    move: async (one, other) => {
      const tokenId = random.pick(market.tokens);
      const amount = (await world.balance(one.address, tokenId)) / 2n;
      await world.chain.send(
        one.address,
        world.ctf,
        tokenTransfer(one.address, other.address, tokenId, amount),
      );
    },
    // The contract keeps what such a wallet cannot receive.
    trap: (one) => nodes.ask('anvil_setCode', one.address, random.pick([TRAP_CODE, '0x'])),
    cancel: async (one) => {
      const own = [...books.orders.values()].filter(({ signed }) => signed.maker === one.address).at(-1);
      if (own) await world.call(one.address, 'cancelOrder', own.signed);
    },
    restart: () => books.restart(),
    rollback: () => nodes.ask('anvil_rollback', 1),
    away: async (_, __, proxy) => proxy.drop(),
    lagging: async (_, __, proxy) => proxy.lag(random.int(1, 4)),
    blind: async (_, __, proxy) => proxy.hideLogs(),
    lying: async (_, __, proxy) =>
      proxy.forge(({ method }, result) =>
        method === 'eth_call' ? String(result).replace(/0{40}/g, '7'.repeat(40)) : result,
      ),
  };

  for (let step = 0; step < STEPS; step++) {
    const what = random.weighted({ place: 70, send: 14, trouble: 12, heal: 4 });
    if (what === 'place') await place();
    if (what === 'send') await send();
    if (what === 'heal') nodes.heal();
    if (what !== 'trouble') continue;
    nodes.heal();
    const name = random.pick(Object.keys(trouble));
    await trouble[name]?.(random.pick(guilty), random.pick(traders), random.pick(nodes.proxies)).catch(
      unlessRefused,
    );
  }
  nodes.heal();
  await until(
    'every settlement has ended',
    async () => {
      await send();
      return waiting.size === 0;
    },
    {
      patienceMs: 90_000,
      pollMs: 300,
      explain: () =>
        JSON.stringify([
          waiting.size,
          books.ended.length,
          deals.length,
          failures,
          books.errors.slice(-5).map(String),
        ]),
    },
  );
  await check(traders, deals);
  tell(`${deals.length} matches, refusals ${JSON.stringify([...refusals])}, errors ${books.errors.length}`);
});

const sameName = (a: SettlementKey, b: SettlementKey): boolean =>
  a.marketId === b.marketId && a.sequence === b.sequence && a.part === b.part;

/** Each match ended once, and as the chain says; each account is the chain's, with nothing out. */
async function check(traders: readonly Trader[], deals: readonly Deal[]): Promise<void> {
  expect(books.unknown).toEqual([]);
  expect(books.ended).toHaveLength(deals.length);
  for (const { key, match } of deals) {
    const results = books.ended.filter((one) => sameName(one, key)).map(({ result }) => result);
    const isSettled = await world.read('isSettled', match.id);
    expect([key, results]).toEqual([key, [isSettled ? 'CONFIRMED' : 'FAILED']]);
  }
  const innocent = new Set(traders.slice(0, INNOCENT).map(({ address }) => address));
  const own = [...books.orders.values()].filter(({ signed }) => innocent.has(signed.maker));
  const stored = await books.settlements.orders(own.map(({ hash }) => hash));
  expect([...stored.values()].filter(({ reason }) => reason === 'FUNDS')).toEqual([]);
  for (const trader of traders) {
    await books.engine.cancelAll(trader.address, {});
    await books.see(trader.address);
    const account = await books.ledger.chainAccount(trader.address.toLowerCase());
    const held = [account?.collateral, ...(account?.tokens[0]?.assets ?? [])];
    const found = held.map(
      (one) => one && [one.balanceMicro, one.reservedMicro, one.outMicro, one.pendingMicro],
    );
    const assets = [COLLATERAL, ...market.tokens];
    const balances = await Promise.all(assets.map((asset) => world.balance(trader.address, asset)));
    expect(found).toEqual(balances.map((balance) => [Number(balance / MICRO_UNITS), 0, 0, 0]));
  }
}
