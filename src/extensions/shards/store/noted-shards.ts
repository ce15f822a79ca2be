import type { Redis } from 'ioredis';

/** A connection to a node. Each time it is cut, the next one is another. */
export interface Link {
  readonly node: Redis;
  readonly cuts: number;
}

interface Noted {
  readonly link: Link;
  readonly shards: readonly number[];
}

/**
 * The shards that the homes of wallets have noted, where every replica had the note. It is worth nothing any more once another
 * node is the master of the home or the connection was cut, because the node may have lost it then.
 */
export interface NotedShards {
  note(wallet: Buffer, link: Link, shards: readonly number[]): void;
  /** Null when this process has no such note. The home may have noted more meanwhile, never less. */
  of(wallet: Buffer, link: Link): readonly number[] | null;
}

/** The most wallets of which a process remembers this; it forgets all then, and each costs one hold again. */
const WALLETS_MAX = 10_000;

export function createNotedShards(): NotedShards {
  const noted = new Map<string, Noted>();
  return {
    note(wallet, link, shards) {
      if (noted.size >= WALLETS_MAX) noted.clear();
      noted.set(wallet.toString('latin1'), { link, shards });
    },
    of(wallet, { node, cuts }) {
      const known = noted.get(wallet.toString('latin1'));
      return known && known.link.node === node && known.link.cuts === cuts ? known.shards : null;
    },
  };
}
