import { micro } from '../../../src/exchange/units';
import { BOOK_WITHIN_MS } from '../../../src/store/verbs/deadline';
import { createEngine } from '../../../src/store/verbs/engine';
import { alice, bob, type EngineWorld, NO, START_SECOND, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();
const START_MS = START_SECOND * 1_000;

const arrivedAt = (w: EngineWorld, arrivedMs: number, deadlineMs = 0) => ({
  ...w.buy(alice, YES, '10', '0.50', { deadlineMs }),
  arrivedMs,
});

test('an order that reaches the script more than three seconds after its arrival is never booked', async () => {
  const w = world();
  await w.market();
  const order = arrivedAt(w, START_MS + 0.7);
  await w.clock(START_MS + BOOK_WITHIN_MS);
  await expect(w.place(order)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
  expect([await w.stored(order), (await w.book()).bids]).toEqual([null, []]);
  await w.clock(START_MS + BOOK_WITHIN_MS - 1);
  expect((await w.place(order)).record.status).toBe('OPEN');
  // It is booked now: a repetition returns the record, however late it comes.
  await w.clock(START_MS + 10 * BOOK_WITHIN_MS);
  expect((await w.place(order)).replayed).toBe(true);
});

test("the code names the deadline that passed: 422 for the submitter's, 503 for the exchange's", async () => {
  const w = world();
  await w.market();
  await w.clock(START_MS + BOOK_WITHIN_MS + 1_000);
  await expect(w.place(arrivedAt(w, START_MS, START_MS + 500))).rejects.toMatchObject({
    code: 'DEADLINE_EXCEEDED',
  });
  await expect(w.place(arrivedAt(w, START_MS, START_MS + 60_000))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
  });
});

test('a submission that is run again to expire stale makers ends after its three seconds', async () => {
  const w = world();
  await w.market();
  const expires = START_SECOND + 10;
  for (let i = 0; i < 405; i++) await w.place(w.buy(bob, NO, '1', '0.50', { expires }));
  await w.clock(expires * 1_000);
  // Every run takes two seconds of Redis' time.
  const slow = createEngine({
    grantMicro: micro(10_000_000_000),
    makersMax: 500,
    run: async (...call) => {
      const reply = await w.run(...call);
      await w.clock(w.now() + 2_000);
      return reply;
    },
  });
  const order = arrivedAt(w, w.now());
  await expect(slow.place(order)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const kinds = (await w.outbox()).slice(-2).map(({ kind }) => kind);
  expect([kinds, await w.stored(order)]).toEqual([['EXPIRE', 'EXPIRE'], null]);
});
