import { OtherChain } from '../../../src/chain/blocks';
import { RpcUnavailable } from '../../../src/chain/endpoint';
import { matchId } from '../../../src/chain/exchange-contract';
import { deal, traders } from './deals';
import { BEHIND, nextName, withObserver } from './observed';
import type { ChainProxy } from './proxy';
import { ONE } from './world';

/** An observer whose nodes fail or lie. */
const stage = withObserver();

describe('one node of three', () => {
  /** One settlement, observed while a node misbehaves. */
  async function observed(): Promise<void> {
    const { world, market, book, observation, finalize, expose, readingOf } = stage();
    const [buyer, seller] = await traders(world, market);
    expose(buyer, seller);
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
    await spoil(stage().nodes.proxies[0] as ChainProxy);
    await observed();
  });
});

const TRIES_MAX = 20;

/** A step of the observer, which the worker tries again: a busy machine closes a connection now and then. */
async function patiently<T>(step: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof RpcUnavailable) || tries === TRIES_MAX) throw error;
    }
  }
}

const forgeCalls = ({ method }: { method: string }, result: unknown): unknown =>
  method === 'eth_call' ? String(result).replace(/0{60}/g, '0'.repeat(30) + '1'.repeat(30)) : result;
const forgeBlocks = ({ method }: { method: string }, result: unknown): unknown =>
  /^eth_getBlock/.test(method) && result !== null
    ? { ...(result as object), hash: `0x${'ab'.repeat(32)}`, number: '0xffffff' }
    : result;

test('while too few nodes answer nothing is noted, and afterwards everything', async () => {
  const { world, market, nodes, book, observation, mine, finalize } = stage();
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
  const { nodes, book, observation, mine } = stage();
  await mine(BEHIND);
  for (const proxy of nodes.proxies) proxy.fail(['eth_getLogs']);
  await expect(observation.stepFinal()).rejects.toThrow('the proxy fails');
  expect(book.blocks).toHaveLength(1);
});

test('after an absence it reads wallets at a block of that moment, because nodes forget the states of older ones', async () => {
  const { world, market, nodes, book, observation, mine, finalize, expose, readingOf } = stage();
  const [buyer, seller] = await traders(world, market);
  expose(buyer, seller);
  const name = nextName();
  await world.settle([deal(world, market, matchId(name), [buyer, seller], 100n)]);
  await mine(150);
  for (const proxy of nodes.proxies) proxy.prune(16);
  // While it catches up the chain grows by a block for each eight that it reads, each by two requests.
  let read = 0;
  nodes.proxies[0]?.forge(async ({ method }, result) => {
    if (method === 'eth_getLogs' && ++read % 16 === 0) await mine(1);
    return result;
  });
  for (let step = 0; step < 10; step++) await patiently(() => observation.stepFinal());
  expect(book.results()).toMatchObject([{ ...name, result: 'CONFIRMED' }]);
  nodes.heal();
  await finalize();
  expect(readingOf(buyer)?.collateral.balance).toBe(940n * ONE);
});

test('while it catches up it does not look at the head, nor while finality is far behind', async () => {
  const { book, observation, mine } = stage();
  await mine(200);
  expect(await patiently(() => observation.stepFinal())).toBe(true);
  expect(await observation.stepHead()).toBe(false);
  while (await patiently(() => observation.stepFinal()));
  expect(await observation.stepHead()).toBe(true);
  await mine(1_100);
  expect(await observation.stepHead()).toBe(false);
  expect(book.heads).toHaveLength(1);
});

test('when a final block is replaced the observer stops and says so', async () => {
  const { nodes, book, observation, mine } = stage();
  await mine(3);
  while (await observation.stepFinal());
  const noted = book.blocks.length;
  await nodes.reorganize(5);
  await mine(BEHIND);
  await expect(observation.stepFinal()).rejects.toBeInstanceOf(OtherChain);
  expect(book.blocks).toHaveLength(noted);
});
