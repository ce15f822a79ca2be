import { Redis } from 'ioredis';
import { createBlocks, OtherChain } from '../../../src/chain/blocks';
import type { RpcOptions } from '../../../src/chain/rpc';
import { createEventReader } from '../../../src/extensions/chain/contracts/exchange-events';
import { createWalletReader } from '../../../src/extensions/chain/contracts/wallet-reader';
import { createObservation, type Observation } from '../../../src/extensions/chain/jobs/observation';
import { startObserver } from '../../../src/extensions/chain/jobs/observe';
import type { RunningRedis } from '../../../src/local/redis';
import { createPlainLease } from '../../../src/store/outbox/lease';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts, type RunScript } from '../../../src/store/redis/scripts';
import { startTestRedis } from '../../support/redis';
import { until } from '../../support/waiting';
import { LIKE_BSC } from './anvil';
import { type Nodes, startNodes } from './nodes';
import { type Notebook, openNotebook } from './notebook';

/** The observer at work, on a chain with the blocks of BSC and with its lease in Redis. */
const EMPTY_ACCOUNT = `0x${'22'.repeat(20)}`;
/** Longer than a usual time-out of any request of the observer. */
const SLOW_MS = 5_500;
const keys = createKeys();

let nodes: Nodes;
let server: RunningRedis;
let redis: Redis;
let run: RunScript;
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  nodes = await startNodes(3, LIKE_BSC);
  server = await startTestRedis();
  redis = new Redis(server.url);
  run = createScripts(redis);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()));
  nodes.heal();
});
afterAll(async () => {
  redis?.disconnect();
  await server?.stop();
  await nodes?.stop();
});

function observationOf(ledger: Notebook, options?: RpcOptions): Observation {
  const rpc = nodes.client(nodes.proxies, options);
  return createObservation({
    blocks: createBlocks(rpc, { kind: 'tag' }),
    events: createEventReader(rpc, EMPTY_ACCOUNT),
    conversions: { at: async () => [] },
    marketOf: async () => null,
    wallets: createWalletReader(rpc, {
      exchange: EMPTY_ACCOUNT,
      collateral: EMPTY_ACCOUNT,
      conditionalTokens: EMPTY_ACCOUNT,
    }),
    ledger,
    tokensOf: async () => ['1', '2'],
    recorded: async (names) => names.map(() => null),
    onOther: async () => {},
    withdraw: async () => {},
  });
}

function start(observation: Pick<Observation, 'stepFinal' | 'stepHead'>) {
  const errors: Error[] = [];
  const halts: string[] = [];
  const observer = startObserver({
    lease: createPlainLease({ run, keys }, keys.observerLease),
    observation,
    halt: async (reason) => halts.push(reason),
    onError: (error) => errors.push(error),
  });
  running.push(observer);
  return { observer, errors, halts };
}

const grows = async (what: string, book: Notebook, by: number): Promise<void> => {
  const before = book.blocks.length;
  await until(what, () => book.blocks.length >= before + by);
};

const isUnbroken = (book: Notebook): boolean =>
  book.blocks.every(({ from }, i) => from?.hash === book.blocks[i - 1]?.to.hash);

test('it follows final blocks and heads until it is stopped', async () => {
  const book = openNotebook();
  const { observer, errors } = start(observationOf(book));
  await grows('final blocks are noted', book, 4);
  await until('heads are noted', () => book.heads.length >= 4);
  await observer.stop();
  const noted = book.blocks.length;
  const number = Number(await nodes.ask('eth_blockNumber'));
  await until('there are other blocks', async () => Number(await nodes.ask('eth_blockNumber')) > number + 2);
  expect(book.blocks).toHaveLength(noted);
  expect(isUnbroken(book)).toBe(true);
  expect(errors).toEqual([]);
});

test('of two, one works, and the other one takes over once it has stopped', async () => {
  const book = openNotebook();
  const [first, second] = [observationOf(book), observationOf(book)];
  const one = start(first);
  await grows('the first one works', book, 1);
  start(second);
  await grows('the first one works on', book, 2);
  expect(second.state().final).toBeNull();
  await one.observer.stop();
  await until('the second one works', () => second.state().final !== null);
  await grows('the second one works on', book, 2);
  expect(isUnbroken(book)).toBe(true);
});

test('it works on by itself after its nodes were away', async () => {
  const book = openNotebook();
  const { errors } = start(observationOf(book));
  await grows('it works', book, 1);
  for (const proxy of nodes.proxies) proxy.drop();
  await until('it notices', () => errors.length > 0);
  nodes.heal();
  await grows('it works again', book, 2);
  expect(isUnbroken(book)).toBe(true);
});

test('with nodes that are all slower than usual the books move on', async () => {
  const book = openNotebook();
  start(observationOf(book, { patience: 1 }));
  await grows('it works', book, 1);
  for (const proxy of nodes.proxies) proxy.delay(SLOW_MS);
  await grows('it works on', book, 2);
  expect(isUnbroken(book)).toBe(true);
});

test('on another chain it halts the exchange, with the reason, and notes nothing', async () => {
  const book = openNotebook();
  const { observer, errors, halts } = start(observationOf(book));
  await grows('it works', book, 1);
  await nodes.ask('anvil_setIntervalMining', 0);
  await nodes.reorganize(6);
  await nodes.ask('anvil_mine', '0x5');
  await until('it halts the exchange', () => halts.length > 0);
  await nodes.ask('anvil_setIntervalMining', 1);
  expect(halts[0]).toMatch(
    /^block \d+ was final as 0x[0-9a-f]{64} and is 0x[0-9a-f]{64} now; see: exchange chain rejoin$/,
  );
  const noted = book.blocks.length;
  await observer.stop();
  expect(book.blocks).toHaveLength(noted);
  expect(errors.at(-1)).toBeInstanceOf(OtherChain);
});

test('it stops although its nodes do not answer', async () => {
  const book = openNotebook();
  const { observer } = start(observationOf(book));
  await grows('it works', book, 1);
  for (const proxy of nodes.proxies) proxy.hang();
  await until('it waits for a node', () => nodes.proxies.some((proxy) => proxy.hasHanging()));
  let hasStopped = false;
  void observer.stop().then(() => {
    hasStopped = true;
  });
  // The patience of the client with its nodes is longer.
  await until('it stops', () => hasStopped);
});

test('it stops at once while it waits for another process', async () => {
  await run('hold_lease', [keys.observerLease, keys.readers], ['another', 60_000, '', '']);
  const book = openNotebook();
  const { observer } = start(observationOf(book));
  await observer.stop();
  expect(book.blocks).toEqual([]);
  await run('release_lease', [keys.observerLease], ['another']);
});
