import { TRACES } from '../../../src/store/records/layout';
import { traceOf } from '../../../src/store/records/trace';
import type { ChainBooks } from '../../support/chain-books';
import { alice, withBooks } from './with-books';

/** Traces of orders that left, with funds on a chain: the scripts compare a claim with the field of the traces. */
const open = withBooks();
const KEY = '{x0}:m:market00';
const FIELD = Buffer.concat([
  TRACES.pack({ buckets: 1, span: 2, factor: 7, expiredSec: 0, traces: 1 }),
  Buffer.from('a stamp!'),
]);
const OTHER = Buffer.concat([FIELD.subarray(0, TRACES.bytes), Buffer.from('another!')]);

/** A market with traces, and a process that says the same of every order. */
async function traced(claim: Buffer): Promise<ChainBooks> {
  const books = await open({ claims: { claim: () => claim } });
  await books.redis.hset(KEY, 'g', FIELD);
  return books;
}
const leave = (books: ChainBooks, orderHash: string): Promise<unknown> =>
  books.redis.sadd(`${KEY}:g\0\0\0`, traceOf(orderHash).text);

test('a claim for the field as it is books an order, and a replacement, without a look', async () => {
  const books = await traced(FIELD);
  const [first, second] = [books.buy(alice, 0, '1', '0.40'), books.buy(alice, 0, '1', '0.41')];
  for (const { orderHash } of [first, second]) await leave(books, orderHash);
  expect((await books.engine.place(first)).record.status).toBe('OPEN');
  expect((await books.engine.replace(second, first.orderHash)).old?.status).toBe('CANCELLED');
});

test('with a claim for another field the script looks: without an archive it cannot say whether the order ran', async () => {
  const books = await traced(OTHER);
  const [first, second] = [books.buy(alice, 0, '1', '0.40'), books.buy(alice, 0, '1', '0.41')];
  expect((await books.engine.place(first)).record.status).toBe('OPEN');
  await leave(books, second.orderHash);
  await expect(books.engine.place(second)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(books.engine.replace(second, first.orderHash)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
