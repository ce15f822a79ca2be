import { type ChainBooksOptions, openChainBooks } from '../../../support/chain-books';
import { parseMicro } from '../../../support/engine-world';
import { createRandom } from '../../../support/random';
import { auditSound } from './fuzz-chores';
import { FuzzModel, MARKETS } from './fuzz-model';
import { FINALITY, Fuzz, WALLETS } from './fuzz-world';

export type FuzzOptions = Pick<
  ChainBooksOptions,
  'url' | 'patches' | 'hold' | 'feeRateBps' | 'isBlind' | 'unsettledMaxNew'
> & {
  readonly seed: number;
  readonly operations: number;
};

/** So much may wait for the chain: more than the usual order has, and less than the largest ones. */
const LIMIT = '40';

/**
 * Random orders, transfers, blocks and rollbacks on the books and on the model, compared after each; then everything settles.
 * Returns how often each thing happened; throws with the seed at the first difference.
 */
export async function fuzzChain({
  seed,
  operations,
  unsettledMaxNew = LIMIT,
  ...options
}: FuzzOptions): Promise<Map<string, number>> {
  const model = new FuzzModel();
  const books = await openChainBooks({
    ...options,
    unsettledMaxNew,
    onReadings: (...args) => model.take(...args),
  });
  const tally = new Map<string, number>();
  const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
  const fuzz = new Fuzz(books, model, createRandom(seed), count, parseMicro(unsettledMaxNew));
  let last = 'the start';
  try {
    await fuzz.begin();
    for (const told of chapter(fuzz)) {
      last = await told();
      await fuzz.compare();
    }
    for (let i = 0; i < operations; i++) {
      last = await fuzz.step();
      count(last.split(' ')[0] ?? '');
      await fuzz.compare();
    }
    last = 'an audit';
    await auditSound(books);
    last = 'the end';
    await settleAll(fuzz);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`seed ${seed}, after ${last}: ${message}`, { cause: error });
  } finally {
    await books.stop();
  }
  return tally;
}

/** All that waits is settled, and the books say what the chain says. */
async function settleAll(fuzz: Fuzz): Promise<void> {
  const { books } = fuzz;
  for (const { match } of books.waiting.values()) books.chain.settle(match);
  for (let i = 0; i <= FINALITY; i++) books.chain.mine();
  await fuzz.final();
  await fuzz.compare();
  if (books.waiting.size > 0) throw new Error(`${books.waiting.size} matches never ended`);
  await auditSound(books);
  for (const wallet of WALLETS) {
    const account = await books.accounts.chainAccount(wallet);
    const { collateral } = books.chain.at(books.final()?.number ?? 0, wallet);
    if (account?.asOfBlock === books.final()?.number && account?.collateral.balanceMicro !== collateral)
      throw new Error(`${wallet} has ${collateral} on the chain`);
  }
}

/** Every run begins with these steps, whatever its seed draws: each planted bug shows here at the latest. */
function chapter(fuzz: Fuzz): (() => Promise<string>)[] {
  const [seller = '', buyer = '', third = ''] = WALLETS;
  const [market = ''] = MARKETS;
  const { books } = fuzz;
  const send = async (): Promise<string> => {
    for (const { match } of books.waiting.values()) books.chain.settle(match);
    return `block ${books.chain.mine()} with all matches`;
  };
  const mine = async (): Promise<string> => {
    for (let i = 0; i < FINALITY; i++) books.chain.mine();
    return `block ${books.chain.head}`;
  };
  const change = (wallet: string, to: Partial<ReturnType<Fuzz['touch']>>) => async (): Promise<string> => {
    Object.assign(fuzz.touch(wallet), to);
    return `a change of ${wallet}`;
  };
  const [head, final, partly] = [() => fuzz.head(), () => fuzz.final(), () => fuzz.partly()];
  const trade = [
    () => fuzz.submit(seller, 1, market, 0, 1_000, 50),
    () => fuzz.submit(buyer, 0, market, 0, 1_000, 60),
  ];
  return [
    // A merge, and a mint.
    () => fuzz.submit(seller, 1, market, 0, 100, 45),
    () => fuzz.submit(third, 1, market, 1, 100, 45),
    () => fuzz.submit(seller, 0, market, 0, 100, 55),
    () => fuzz.submit(third, 0, market, 1, 100, 55),
    ...[send, mine, final],
    ...trade,
    // A match brings nothing before it is final: more than the wallet has besides is refused.
    () => fuzz.submit(buyer, 1, market, 0, 5_500, 90),
    () => fuzz.submit(seller, 0, market, 1, 10_500, 50),
    () => fuzz.submit(buyer, 0, market, 1, 4_000, 70),
    ...[send, head, mine],
    // A SELL may get more than its own limit price.
    () => fuzz.submit(third, 1, market, 1, 4_500, 60),
    // Bad news of the head, and below it a match that becomes final.
    ...[change(buyer, { collateral: 20e6 }), mine, head, final, mine, final, mine],
    () => fuzz.late(),
    // An observer that has not read the wallets.
    ...[...trade, send, mine, partly],
    // An approval that is gone counts when the wallet is read next.
    ...[change(seller, { approved: false, allowance: 1e6 }), mine, mine, mine, mine, final],
    () => fuzz.submit(seller, 1, market, 1, 100, 90),
    () => fuzz.submit(seller, 0, market, 1, 1_000, 50),
    ...[change(seller, { approved: true, allowance: 9e12 }), mine, mine, mine, mine, final],
    // A nonce that is raised ends the orders below it.
    () => fuzz.submit(third, 0, market, 1, 100, 10),
    ...[change(third, { nonce: 1 }), mine, mine, mine, final],
    () => fuzz.submit(third, 0, market, 1, 100, 10),
    // A match that fails.
    ...trade,
    ...[change(buyer, { collateral: 0 }), send, mine, final],
    () => fuzz.submit(buyer, 1, market, 0, 100, 90),
    () => fuzz.submit(third, 0, market, 0, 100, 20),
  ];
}
