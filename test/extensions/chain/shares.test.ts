import { createShares, type Shares, type SharesOptions } from '../../../src/chain/shares';

/** Turns of askers for expensive work. */
const never = (): AbortSignal => new AbortController().signal;
const turns = (more: Partial<SharesOptions> = {}): Shares =>
  createShares({
    atOnce: 3,
    atOnceEach: 2,
    perSecond: 1_000,
    burst: 1_000,
    waiting: 3,
    waitingEach: 2,
    ...more,
  });

/** Notes which turns began, in their order, and which were refused. */
function noted(shares: Shares) {
  const began: string[] = [];
  const refused: string[] = [];
  const begin = (name: string) =>
    shares.begin(name[0] ?? '', never()).then(
      (end) => {
        began.push(name);
        return end;
      },
      () => {
        refused.push(name);
        return () => undefined;
      },
    );
  return { began, refused, begin };
}

test('one asker has only its part of them, and another one goes first when its part is used up', async () => {
  const { began, begin } = noted(turns());
  const first = await begin('g1');
  await begin('g2');
  const third = begin('g3');
  await begin('m1');
  const waiting = begin('m2');
  first();
  const end = await third;
  expect(began).toEqual(['g1', 'g2', 'm1', 'g3']);
  end();
  await waiting;
  expect(began).toEqual(['g1', 'g2', 'm1', 'g3', 'm2']);
});

test('askers that wait have turns one after the other, however many of them one has waiting', async () => {
  const { began, begin } = noted(turns({ atOnce: 1, waiting: 20, waitingEach: 10 }));
  const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'];
  await Promise.all(names.map(async (name) => (await begin(name))()));
  expect(began).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('an asker for whom too many wait is refused', async () => {
  const { refused, began, begin } = noted(turns());
  const all = ['g1', 'g2', 'g3', 'g4', 'g5'].map(begin);
  await all[4];
  expect([began, refused]).toEqual([['g1', 'g2'], ['g5']]);
});

test('a full queue takes an asker who has fewer places than another one, and refuses the rest', async () => {
  const { refused, begin } = noted(turns());
  const running = ['g1', 'g2', 'm1'].map(begin);
  await Promise.all(running);
  const waiting = ['g3', 'g4', 'm2', 't1'].map(begin);
  await waiting[1];
  expect(refused).toEqual(['g4']);
  await begin('u1');
  expect(refused).toEqual(['g4', 'u1']);
});

test('turns beyond those of a second wait, and each asker has one of the next', async () => {
  const { began, refused, begin } = noted(turns({ atOnceEach: 3, perSecond: 0.001, burst: 2 }));
  for (const name of ['a1', 'a2']) (await begin(name))();
  const patience = new AbortController();
  const third = turns({ perSecond: 0.001, burst: 1 });
  (await third.begin('a', never()))();
  const late = third.begin('a', patience.signal);
  patience.abort(new Error('no longer'));
  await expect(late).rejects.toThrow('no longer');
  const waiting = ['a3', 'a4', 'b1', 'a5'].map(begin);
  await waiting[3];
  expect([began, refused]).toEqual([['a1', 'a2'], ['a5']]);
});

test('the allowance comes back, to one asker after the other', async () => {
  const { began, begin } = noted(turns({ perSecond: 50, burst: 1, atOnce: 9, waiting: 9, waitingEach: 9 }));
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(begin);
  for (const one of all) (await one)();
  expect(began).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('one that waits no longer leaves its place to the others', async () => {
  const shares = turns();
  const end = await shares.begin('one', never());
  await shares.begin('one', never());
  const patience = new AbortController();
  const leaving = shares.begin('one', patience.signal);
  const staying = shares.begin('one', never());
  patience.abort(new Error('no longer'));
  await expect(leaving).rejects.toThrow('no longer');
  end();
  expect(typeof (await staying)).toBe('function');
});
