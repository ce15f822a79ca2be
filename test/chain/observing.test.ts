import { createBlocks, OtherChain } from '../../src/chain/blocks';
import { matchId } from '../../src/chain/exchange-contract';
import { createEventReader, type Withdrawal } from '../../src/chain/exchange-events';
import { createWalletReader } from '../../src/chain/wallet-reader';
import { createObservation, type Observation } from '../../src/jobs/chain/observation';
import { approval, approvalForAll, deal, tokenTransfer, traders, transfer } from './deals';
import { type Nodes, startNodes } from './nodes';
import { type Notebook, openNotebook } from './notebook';
import type { ChainProxy } from './proxy';
import { type Market, newTrader, ONE, startWorld, type Trader, type World } from './world';

const MARKET_ID = 'abcd0123';
/** The final block is so many blocks behind the head. */
const BEHIND = 2;
let sequence = 0;
const nextName = () => ({ marketId: MARKET_ID, sequence: ++sequence, part: 0 });

let world: World;
let market: Market;
let nodes: Nodes;
let liar: ChainProxy;
let book: Notebook;
let withdrawn: Withdrawal[];
let observation: Observation;

beforeAll(async () => {
  world = await startWorld({ slotsInAnEpoch: 1 });
  market = await world.openMarket('observed');
  nodes = await startNodes(3, world.anvil);
  liar = nodes.proxies[0] as ChainProxy;
});
beforeEach(async () => {
  book = openNotebook();
  withdrawn = [];
  observation = observe(book);
  await mine(BEHIND);
  await observation.stepFinal();
});
afterEach(() => nodes.heal());
afterAll(async () => {
  await nodes?.stop();
  await world?.stop();
});

function observe(ledger: Notebook): Observation {
  const rpc = nodes.client();
  const { exchange, collateral, ctf } = world;
  return createObservation({
    blocks: createBlocks(rpc, { kind: 'tag' }),
    events: createEventReader(rpc, exchange),
    wallets: createWalletReader(rpc, { exchange, collateral, conditionalTokens: ctf }),
    ledger,
    tokensOf: async () => [String(market.tokens[0]), String(market.tokens[1])],
    withdraw: async (list) => void withdrawn.push(...list),
  });
}

const mine = (count: number): Promise<unknown> => nodes.ask('anvil_mine', `0x${count.toString(16)}`);
const lower = ({ address }: Trader): string => address.toLowerCase();
const exposed = (...list: readonly Trader[]) =>
  book.expose(list.map((trader) => ({ address: lower(trader), marketIds: [MARKET_ID] })));

/** Makes everything up to now final, and observes it. */
async function finalize(): Promise<void> {
  await mine(BEHIND);
  while (await observation.stepFinal());
}

const readingOf = (trader: Trader, readings = book.blocks.at(-1)?.readings) =>
  readings?.find(({ address }) => address === lower(trader));

describe('a settlement', () => {
  test('is confirmed once its block is final, once, together with the state of its wallets', async () => {
    const [buyer, seller] = await traders(world, market);
    await finalize();
    const name = nextName();
    await world.settle([deal(world, market, matchId(name), [buyer, seller], 100n)]);
    const blockNumber = Number(await nodes.ask('eth_blockNumber'));
    await mine(BEHIND - 1);
    while (await observation.stepFinal());
    expect(book.results()).toEqual([]);
    await finalize();
    await finalize();
    expect(book.results()).toEqual([
      {
        ...{ ...name, blockNumber, result: 'CONFIRMED', fault: null },
        transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      },
    ]);
    const noted = book.blocks.find(({ events }) => events.length > 0);
    expect(readingOf(buyer, noted?.readings)).toMatchObject({
      collateral: { balance: 940n * ONE },
      tokens: [{ marketId: MARKET_ID, balances: [100n * ONE, 0n] }],
    });
    expect(readingOf(seller, noted?.readings)).toMatchObject({
      tokens: [{ balances: [900n * ONE, 1_000n * ONE] }],
    });
  });

  test('fails by the fault of a wallet, which is named, and by no other', async () => {
    const [buyer, seller] = await traders(world, market);
    const [poor] = await traders(world, market);
    await world.chain.send(poor.address, world.collateral, approval(world, 1n));
    const [good, spoilt, expired] = [nextName(), nextName(), nextName()];
    await world.settle([
      deal(world, market, matchId(good), [buyer, seller], 10n),
      deal(world, market, matchId(spoilt), [poor, seller], 10n),
      deal(world, market, matchId(expired), [buyer, seller], 10n, 1n),
    ]);
    await finalize();
    expect(book.results()).toMatchObject([
      { ...good, result: 'CONFIRMED' },
      { ...spoilt, result: 'FAILED', fault: { wallet: lower(poor), reason: 'ALLOWANCE' } },
    ]);
  });

  test('that a rollback takes out of the chain is confirmed only when it is there again', async () => {
    const [buyer, seller] = await traders(world, market);
    await finalize();
    const name = nextName();
    const match = deal(world, market, matchId(name), [buyer, seller], 10n);
    await world.settle([match]);
    await observation.stepHead();
    await nodes.ask('anvil_rollback', 1);
    await mine(1);
    await observation.stepHead();
    expect(observation.state().reorgDepth).toBe(1);
    await finalize();
    expect(book.results()).toEqual([]);
    await world.settle([match]);
    await finalize();
    expect(book.results()).toMatchObject([{ ...name, result: 'CONFIRMED' }]);
  });

  test('is found once after a long absence, by one of two observers', async () => {
    const [buyer, seller] = await traders(world, market);
    const names = [nextName(), nextName(), nextName()];
    for (const name of names) {
      await world.settle([deal(world, market, matchId(name), [buyer, seller], 10n)]);
      await mine(50);
    }
    const other = observe(book);
    await Promise.all([observation.stepFinal(), other.stepFinal()]);
    await finalize();
    expect(book.results()).toMatchObject(names.map((name) => ({ ...name, result: 'CONFIRMED' })));
    expect(book.blocks.map(({ from }) => from?.number)).toEqual([
      undefined,
      ...book.blocks.slice(0, -1).map(({ to }) => to.number),
    ]);
  });
});

describe('the head', () => {
  test('shows a wallet that moves its funds away, before that is final', async () => {
    const [buyer, seller] = await traders(world, market);
    exposed(buyer, seller);
    await finalize();
    await observation.stepHead();
    expect(book.heads.at(-1)?.readings).toEqual([]);
    await world.chain.send(buyer.address, world.collateral, transfer(seller.address, 400n * ONE));
    await observation.stepHead();
    const last = book.heads.at(-1);
    expect(last?.head.number).toBe(Number(await nodes.ask('eth_blockNumber')));
    expect(last?.readings).toMatchObject([{ address: lower(buyer), collateral: { balance: 600n * ONE } }]);
    expect(observation.state().limited).toBe(1);
  });

  test('shows no news where our own contract moved funds, and all of it where the wallet did, too', async () => {
    const [buyer, seller] = await traders(world, market);
    await world.chain.send(buyer.address, world.collateral, approval(world, 500n * ONE));
    exposed(buyer, seller);
    await finalize();
    await observation.stepHead();
    await world.settle([deal(world, market, matchId(nextName()), [buyer, seller], 100n)]);
    await observation.stepHead();
    expect(book.heads.at(-1)?.readings).toEqual([]);
    await world.chain.send(buyer.address, world.collateral, transfer(newTrader().address, 40n * ONE));
    await world.chain.send(seller.address, world.collateral, transfer(newTrader().address, 10n * ONE));
    await observation.stepHead();
    const { readings } = book.heads.at(-1) ?? {};
    expect(readingOf(buyer, readings)).toMatchObject({
      collateral: { balance: 960n * ONE, allowance: 500n * ONE },
      tokens: [{ balances: [0n, 0n] }],
    });
    // The seller moved away a part of what the match brought; it had nothing before.
    expect(readingOf(seller, readings)).toBeUndefined();
  });

  test('shows when a reorganization gives a wallet its funds back', async () => {
    const [buyer, seller] = await traders(world, market);
    exposed(buyer);
    await finalize();
    await world.chain.send(buyer.address, world.collateral, transfer(seller.address, 400n * ONE));
    await observation.stepHead();
    await nodes.reorganize(1);
    await observation.stepHead();
    expect(readingOf(buyer, book.heads.at(-1)?.readings)?.collateral.balance).toBe(1_000n * ONE);
    await mine(1);
    await observation.stepHead();
    expect(book.heads.at(-1)?.readings).toEqual([]);
  });

  test.each([
    [
      'lowers an allowance',
      (one: Trader) => world.chain.send(one.address, world.collateral, approval(world, 5n)),
    ],
    ['moves outcome tokens', (one: Trader) => moveTokens(one)],
    ['takes back the approval of outcome tokens', (one: Trader) => revoke(one)],
  ])('shows a wallet that %s', async (_, spoil) => {
    const [, seller] = await traders(world, market);
    exposed(seller);
    await finalize();
    await observation.stepHead();
    await spoil(seller);
    await observation.stepHead();
    expect(book.heads.at(-1)?.readings.map(({ address }) => address)).toEqual([lower(seller)]);
  });

  test('is the same block until there is another one', async () => {
    expect(await observation.stepHead()).toBe(true);
    expect(await observation.stepHead()).toBe(false);
    await mine(1);
    expect(await observation.stepHead()).toBe(true);
  });
});

const revoke = ({ address }: Trader): Promise<unknown> =>
  world.chain.send(address, world.ctf, approvalForAll(world, false));
const moveTokens = ({ address }: Trader): Promise<unknown> =>
  world.chain.send(address, world.ctf, tokenTransfer(address, newTrader().address, market.tokens[0], ONE));

test('wallets that withdraw an order or raise their nonce are reported once that is final', async () => {
  const [buyer] = await traders(world, market);
  const order = world.sign(buyer, { tokenId: market.tokens[0], makerAmount: ONE, takerAmount: 2n * ONE });
  await world.call(buyer.address, 'cancelOrder', order);
  await world.call(buyer.address, 'raiseNonce', 9);
  expect(withdrawn).toEqual([]);
  await finalize();
  expect(withdrawn).toEqual([
    { kind: 'order', wallet: lower(buyer), orderHash: world.hashOf(order) },
    { kind: 'nonce', wallet: lower(buyer), minNonce: 9n },
  ]);
});

test('an exposed wallet has the nonce that it raised before the contract follows it', async () => {
  const [buyer] = await traders(world, market);
  exposed(buyer);
  await finalize();
  expect(readingOf(buyer)?.minNonce).toBe(0n);
  await world.call(buyer.address, 'raiseNonce', 7);
  await finalize();
  expect(await world.read('nonces', buyer.address)).toBe(0n);
  expect(readingOf(buyer)?.minNonce).toBe(7n);
});

describe('one node of three', () => {
  /** One settlement, observed while a node misbehaves. */
  async function observed(): Promise<void> {
    const [buyer, seller] = await traders(world, market);
    exposed(buyer, seller);
    const name = nextName();
    await world.settle([deal(world, market, matchId(name), [buyer, seller], 100n)]);
    await finalize();
    await observation.stepHead();
    expect(book.results()).toMatchObject([{ ...name, result: 'CONFIRMED' }]);
    expect(readingOf(buyer)?.collateral.balance).toBe(940n * ONE);
    expect(book.heads.at(-1)?.readings).toEqual([]);
  }

  test.each<[string, (proxy: ChainProxy) => unknown]>([
    ['that is away', (proxy) => proxy.drop()],
    ['that answers with errors', (proxy) => proxy.fail()],
    ['that lags behind', (proxy) => proxy.lag(3)],
    ['that stays where it is', (proxy) => proxy.freeze()],
    ['that hides logs', (proxy) => proxy.hideLogs()],
    ['that forges balances', (proxy) => proxy.forge(forgeCalls)],
    ['that is on a chain of its own', (proxy) => proxy.forge(forgeBlocks)],
  ])('%s changes nothing', async (_, spoil) => {
    await spoil(liar);
    await observed();
  });
});

const forgeCalls = ({ method }: { method: string }, result: unknown): unknown =>
  method === 'eth_call' ? String(result).replace(/0{60}/g, '0'.repeat(30) + '1'.repeat(30)) : result;
const forgeBlocks = ({ method }: { method: string }, result: unknown): unknown =>
  /^eth_getBlock/.test(method) && result !== null
    ? { ...(result as object), hash: `0x${'ab'.repeat(32)}`, number: '0xffffff' }
    : result;

test('while too few nodes answer nothing is noted, and afterwards everything', async () => {
  const [buyer, seller] = await traders(world, market);
  const name = nextName();
  await world.settle([deal(world, market, matchId(name), [buyer, seller], 10n)]);
  await mine(BEHIND);
  for (const proxy of nodes.proxies.slice(1)) proxy.drop();
  await expect(observation.stepFinal()).rejects.toThrow();
  await expect(observation.stepHead()).rejects.toThrow();
  expect(book.blocks).toHaveLength(1);
  nodes.heal();
  await finalize();
  expect(book.results()).toMatchObject([{ ...name, result: 'CONFIRMED' }]);
});

test('an error between the readings and the ledger leaves the ledger where it was', async () => {
  await mine(BEHIND);
  liar.fail(['eth_call', 'eth_getLogs']);
  for (const proxy of nodes.proxies) proxy.fail(['eth_getLogs']);
  await expect(observation.stepFinal()).rejects.toThrow('the proxy fails');
  expect(book.blocks).toHaveLength(1);
});

test('when a final block is replaced the observer stops and says so', async () => {
  await mine(3);
  while (await observation.stepFinal());
  const noted = book.blocks.length;
  await nodes.reorganize(5);
  await mine(BEHIND);
  await expect(observation.stepFinal()).rejects.toBeInstanceOf(OtherChain);
  expect(book.blocks).toHaveLength(noted);
});
