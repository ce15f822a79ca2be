import type { BlockRef } from '../exchange/chain';
import { RpcUnavailable } from './endpoint';
import { quantity, readHash, readNumber, readObject } from './hex';
import { type Rpc, RpcDisagreement, SLOW_MS } from './rpc';

export interface Block extends BlockRef {
  readonly parentHash: string;
}

/** How a chain says that a block stays: by a tag of its nodes, or only by the number of blocks after it. */
export type Finality =
  | { readonly kind: 'tag' }
  | { readonly kind: 'confirmations'; readonly confirmations: number };

/** A block that was final is no more: these nodes serve another chain than before. */
export class OtherChain extends Error {}

/** The blocks of the chain, as a majority of them knows them. */
export interface Blocks {
  /** The newest block that a majority knows. */
  head(): Promise<Block>;
  /** The newest block of which a majority says that it, or one after it, stays. */
  final(): Promise<Block>;
  /** Null when a majority does not know it. */
  byNumber(number: number): Promise<Block | null>;
  /**
   * The blocks after `from` up to the final block `to`, at most BETWEEN_MAX of them, oldest first, each the parent of the next.
   * Throws OtherChain when `from` is no longer in the chain.
   */
  between(from: BlockRef, to: Block): Promise<readonly Block[]>;
  /** The blocks after the final one up to the head, oldest first; null when the head does not descend from it. */
  unsettled(final: BlockRef, head: Block): Promise<readonly Block[] | null>;
}

/** Blocks that one step of the observer reads: with nodes that take ten seconds for an answer, more than come in that time. */
const BETWEEN_MAX = 128;
/** More blocks than these are not looked for one after the other. */
const FEW = 4;
/** The most blocks between the final one and the head; the head is not read when there are more. */
export const UNSETTLED_MAX = 1_024;
const CACHED_MAX = 4_096;

/** The newest block number that a majority of the nodes has reached. */
export async function readHead(rpc: Pick<Rpc, 'askHealthy' | 'reached'>): Promise<number> {
  const answers = await rpc.askHealthy('eth_blockNumber', [], (one) => readNumber(one, 'block number'));
  const heads = answers.flatMap(({ endpoint, result }) =>
    result === null ? [] : { endpoint, number: result },
  );
  const head = rpc.reached(heads);
  if (head === null)
    throw answers.find(({ error }) => error)?.error ?? new RpcUnavailable('too few nodes have a block');
  return head;
}

export function createBlocks(rpc: Rpc, finality: Finality): Blocks {
  const cached = new Map<string, Block>();

  function keep(block: Block): Block {
    if (cached.size >= CACHED_MAX) cached.delete(cached.keys().next().value ?? '');
    cached.set(block.hash, block);
    return block;
  }

  async function byNumber(number: number): Promise<Block | null> {
    const params = [quantity(number), false];
    const block = await rpc.agree('eth_getBlockByNumber', params, readBlock, SLOW_MS);
    return block && keep(block);
  }

  async function byHash(hash: string): Promise<Block | null> {
    const known = cached.get(hash);
    if (known) return known;
    const params = [hash, false];
    const block = await rpc.agree('eth_getBlockByHash', params, readBlock, SLOW_MS);
    return block && keep(block);
  }

  /** One lying node neither holds the number back nor moves it beyond what another node says. */
  async function newest(tag: 'latest' | 'finalized'): Promise<Block> {
    const answers = await rpc.askHealthy('eth_getBlockByNumber', [tag, false], readBlock, SLOW_MS);
    if (tag === 'latest')
      rpc.reached(answers.flatMap(({ endpoint, result }) => (result ? { endpoint, ...result } : [])));
    const blocks = answers.flatMap(({ result }) => result ?? []);
    blocks.sort((a, b) => b.number - a.number);
    for (const candidate of blocks.slice(rpc.quorum - 1)) {
      const same = blocks.filter(({ hash }) => hash === candidate.hash);
      const block = same.length >= rpc.quorum ? candidate : await undisputed(candidate.number);
      if (block) return keep(block);
    }
    const why = answers.find(({ error }) => error)?.error?.message ?? 'the nodes contradict each other';
    throw new RpcDisagreement(`no ${tag} block is known: ${why}`);
  }

  const undisputed = (number: number): Promise<Block | null> =>
    byNumber(number).catch((error: unknown) => {
      if (error instanceof RpcDisagreement) return null;
      throw error;
    });

  async function confirmed(confirmations: number): Promise<Block> {
    const head = await newest('latest');
    const block = await byNumber(Math.max(0, head.number - confirmations));
    if (!block) throw new RpcDisagreement('no block with enough confirmations is known');
    return block;
  }

  async function between(from: BlockRef, to: Block): Promise<readonly Block[]> {
    if (to.number === from.number && to.hash !== from.hash) throw otherChain(from, to.hash);
    const count = Math.max(0, Math.min(to.number - from.number, BETWEEN_MAX));
    const numbers = Array.from({ length: count }, (_, i) => from.number + 1 + i);
    const found = await Promise.all(
      numbers.map((number) => (number === to.number ? Promise.resolve(to) : byNumber(number))),
    );
    let parent: BlockRef = from;
    for (const block of found) {
      if (block === null || block.parentHash !== parent.hash) {
        await checkStands(from);
        throw new RpcDisagreement(`block ${parent.number + 1} does not follow block ${parent.number}`);
      }
      parent = block;
    }
    return found.filter((block) => block !== null);
  }

  async function checkStands(final: BlockRef): Promise<void> {
    const now = await byNumber(final.number);
    if (now && now.hash !== final.hash) throw otherChain(final, now.hash);
  }

  /** Reads many blocks by number at once; a slow node would need very long for one after the other. */
  async function prepare(final: BlockRef, head: Block): Promise<void> {
    let first = head;
    while (first.number > final.number + 1) {
      const parent = cached.get(first.parentHash);
      if (!parent) break;
      first = parent;
    }
    const unknown = Math.min(first.number - final.number - 1, UNSETTLED_MAX);
    if (unknown <= FEW) return;
    const numbers = Array.from({ length: unknown }, (_, i) => first.number - 1 - i);
    for (let i = 0; i < numbers.length; i += BETWEEN_MAX)
      await Promise.all(numbers.slice(i, i + BETWEEN_MAX).map(byNumber));
  }

  /** Blocks of another branch than the head's are read by hash. */
  async function unsettled(final: BlockRef, head: Block): Promise<readonly Block[] | null> {
    await prepare(final, head);
    const path: Block[] = [];
    let block: Block | null = head;
    while (block && block.number > final.number && path.length < UNSETTLED_MAX) {
      path.unshift(block);
      if (block.parentHash === final.hash) return path;
      block = await byHash(block.parentHash);
    }
    return head.number <= final.number ? [] : null;
  }

  return {
    head: () => newest('latest'),
    final: () => (finality.kind === 'tag' ? newest('finalized') : confirmed(finality.confirmations)),
    byNumber,
    between,
    unsettled,
  };
}

const otherChain = ({ number, hash }: BlockRef, now: string): OtherChain =>
  new OtherChain(`block ${number} was final as ${hash} and is ${now} now`);

const MS_PER_SEC = 1_000;

function readBlock(answer: unknown): Block | null {
  if (answer === null) return null;
  const block = readObject(answer, 'block');
  return {
    number: readNumber(block.number, 'block number'),
    hash: readHash(block.hash, 'block hash'),
    timeMs: readNumber(block.timestamp, 'block time') * MS_PER_SEC,
    parentHash: readHash(block.parentHash, 'parent hash'),
  };
}
