import { createWithdrawals } from '../../../../src/extensions/chain/store/withdrawals';
import { alice, bob, codeOf, withBooks } from './with-books';

/** The exchange takes orders again after it was HALTED, while wallets withdrew orders on the chain. */
const open = withBooks();

async function halted() {
  const books = await open();
  const { sell, place, engine } = books;
  const resting = await place(sell(alice, 0, '10', '0.50'));
  await engine.setMode('HALTED');
  const { orderHash } = resting.record;
  const stateOf = async () => (await books.settlements.orders([orderHash])).get(orderHash);
  return { ...books, orderHash, stateOf, withdrawals: createWithdrawals(books) };
}

test('an order that its wallet withdrew on the chain while the exchange was HALTED matches nothing afterwards', async () => {
  const { withdrawals, engine, orderHash, stateOf, place, buy, redis, keys } = await halted();
  await withdrawals.note([{ wallet: alice, orderHash }]);
  await engine.setMode('NORMAL', 'again');
  expect((await place(buy(bob, 0, '10', '0.50'))).fills).toEqual([]);
  expect(await stateOf()).toMatchObject({ status: 'CANCELLED', reason: 'USER' });
  expect(await redis.exists(keys.withdrawn)).toBe(0);
  expect(await redis.get(keys.notice)).toBe('0again');
});

test('more withdrawn orders than one call ends are all gone before the mode is NORMAL', async () => {
  const books = await open();
  const { sell, buy, place, engine, redis, keys } = books;
  const hashes: string[] = [];
  for (let i = 0; i < 230; i++) hashes.push((await place(sell(alice, 0, '0.10', '0.50'))).record.orderHash);
  await engine.setMode('HALTED');
  await createWithdrawals(books).note(hashes.map((orderHash) => ({ wallet: alice, orderHash })));
  await engine.setMode('NORMAL');
  expect(await redis.get(keys.mode)).toBe('0');
  expect((await place(buy(bob, 0, '10', '0.50'))).fills).toEqual([]);
});

test('orders below a nonce that became final while the exchange was HALTED match nothing afterwards', async () => {
  const { engine, chain, observe, place, buy, stateOf } = await halted();
  chain.wallet(alice).nonce = 3;
  await observe(chain.mine());
  await engine.setMode('NORMAL');
  expect((await place(buy(bob, 0, '10', '0.50'))).fills).toEqual([]);
  expect(await stateOf()).toMatchObject({ status: 'INVALIDATED', reason: 'NONCE' });
});

test('a mode that takes no orders is set at once, and keeps what was withdrawn', async () => {
  const { withdrawals, engine, orderHash, stateOf, place, buy } = await halted();
  await withdrawals.note([{ wallet: alice, orderHash }]);
  await engine.setMode('CANCEL_ONLY');
  expect(await stateOf()).toMatchObject({ status: 'OPEN' });
  expect(await codeOf(place(buy(bob, 0, '10', '0.50')))).toBe('CANCEL_ONLY');
  expect(await withdrawals.waiting()).toEqual([{ wallet: alice, orderHash }]);
});
