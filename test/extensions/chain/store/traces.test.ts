import { TRACES } from '../../../../src/store/records/layout';
import { traceOf } from '../../../support/trace';
import { alice, withBooks } from './with-books';

/** Traces of orders that left, with funds on a chain: the scripts look for them as they do with paper funds. */
const open = withBooks();
const KEY = '{x0}:m:market00';
const FIELD = TRACES.pack({ buckets: 1, span: 2, factor: 7, expiredSec: 0, traces: 1 });

test('an order with a trace, and a replacement with one, cannot be booked: without an archive nothing says whether it ran', async () => {
  const books = await open();
  await books.redis.hset(KEY, 'g', FIELD);
  const [first, second] = [books.buy(alice, 0, '1', '0.40'), books.buy(alice, 0, '1', '0.41')];
  expect((await books.engine.place(first)).record.status).toBe('OPEN');
  await books.redis.sadd(`${KEY}:g\0\0\0`, traceOf(second.orderHash));
  await expect(books.engine.place(second)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(books.engine.replace(second, first.orderHash)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
