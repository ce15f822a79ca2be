import { until } from '../../support/waiting';
import { type Key, type Operating, startOperating } from './operating';
import { type ChainProxy, startChainProxy } from './proxy';
import type { Trader } from './world';

/** The operator against three nodes of a real chain, of which the one that is asked first is bad. */
const NODES = 3;
let op: Operating;
let proxies: readonly ChainProxy[];
let traders: readonly Trader[];
const stopping: (() => Promise<void>)[] = [];

beforeAll(async () => {
  op = await startOperating();
  proxies = await Promise.all(Array.from({ length: NODES }, () => startChainProxy(op.world.anvil.url)));
  traders = await Promise.all([op.trader(), op.trader()]);
});
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
  for (const proxy of proxies) proxy.heal();
  op.errors.length = 0;
});
afterAll(async () => {
  await op?.stop();
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()));
});

const first = (): ChainProxy => proxies[0] as ChainProxy;
const one = (n: number): Trader => traders[n] as Trader;

function operate(): void {
  const operator = op.operate([0, 1], { nodeUrls: proxies.map(({ url }) => url) });
  stopping.push(operator.stop);
}

const ended = async (keys: readonly Key[]): Promise<readonly unknown[]> => {
  const isOver = async (key: Key): Promise<boolean> =>
    ['CONFIRMED', 'FAILED'].includes((await op.statusOf(key)) ?? '');
  for (const key of keys)
    await until(`settlement ${key.sequence} is over`, () => isOver(key), {
      explain: () => op.errors.slice(-3).join(),
    });
  return Promise.all(keys.map((key) => op.statusOf(key)));
};

test('a wallet whose funds are younger than the block at which one node stands still is not blamed', async () => {
  await first().freeze();
  operate();
  const young = await op.trader();
  expect(await ended([await op.match(one(0), young), await op.match(young, one(1))])).toEqual([
    'CONFIRMED',
    'CONFIRMED',
  ]);
});

test('a match is judged at no block before the last final one that the books had when it was made', async () => {
  // Two of three nodes are behind, so that a majority knows only their block.
  await Promise.all(proxies.slice(0, 2).map((proxy) => proxy.freeze()));
  operate();
  const young = await op.trader();
  const key = await op.match(one(0), young);
  const looked = (): number => first().asked.get('eth_call') ?? 0;
  const before = looked();
  await until('the match was looked at again and again', () => looked() > before + 20);
  expect(['MATCHED', 'RETRYING']).toContain(await op.statusOf(key));
  for (const proxy of proxies) proxy.heal();
  expect(await ended([key])).toEqual(['CONFIRMED']);
});

/** The least that a node can say of an account: no money for gas, a nonce that was never used, and no funds for any match. */
const poor =
  (lane: string): Parameters<ChainProxy['forge']>[0] =>
  ({ method, params }, result) => {
    if (method === 'eth_getBalance' || method === 'eth_getTransactionCount') return '0x0';
    const [call] = params as [{ to?: string; from?: string }];
    if (method !== 'eth_call' || call.from === lane) return result;
    return `0x${'00'.repeat(String(result).length / 2 - 1)}`;
  };

test.each<[string, () => Promise<unknown> | unknown]>([
  ['says that everybody is poor', () => first().forge(poor(one(0).address))],
  ['never answers', () => first().hang()],
  ['stays behind', () => first().freeze()],
  ['is three blocks late', () => first().lag(3)],
  ['fails', () => first().fail()],
])('one node that %s stops nothing', async (_, spoil) => {
  operate();
  await spoil();
  const keys: Key[] = [];
  for (let n = 0; n < 10; n++) keys.push(await op.match(one(n % 2), one((n + 1) % 2)));
  expect(new Set(await ended(keys))).toEqual(new Set(['CONFIRMED']));
});

test('a price of one node that no other names stops nothing', async () => {
  first().forge(({ method }, result) => {
    if (method === 'eth_gasPrice' || method === 'eth_maxPriorityFeePerGas') return '0x8ac7230489e80000';
    const block = result as { baseFeePerGas?: string } | null;
    return block?.baseFeePerGas ? { ...block, baseFeePerGas: '0x8ac7230489e80000' } : result;
  });
  operate();
  expect(await ended([await op.match(one(0), one(1))])).toEqual(['CONFIRMED']);
});
