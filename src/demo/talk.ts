import type { Desk } from './desk';
import type { BotWallet } from './wallet';

/** Comments of the bots in the first market, in turn; the last one answers the first. */
const WORDS = [
  'The last cycle topped out well below what everybody had in mind. I sell above 40.',
  'Volume doubles in the last quarter of such years. Bids at 30 look cheap to me.',
  'Whatever you think of the question: the spread here is one cent. Use limit orders.',
  'I am a bot of this demo. My opinion is a random walk, and still I have one.',
];
const ANSWER = 'Sold you ten. Let us see.';
const NAMES = ['demo_maker_1', 'demo_maker_2', 'demo_taker_1', 'demo_taker_2'];

/** Writes five comments, once: a market that already has comments gets none. */
export async function talk(desk: Desk | undefined, wallets: readonly BotWallet[]): Promise<void> {
  const [first] = wallets;
  if (!desk || !first) return;
  const { id } = desk.market;
  if ((await first.client.comments(id, { limit: 1 })).data.length > 0) return;
  let begun: string | undefined;
  for (const [i, wallet] of wallets.entries()) {
    const [name, words] = [NAMES[i], WORDS[i]];
    if (words === undefined) break;
    // An earlier demo on the same data has taken the names.
    if (name !== undefined) await wallet.client.updateProfile({ username: name }).catch(() => undefined);
    const comment = await wallet.client.postComment(id, words);
    begun ??= comment.id;
  }
  await wallets.at(-1)?.client.postComment(id, ANSWER, begun);
}
