import type { ChainBooks } from '../../../support/chain-books';
import { alice, bob, carla, codeOf, fund, withBooks } from './with-books';

/** Limits of wallets that nobody knows: of funds that came lately, and of all of them at one network address. */
const open = withBooks();

const BLOCKS = 50;
const mine = async ({ observe, chain }: ChainBooks, blocks: number): Promise<void> => {
  for (let i = 0; i < blocks; i++) await observe(chain.mine());
};
const settleAll = async ({ waiting, chain, observe }: ChainBooks) => {
  for (const { match } of waiting.values()) chain.settle(match);
  return observe(chain.mine());
};
const FRESH = { code: 'UNSETTLED_LIMIT', extra: { scope: 'FRESH_FUNDS' } };
const walletOf = (i: number): string => `0x${(0xd0 + i).toString(16).repeat(20)}`;

test.each([0, 1] as const)(
  'funds that came lately count up to a small value, and fully after 50 final blocks (side %s)',
  async (side) => {
    const books = await open({ freshMax: '20' });
    const { place } = books;
    const own = side === 0 ? books.buy : books.sell;
    // The small value counts at once, and open orders use it up.
    await place(own(bob, 0, '10', side === 0 ? '0.50' : '0.90'));
    const large = () => place(own(bob, 0, '60', side === 0 ? '0.50' : '0.90'));
    await expect(large()).rejects.toMatchObject(FRESH);
    await mine(books, BLOCKS - 1);
    await expect(large()).rejects.toMatchObject(FRESH);
    await mine(books, 1);
    expect(await codeOf(large())).toBe('no refusal');
  },
);

test('funds that were away for a block begin again', async () => {
  const books = await open({ freshMax: '20' });
  const { buy, place, chain } = books;
  const large = () => place(buy(bob, 0, '100', '0.50'));
  await expect(large()).rejects.toMatchObject(FRESH);
  await mine(books, BLOCKS - 5);
  chain.wallet(bob).collateral = 0;
  await mine(books, 1);
  chain.wallet(bob).collateral = 100e6;
  await mine(books, 10);
  await expect(large()).rejects.toMatchObject(FRESH);
  await mine(books, 2 * BLOCKS);
  expect(await codeOf(large())).toBe('no refusal');
});

test('what a confirmed match brings counts at once', async () => {
  const books = await open({ freshMax: '20' });
  const { buy, sell, place } = books;
  const large = () => place(buy(bob, 1, '200', '0.50'));
  await expect(large()).rejects.toMatchObject(FRESH);
  await mine(books, BLOCKS);
  // All that he has has stayed long enough; 10 more come from a sale.
  await place(buy(carla, 0, '15', '0.60'));
  await place(sell(bob, 0, '15', '0.60'));
  await settleAll(books);
  expect(await codeOf(place(buy(bob, 1, '218', '0.50')))).toBe('no refusal');
});

test('one stake cannot be in the order of a second wallet before it has stayed there', async () => {
  const books = await open({ freshMax: '20' });
  const { buy, sell, place, chain } = books;
  fund(books, alice, 0, 500);
  await expect(place(sell(alice, 0, '100', '0.60'))).rejects.toMatchObject(FRESH);
  await mine(books, BLOCKS);
  await place(sell(alice, 0, '100', '0.60'));
  for (let hop = 0; hop < 3; hop++) {
    fund(books, walletOf(hop), 60, 0);
    await mine(books, 1);
    await expect(place(buy(walletOf(hop), 0, '100', '0.60'))).rejects.toMatchObject(FRESH);
    chain.wallet(walletOf(hop)).collateral = 0;
  }
  // A small one passes.
  fund(books, walletOf(9), 60, 0);
  await mine(books, 1);
  expect(await codeOf(place(buy(walletOf(9), 0, '30', '0.60')))).toBe('no refusal');
});

test('the new wallets of an address have a limit together, in which a suspended one counts fully', async () => {
  const books = await open({ unsettledMaxNew: '10' });
  const { buy, sell, place, chain, redis, keys } = books;
  const address = '192.0.2.7';
  fund(books, alice, 0, 1_000);
  await books.observe(chain.mine());
  const order = (wallet: string, from = address) => place(buy(wallet, 0, '10', '0.90', { address: from }));
  for (let i = 0; i < 11; i++) fund(books, walletOf(i), 100, 0);
  await books.observe(chain.mine());
  // Her shares come back after each failure.
  await place(sell(alice, 0, '10', '0.90', { address: '192.0.2.1' }));
  for (let i = 0; i < 11; i++) {
    if (i < 10) await order(walletOf(i));
    else {
      await expect(order(walletOf(i))).rejects.toMatchObject({
        code: 'UNSETTLED_LIMIT',
        extra: { scope: 'ADDRESS', limit: '100', unsettled: '100', required: '9' },
      });
      expect(await codeOf(order(walletOf(i), '192.0.2.8'))).toBe('no refusal');
    }
    if (i < 10) {
      // Each stake is sent on before its match settles.
      chain.wallet(walletOf(i)).collateral = 0;
      await settleAll(books);
    }
  }
  expect(await redis.pttl(`${keys.prefix}aw:${address}`)).toBeGreaterThan(0);
});
