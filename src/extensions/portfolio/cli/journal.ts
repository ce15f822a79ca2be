import { recorded } from '../../../cli/action';
import { type Command, EXIT } from '../../../cli/store';
import { openRebuild } from '../store/open';
import { ArchivedPartDiffers } from '../store/rebuild';

/** The number of wallets between two lines of progress. */
const TELL_EVERY = 1_000;

/** Goes from wallet to wallet in the order of their addresses; `from` continues an interrupted run. */
export const rebuildJournal =
  (from: string): Command =>
  async ({ store, say, line, isJson }) => {
    const doing = { action: 'journal rebuild', path: 'exchange journal rebuild', body: { from } };
    const { checked, repaired, refused } = await recorded(store, doing, async () => {
      const rebuild = openRebuild(store);
      const endGap = await rebuild.begin();
      const wallets = (await rebuild.wallets()).filter((wallet) => wallet >= from);
      const wrong: string[] = [];
      const refused: { wallet: string; why: string }[] = [];
      for (const [i, wallet] of wallets.entries()) {
        if (!isJson && i > 0 && i % TELL_EVERY === 0)
          await line(`${i} of ${wallets.length} wallets; next is ${wallet}`);
        try {
          if (await rebuild.rebuild(wallet)) wrong.push(wallet);
        } catch (error) {
          if (!(error instanceof ArchivedPartDiffers)) throw error;
          refused.push({ wallet, why: error.message });
        }
      }
      await endGap();
      return { checked: wallets.length, repaired: wrong, refused };
    });
    await say({ checked, repaired, refused }, [
      ...repaired.map((wallet) => `${wallet} was wrong, and is put right`),
      ...refused.map(({ wallet, why }) => `${wallet} is left as it is: ${why}`),
      `${checked} wallets, ${repaired.length} of them put right`,
    ]);
    return refused.length === 0 ? EXIT.done : EXIT.refused;
  };
