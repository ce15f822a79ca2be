import type { Channels } from './channels';
import { type AtHome, inTransitOf, type PurseInShard } from './purse-in-shard';

/** A wallet's collateral in all of its shards. */
export interface View {
  readonly purses: ReadonlyMap<number, PurseInShard>;
  readonly inTransitMicro: number;
}

/** A wallet, and the shard in which it needs collateral. */
export interface Needy {
  readonly shard: number;
  readonly home: number;
  readonly wallet: Buffer;
}

/** Reads a wallet's collateral, and counts it. A new wallet has its grant at its home. */
export function createViews(channels: Channels, grantMicro: number) {
  /**
   * Reads all shards of the wallet; `atHome` is what its home has just said. Without it the home and the shard of the command are read
   * while the home is asked for the others: a shard that it notes after that had nothing when the command came.
   */
  async function lookAt({ shard, home, wallet }: Needy, atHome: AtHome | null): Promise<View> {
    const found = new Map<number, PurseInShard>(atHome ? [[home, atHome.purse]] : []);
    const look = (shards: readonly number[]) =>
      Promise.all(
        [...new Set(shards)]
          .filter((k) => !found.has(k))
          .map(async (k) => found.set(k, await channels.look(k, wallet))),
      );
    const [others] = await Promise.all([
      atHome?.shards ?? channels.shardsOf(home, wallet),
      look([home, shard]),
    ]);
    await look(others);
    return { purses: found, inTransitMicro: inTransitOf([...found.values()]) };
  }

  const freeAt = ({ home }: Pick<Needy, 'home'>, { purses }: View, shard: number): number =>
    purses.get(shard)?.freeMicro ?? (shard === home ? grantMicro : 0);

  const totalOf = (needy: Pick<Needy, 'home'>, view: View): number =>
    [...view.purses.keys()].reduce((sum, k) => sum + freeAt(needy, view, k), view.inTransitMicro);

  /** The wallet's other shards, the largest account first. */
  const donorsOf = (needy: Omit<Needy, 'wallet'>, view: View) =>
    [...view.purses.keys()]
      .filter((k) => k !== needy.shard)
      .map((from) => ({ from, freeMicro: freeAt(needy, view, from) }))
      .sort((a, b) => b.freeMicro - a.freeMicro);

  return { lookAt, freeAt, totalOf, donorsOf };
}

/** Whether nothing was sent or got in between. */
export const hasSameMoves = (a: PurseInShard, b: PurseInShard | undefined): boolean =>
  a.sentMicro === b?.sentMicro && a.gotMicro === b.gotMicro;
