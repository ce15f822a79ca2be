import type { MarketView } from '../../../src/exchange/facts';
import { micro } from '../../../src/exchange/units';
import { createWalletRefresh } from '../../../src/extensions/chain/wallet-refresh';
import { createEngine } from '../../../src/store/verbs/engine';
import type { ChainBooks } from '../../support/chain-books';
import { alice, codeOf, told, withBooks } from './store/with-books';

/** Which wallets a web process reads for GET /me/balances. */
const open = withBooks();

const MARKETS = ['market00', 'market01'];

async function seeingOf(books: ChainBooks) {
  await books.market('market01');
  /** The final block of each reading. */
  const read: number[] = [];
  const errors: Error[] = [];
  const chain = { isAway: false };
  const views = MARKETS.map((id) => ({ terms: { id, tokenIds: ['1', '2'] }, state: { status: 'OPEN' } }));
  const seeing = createWalletRefresh({
    lookup: {
      async readWallet(address, markets) {
        const at = books.final();
        if (!at) throw new Error('no block');
        read.push(at.number);
        if (chain.isAway) throw new Error('the chain is away');
        const ids = markets.map(({ marketId }) => marketId);
        return { at, reading: books.reading(address, ids, at.number) };
      },
    },
    observing: books.observing,
    accounts: books.accounts,
    market: async () => null,
    marketList: async () => views as unknown as readonly MarketView[],
    owing: { read: async () => [], call: () => ({ to: '', data: '', description: '' }) },
    toMicro: (units) => micro(Number(units)),
    onError: (error) => void errors.push(error),
  });
  return { ...seeing, read, errors, chain, views };
}

/** So many blocks pass, and the wallet asks for its balances at each, three times. */
async function pass(books: ChainBooks, seeing: Awaited<ReturnType<typeof seeingOf>>, blocks: number) {
  for (let i = 0; i < blocks; i++) {
    await books.observe(books.chain.mine());
    await Promise.all([1, 2, 3].map(() => seeing.refresh(alice)));
  }
}

test('a wallet with open orders is shown what it split in another market', async () => {
  const books = await open();
  const seeing = await seeingOf(books);
  await books.place(books.buy(alice, 0, '1', '0.50'));
  await seeing.refresh(alice);
  books.chain.wallet(alice).tokens.set('market01', [5e6, 5e6]);
  await pass(books, seeing, 6);
  expect(await told(books, alice, 'market01')).toEqual(['99.5 0.5 0 0', '5 0 0 0', '5 0 0 0']);
});

test('a wallet is shown what it redeems in a market that has ended', async () => {
  const books = await open();
  const seeing = await seeingOf(books);
  books.chain.wallet(alice).tokens.set('market01', [5e6, 5e6]);
  await pass(books, seeing, 6);
  for (const { state } of seeing.views) state.status = 'RESOLVED';
  books.chain.wallet(alice).tokens.set('market01', [0, 0]);
  await pass(books, seeing, 60);
  expect(await told(books, alice, 'market01')).toEqual(['100 0 0 0', '0 0 0 0', '0 0 0 0']);
});

test('a wallet of which nothing changes is read less and less often, and soon again after a change', async () => {
  const books = await open();
  const seeing = await seeingOf(books);
  await pass(books, seeing, 120);
  const gaps = seeing.read.slice(1).map((block, i) => block - (seeing.read[i] ?? 0));
  expect(gaps).toEqual([5, 9, 17, 25, 25, 25]);
  books.chain.wallet(alice).collateral = 7e6;
  await pass(books, seeing, 30);
  expect((await told(books, alice))[0]).toBe('7 0 0 0');
  const [last = 0, before = 0] = seeing.read.toReversed();
  expect(last - before).toBeLessThan(10);
});

test('while the chain does not answer balances are shown as they are, and few requests wait for it', async () => {
  const books = await open();
  const seeing = await seeingOf(books);
  seeing.chain.isAway = true;
  await pass(books, seeing, 10);
  expect(seeing.read).toHaveLength(2);
  expect(seeing.errors).toHaveLength(2);
  seeing.chain.isAway = false;
  await pass(books, seeing, 5);
  expect((await told(books, alice))[0]).toBe('100 0 0 0');
});

test.each([
  [1, 'no refusal'],
  [2, 'UNAVAILABLE'],
])('an order whose wallet was read too late, so many times: %s, ends with %s', async (late, code) => {
  const books = await open();
  const { run, keys, observing, reading, final, chain, buy } = books;
  for (let i = 0; i < 6; i++) await books.observe(chain.mine());
  let reads = 0;
  const engine = createEngine({
    run,
    keys,
    grantMicro: micro(0),
    makersMax: 500,
    chain: {
      unsettledMaxNewMicro: micro(0),
      freshMaxMicro: micro(0),
      async see(wallet, marketId) {
        const at = final();
        // The books move on before a late reading arrives, so it is too old.
        if (at && ++reads > late)
          await observing.observeWallets(at, [reading(wallet, [marketId], at.number)]);
      },
      approval: () => ({ token: '0xc0', spender: '0xee' }),
    },
  });
  expect(await codeOf(engine.place(buy(alice, 0, '1', '0.50')))).toBe(code);
  expect(reads).toBe(2);
});
