import { sleep, until } from '../../support/waiting';
import type { Chain } from './rpc';

/** The time of a block of BSC. */
const BLOCK_MS = 450;

export type Miner = ReturnType<typeof createMiner>;

/** Makes the blocks of a chain that makes none by itself, and takes some back. */
export function createMiner(chain: Chain, someone: string) {
  let blocks = 0;
  let isOver = false;
  let isHalted = false;
  let depth = 0;
  let reorganized = 0;
  let replaced = 0;
  let running: Promise<void> | null = null;

  /** The transactions of these blocks are gone, and so are those that wait: nodes restart, too. */
  async function takeBack(): Promise<void> {
    const count = depth;
    depth = 0;
    await chain.ask('anvil_rollback', count);
    await chain.ask('anvil_dropAllTransactions');
    for (let i = 0; i < count; i++) await chain.ask('evm_mine');
  }

  /** Others are in their place, with a transaction that makes them others. */
  async function replace(): Promise<void> {
    const count = reorganized;
    reorganized = 0;
    const other = { from: someone, to: someone, value: `0x${(++replaced).toString(16)}` };
    await chain.ask('anvil_reorg', count, [[other, 0]]);
  }

  async function mine(): Promise<void> {
    for (let due = performance.now(); !isOver; due = Math.max(due + BLOCK_MS, performance.now())) {
      if (depth > 0) await takeBack();
      if (reorganized > 0) await replace();
      if (!isHalted) {
        await chain.ask('evm_mine');
        blocks++;
      }
      await sleep(due + BLOCK_MS - performance.now());
    }
  }

  return {
    /** From now on a block contains what was sent before it. */
    async start(): Promise<void> {
      await chain.ask('evm_setAutomine', false);
      running = mine();
    },
    /** One block or two, so that no final one is touched. */
    rollback(blocksBack: 1 | 2): void {
      depth = blocksBack;
    },
    reorganize(blocksBack: 1 | 2): void {
      reorganized = blocksBack;
    },
    halt(on: boolean): void {
      isHalted = on;
    },
    async pass(count: number): Promise<void> {
      const end = blocks + count;
      await until(`${count} blocks are made`, () => blocks >= end);
    },
    async stop(): Promise<void> {
      isOver = true;
      await running;
    },
  };
}
