import type { Channels } from './channels';
import { type AtHome, inTransitOf, type PurseInShard } from './purse-in-shard';

/** A wallet's collateral in all of its shards. */
export interface View {
  readonly purses: ReadonlyMap<number, PurseInShard>;
  readonly inTransitMicro: number;
  /** Whether another gatherer held the purse. */
  readonly isHeld: boolean;
}

/** A wallet, and the shard in which it needs collateral. */
export interface Needy {
  readonly shard: number;
  readonly home: number;
  readonly wallet: Buffer;
}

/** Looks at a wallet's collateral, and counts it. A new wallet has its grant at its home. */
export function createViews(channels: Channels, grantMicro: number) {
  /**
   * The home is not asked again for what it has just told. It is asked for the wallet's shards while those that are known are looked
   * at: one that it notes after that had nothing when the command came.
   */
  async function lookAt({ shard, home, wallet }: Needy, atHome: AtHome | null): Promise<View> {
    const found = new Map<number, PurseInShard>(atHome ? [[home, atHome.purse]] : []);
    const look = (shards: readonly number[]) =>
      Promise.all(
        [...new Set(shards)]
          .filter((k) => !found.has(k))
          .map(async (k) => found.set(k, await channels.look(k, wallet))),
      );
    const [others, isHeld] = await Promise.all([
      atHome?.shards ?? channels.shardsOf(home, wallet),
      // The home told this to the holder, or there was none.
      atHome === null && channels.isHeld(home, wallet),
      look([home, shard, ...(channels.notedOf(home, wallet) ?? [])]),
    ]);
    await look(others);
    return { purses: found, inTransitMicro: inTransitOf([...found.values()]), isHeld };
  }

  const freeAt = ({ home }: Pick<Needy, 'home'>, { purses }: View, shard: number): number =>
    purses.get(shard)?.freeMicro ?? (shard === home ? grantMicro : 0);

  const totalOf = (needy: Pick<Needy, 'home'>, view: View): number =>
    [...view.purses.keys()].reduce((sum, k) => sum + freeAt(needy, view, k), view.inTransitMicro);

  /** The largest first. */
  const donorsOf = (needy: Omit<Needy, 'wallet'>, view: View) =>
    [...view.purses.keys()]
      .filter((k) => k !== needy.shard)
      .map((from) => ({ from, freeMicro: freeAt(needy, view, from) }))
      .sort((a, b) => b.freeMicro - a.freeMicro);

  /** Whether one shard has what is needed, and may send it without the hold as far as the view tells. */
  function hasOneDonor(needy: Omit<Needy, 'wallet'>, view: View, needMicro: number): boolean {
    const [largest] = donorsOf(needy, view);
    return !view.isHeld && view.inTransitMicro === 0 && needMicro <= (largest?.freeMicro ?? 0);
  }

  return { lookAt, freeAt, totalOf, donorsOf, hasOneDonor };
}

/** Whether nothing was sent or got in between. */
export const hasSameMoves = (a: PurseInShard, b: PurseInShard | undefined): boolean =>
  a.sentMicro === b?.sentMicro && a.gotMicro === b.gotMicro;
