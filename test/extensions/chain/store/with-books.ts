import type { RunningRedis } from '../../../../src/local/redis';
import { type ChainBooks, type ChainBooksOptions, openChainBooks } from '../../../support/chain-books';
import { startTestRedis } from '../../../support/redis';

export const [alice, bob, carla] = ['a1', 'b0', 'ca'].map((two) => `0x${two.repeat(20)}`) as [
  string,
  string,
  string,
];
const UNLIMITED = 9_000_000_000_000;

/** One Redis for the file; `open` empties it and opens books with a market in which these wallets have funds. */
export function withBooks(): (options?: Omit<ChainBooksOptions, 'url'>) => Promise<ChainBooks> {
  let server: RunningRedis | null = null;
  const opened: ChainBooks[] = [];
  beforeAll(async () => {
    server = await startTestRedis();
  });
  afterEach(async () => {
    for (const books of opened.splice(0)) await books.stop();
  });
  afterAll(async () => server?.stop());
  return async (options = {}) => {
    const books = await openChainBooks({ url: server?.url ?? '', ...options });
    opened.push(books);
    await books.market();
    for (const wallet of [alice, bob, carla]) fund(books, wallet, 100, 100);
    await books.observe(books.chain.mine());
    return books;
  };
}

/** Gives a wallet whole units of collateral and of both tokens, and both approvals. */
export function fund(
  { chain }: ChainBooks,
  wallet: string,
  units: number,
  sets: number,
  id = 'market00',
): void {
  const state = chain.wallet(wallet);
  Object.assign(state, { collateral: units * 1e6, allowance: UNLIMITED, approved: true });
  state.tokens.set(id, [sets * 1e6, sets * 1e6]);
}

/** free (reserved, out, pending) of the collateral, then of the tokens of Yes and No. */
export async function told({ accounts }: ChainBooks, wallet: string, id = 'market00'): Promise<string[]> {
  const account = await accounts.chainAccount(wallet);
  const tokens = account?.tokens.find(({ marketId }) => marketId === id)?.assets ?? [];
  return [account?.collateral, ...tokens].map((asset) =>
    asset
      ? [asset.freeMicro, asset.reservedMicro, asset.outMicro, asset.pendingMicro]
          .map((amount) => String(amount / 1e6))
          .join(' ')
      : 'none',
  );
}

/** The code of a refusal. */
export const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no refusal',
    (error: { code?: string }) => error.code ?? error,
  );
