import { type ChainBooksOptions, openChainBooks } from '../../support/chain-books';
import { createRandom } from '../../support/random';
import { FuzzModel, MARKETS } from './fuzz-model';
import { FINALITY, Fuzz, WALLETS } from './fuzz-world';

export type FuzzOptions = Pick<ChainBooksOptions, 'url' | 'patches' | 'hold' | 'feeRateBps' | 'isBlind'> & {
  readonly seed: number;
  readonly operations: number;
};

/**
 * Random orders, transfers, blocks and rollbacks on the books and on the model, compared after each; then everything settles.
 * Returns how often each thing happened; throws with the seed at the first difference.
 */
export async function fuzzChain({ seed, operations, ...options }: FuzzOptions): Promise<Map<string, number>> {
  const model = new FuzzModel();
  const books = await openChainBooks({ ...options, onReadings: (...args) => model.take(...args) });
  const tally = new Map<string, number>();
  const count = (what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1);
  const fuzz = new Fuzz(books, model, createRandom(seed), count);
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
    await fuzz.audit();
    last = 'the end';
    await fuzz.end();
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`seed ${seed}, after ${last}: ${message}`, { cause: error });
  } finally {
    await books.stop();
  }
  return tally;
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
    // Bad news of the head, and below it a match that becomes final.
    ...[change(buyer, { collateral: 20e6 }), mine, head, final, mine, final],
    // An observer that has not read the wallets.
    ...[...trade, send, mine, partly],
    // An approval that is gone counts when the wallet is read next.
    ...[change(seller, { approved: false, allowance: 1e6 }), mine, mine, mine, mine, final],
    () => fuzz.submit(seller, 1, market, 1, 100, 90),
    () => fuzz.submit(seller, 0, market, 1, 1_000, 50),
    ...[change(seller, { approved: true, allowance: 9e12 }), mine, mine, mine, mine, final],
    // A match that fails.
    ...trade,
    ...[change(buyer, { collateral: 0 }), send, mine, final],
    () => fuzz.submit(buyer, 1, market, 0, 100, 90),
    () => fuzz.submit(third, 0, market, 0, 100, 20),
  ];
}
