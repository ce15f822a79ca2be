import { settlementName } from '../../../src/store/records/settlement';
import type { ChainBooks } from '../../support/chain-books';
import { alice, bob, told, withBooks } from './with-books';

/** How settlements end when funds are on a chain, and what a failure means for the wallet at fault. */
const open = withBooks();

/** A match of 10 shares at 0.60 between alice, who sells, and bob. */
async function matched({ buy, sell, place, waiting }: ChainBooks) {
  await place(sell(alice, 0, '10', '0.60'));
  const { record } = await place(buy(bob, 0, '10', '0.60'));
  const { key, match } = [...waiting.values()].at(-1) ?? fail('no match');
  return { key, match, ref: { ...key, tradeMs: record.fillMs } };
}

const fail = (text: string): never => {
  throw new Error(text);
};

test('a settlement that FAILED on a chain is final: a job that cannot build it does not put it back', async () => {
  const books = await open();
  const { observing, settlements, redis, keys } = books;
  const { key, ref } = await matched(books);
  // A record that waits for the operator is left alone, too.
  expect(await settlements.move(ref, 'RETRYING')).toBe(false);
  expect(await observing.voidSettlement(key, null, 1)).toBe('OK');
  expect(await settlements.move(ref, 'RETRYING')).toBe(false);
  expect(await settlements.find(key)).toMatchObject({ settlementStatus: 'FAILED' });
  expect(await told(books, alice)).toEqual(['100 0 0 0', '100 0 0 0', '100 0 0 0']);
  // Without any record, it is noted that none could be built.
  await redis.hdel(keys.settlements, settlementName(key));
  expect(await settlements.move(ref, 'RETRYING')).toBe(true);
  expect(await settlements.find(key)).toMatchObject({ settlementStatus: 'RETRYING', settlement: null });
});
