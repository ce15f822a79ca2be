import { type Block, type Blocks, createBlocks, OtherChain } from '../../../src/chain/blocks';
import { type Nodes, startNodes } from './nodes';
import type { ChainProxy } from './proxy';

const BEHIND = 2;

let nodes: Nodes;
let blocks: Blocks;
let liar: ChainProxy;

beforeAll(async () => {
  nodes = await startNodes(3, { slotsInAnEpoch: 1 });
  await nodes.ask('anvil_mine', '0xa');
});
beforeEach(() => {
  blocks = createBlocks(nodes.client(), { kind: 'tag' });
  liar = nodes.proxies[1] ?? (nodes.proxies[0] as ChainProxy);
});
afterEach(() => nodes.heal());
afterAll(() => nodes?.stop());

const newest = async (): Promise<number> => Number(await nodes.ask('eth_blockNumber'));
const mine = (count: number): Promise<unknown> => nodes.ask('anvil_mine', `0x${count.toString(16)}`);
const hashes = (list: readonly Block[] | null): string[] | undefined => list?.map(({ hash }) => hash);

async function hashOf(number: number): Promise<string> {
  const block = await nodes.ask('eth_getBlockByNumber', `0x${number.toString(16)}`, false);
  return (block as { hash: string }).hash;
}

/** Changes an answer's block as a liar would. */
const claim = (change: Readonly<Record<string, string>>) =>
  liar.forge(({ method }, result) =>
    method === 'eth_getBlockByNumber' && result !== null ? { ...(result as object), ...change } : result,
  );

test('head and final block are those of the chain, with their parents', async () => {
  const number = await newest();
  expect(await blocks.head()).toMatchObject({ number, hash: await hashOf(number) });
  expect(await blocks.final()).toMatchObject({
    number: number - BEHIND,
    hash: await hashOf(number - BEHIND),
    parentHash: await hashOf(number - BEHIND - 1),
  });
});

test('without a tag, a block is final after so many others', async () => {
  const patient = createBlocks(nodes.client(), { kind: 'confirmations', confirmations: 5 });
  const number = (await newest()) - 5;
  expect(await patient.final()).toMatchObject({ number, hash: await hashOf(number) });
});

describe('one node of three', () => {
  test('cannot make a later block final', async () => {
    const number = await newest();
    claim({ number: '0xffff', hash: `0x${'ab'.repeat(32)}` });
    expect((await blocks.final()).number).toBe(number - BEHIND);
    expect((await blocks.head()).number).toBe(number);
  });

  test('cannot replace a block', async () => {
    const number = (await newest()) - BEHIND;
    claim({ hash: `0x${'ab'.repeat(32)}` });
    expect((await blocks.final()).hash).toBe(await hashOf(number));
    expect((await blocks.byNumber(number))?.hash).toBe(await hashOf(number));
  });

  test('that lags behind holds nothing up', async () => {
    liar.lag(5);
    expect((await blocks.final()).number).toBe((await newest()) - BEHIND);
    await liar.freeze();
    await mine(3);
    expect((await blocks.head()).number).toBe(await newest());
  });

  test('that is away holds nothing up', async () => {
    liar.drop();
    expect((await blocks.final()).number).toBe((await newest()) - BEHIND);
  });
});

test('with two nodes away there is no final block', async () => {
  for (const proxy of nodes.proxies.slice(1)) proxy.drop();
  await expect(blocks.final()).rejects.toThrow('no finalized block is known');
});

test('between two final blocks are those that follow each other', async () => {
  const from = await blocks.final();
  await mine(6);
  const found = await blocks.between(from, await blocks.final());
  expect(found.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6].map((n) => from.number + n));
  expect(found.map(({ parentHash }) => parentHash)).toEqual([
    from.hash,
    ...(hashes(found)?.slice(0, -1) ?? []),
  ]);
  expect(await blocks.between(from, from)).toEqual([]);
});

test('a long way is taken in steps', async () => {
  const from = await blocks.final();
  await mine(150);
  const to = await blocks.final();
  const first = await blocks.between(from, to);
  const rest = await blocks.between(first.at(-1) as Block, to);
  expect(first).toHaveLength(128);
  expect(rest.at(-1)).toEqual(to);
});

test('a final block that another one replaced is another chain', async () => {
  const from = await blocks.final();
  await nodes.reorganize(5);
  await mine(1);
  await expect(blocks.between(from, await blocks.final())).rejects.toBeInstanceOf(OtherChain);
});

test('a lying node cannot make it another chain', async () => {
  const from = await blocks.final();
  await mine(2);
  claim({ hash: `0x${'ab'.repeat(32)}`, parentHash: `0x${'cd'.repeat(32)}` });
  expect(await blocks.between(from, await blocks.final())).toHaveLength(2);
});

test('the blocks that are not final yet are followed from the head, also after a reorg', async () => {
  const final = await blocks.final();
  const head = await blocks.head();
  const before = await blocks.unsettled(final, head);
  expect(hashes(before)).toEqual([await hashOf(final.number + 1), head.hash]);
  await nodes.reorganize(1);
  const after = await blocks.unsettled(final, await blocks.head());
  expect(hashes(after)).toEqual([await hashOf(final.number + 1), await hashOf(final.number + 2)]);
  expect(hashes(after)?.[1]).not.toBe(head.hash);
});

test('many blocks that are not final yet are read at once, also when some of them were replaced', async () => {
  const final = await blocks.final();
  await mine(60);
  await nodes.reorganize(1);
  const head = await blocks.head();
  for (const proxy of nodes.proxies) proxy.forget();
  const found = await blocks.unsettled(final, head);
  expect(found?.map(({ number }) => number)).toEqual(
    Array.from({ length: head.number - final.number }, (_, i) => final.number + 1 + i),
  );
  expect(found?.at(-2)?.hash).toBe(head.parentHash);
  for (const { asked } of nodes.proxies) expect(asked.get('eth_getBlockByHash') ?? 0).toBe(0);
});

test('a head on a branch that left the final block behind is not followed', async () => {
  const head = await blocks.head();
  const final = await blocks.final();
  const stranger = { ...final, hash: `0x${'ab'.repeat(32)}` };
  expect(await blocks.unsettled(stranger, head)).toBeNull();
  expect(await blocks.unsettled(head, final)).toEqual([]);
});
