import type { PlaceRequest } from '../../../src/store/verbs/place';
import type { SweepFilter, WalkPlace } from '../../../src/store/verbs/sweeps';
import { alice, bob, type EngineWorld, NO, START_SECOND, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

/** Orders of the wallet in another market; the full size is 50,000. */
const ELSEWHERE = Number(process.env.SWEEP_ORDERS ?? 4_000);
const AT_ONCE = 500;
/** Bounds of a step (lua/lib/walk.lua). */
const [LOOK_MAX, CANCEL_MAX, MARKETS_MAX] = [1_000, 500, 50];
const STORY_MS = 300_000;

const { world } = withWorlds({ grant: '1000000' });

async function fill(w: EngineWorld, count: number, market: string, from = 0): Promise<PlaceRequest[]> {
  const all: PlaceRequest[] = [];
  for (let at = 0; at < count; at += AT_ONCE) {
    await w.clock(w.now() + 1);
    const orders = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, i) =>
      w.buy(alice, (from + i) % 2 ? YES : NO, '1', `0.${10 + (i % 30)}`, { market }),
    );
    await Promise.all(orders.map((order) => w.place(order)));
    all.push(...orders);
  }
  return all;
}

/** Runs every step to the end, with an action between two of them. */
async function walk(w: EngineWorld, filter: SweepFilter, between = async (_: number) => {}, look = LOOK_MAX) {
  const steps = [];
  let from: WalkPlace | undefined;
  for (let step = 0; step < 1_000; step++) {
    const taken = await w.engine.sweep(alice, filter, from, look);
    steps.push(taken);
    if (!taken.next) return steps;
    from = taken.next;
    await between(step);
  }
  throw new Error('the walk does not end');
}

const statusOf = async (w: EngineWorld, order: PlaceRequest): Promise<string> =>
  (await w.stored(order))?.status ?? 'none';

describe('cancel_all', () => {
  test('takes the orders that its filter selects, and returns the number of each market', async () => {
    const w = world();
    const [first, second] = [await w.market({ id: 'market01' }), await w.market({ id: 'market02' })];
    await w.split(alice, '10', first);
    const bidYes = w.buy(alice, YES, '1', '0.10', { market: first, expires: START_SECOND + 60 });
    const bidNo = w.buy(alice, NO, '2', '0.10', { market: first });
    const askNo = w.sell(alice, NO, '10', '0.80', { market: first });
    const elsewhere = w.buy(alice, YES, '1', '0.10', { market: second });
    const theirs = w.buy(bob, YES, '1', '0.05', { market: first });
    for (const order of [bidYes, bidNo, askNo, elsewhere, theirs]) await w.place(order);
    // Partly filled: the reserve of the rest is released.
    await w.place(w.buy(bob, NO, '4', '0.80', { market: first }));
    const all = (filter: SweepFilter) => w.engine.cancelAll(alice, filter);
    expect(await all({ marketId: first, outcome: 1, side: 0 })).toEqual({
      cancelled: [bidNo.orderHash],
      sequences: new Map([[first, 7]]),
    });
    expect((await all({ marketId: first, side: 1 })).cancelled).toEqual([askNo.orderHash]);
    expect(await w.stored(askNo)).toMatchObject({
      status: 'CANCELLED',
      reason: 'CANCEL_ALL',
      filledLots: 400,
    });
    expect(await all({ marketId: first, outcome: 1 })).toEqual({
      cancelled: [],
      sequences: new Map([[first, 8]]),
    });
    expect(await all({})).toEqual({
      cancelled: [bidYes.orderHash, elsewhere.orderHash],
      sequences: new Map([
        [first, 9],
        [second, 3],
      ]),
    });
    expect(await all({})).toEqual({ cancelled: [], sequences: new Map() });
    expect(await w.book(first)).toMatchObject({ bids: ['0.05 1 1'], asks: [], sequence: 9 });
    expect(await w.balance(alice, first)).toEqual({ cash: '999993.2 (0)', yes: '10 (0)', no: '6 (0)' });
    expect((await w.state()).money.expiries).toEqual([]);
    expect(
      (await w.outbox()).slice(-2).map(({ kind, marketId, sequence }) => [kind, marketId, sequence]),
    ).toEqual([
      ['CANCEL', first, 9],
      ['CANCEL', second, 3],
    ]);
  });

  test('is refused for an unknown market, and while the exchange is halted', async () => {
    const w = world();
    await w.market();
    await expect(w.engine.cancelAll(alice, { marketId: 'nowhere0' })).rejects.toMatchObject({
      code: 'MARKET_NOT_FOUND',
    });
    await w.engine.setMode('HALTED');
    await expect(w.engine.cancelAll(alice, { marketId: 'market00' })).rejects.toMatchObject({
      code: 'HALTED',
    });
    await expect(w.engine.cancelAll(alice, {})).rejects.toMatchObject({ code: 'HALTED' });
    await w.engine.setMode('CANCEL_ONLY');
    expect((await w.engine.cancelAll(alice, { marketId: 'market00' })).sequences.get('market00')).toBe(1);
  });

  test('respects the bounds of a step: orders cancelled, and markets touched', async () => {
    const w = world();
    const many = MARKETS_MAX + 5;
    for (let i = 0; i < many; i++) await w.market({ id: `market${10 + i}` });
    await fill(w, CANCEL_MAX + 100, 'market10');
    expect((await walk(w, { marketId: 'market10' })).map(({ cancelled }) => cancelled.length)).toEqual([
      ...[CANCEL_MAX, 100],
    ]);
    for (let i = 0; i < many; i++)
      await w.place(w.buy(alice, YES, '1', '0.10', { market: `market${10 + i}` }));
    const steps = await walk(w, {});
    // Orders of several markets may have the same age: the place is before all of them.
    expect(steps.map(({ sequences }) => sequences.size)).toEqual([MARKETS_MAX, 5]);
    expect((await w.balance(alice)).cash).toBe('1000000 (0)');
  });

  test(
    `walks a wallet with ${ELSEWHERE.toLocaleString('en-US')} orders elsewhere in steps that look at ${LOOK_MAX} of them`,
    async () => {
      const w = world();
      const [here, there] = [await w.market({ id: 'market01' }), await w.market({ id: 'market02' })];
      await fill(w, ELSEWHERE / 2, there);
      const mine = await fill(w, 3, here);
      await fill(w, ELSEWHERE / 2, there);
      const steps = await walk(w, { marketId: here });
      expect(steps.length).toBeLessThanOrEqual(ELSEWHERE / LOOK_MAX + 2);
      expect(steps.flatMap(({ cancelled }) => cancelled).sort()).toEqual(mine.map((o) => o.orderHash).sort());
      expect((await w.state([alice])).wallets[0]?.open.length).toBe(ELSEWHERE);
      // The last market had nothing left to cancel, so the reply has the market's own number.
      expect(steps.at(-1)?.sequences.get(here)).toBe(5);
    },
    STORY_MS,
  );

  test('ends while the wallet keeps placing, here and elsewhere, and then none of its orders is open here', async () => {
    const w = world();
    const [here, there] = [await w.market({ id: 'market01' }), await w.market({ id: 'market02' })];
    await fill(w, 2_000, there);
    const placed = await fill(w, 20, here);
    const steps = await walk(
      w,
      { marketId: here },
      async () => {
        placed.push(...(await fill(w, 20, here)));
        await fill(w, 20, there);
      },
      LOOK_MAX / 10,
    );
    // A hundred looked at for forty that come.
    expect(steps.length).toBeLessThan(60);
    expect(steps.flatMap(({ cancelled }) => cancelled)).toHaveLength(placed.length);
    expect(await w.book(here)).toMatchObject({
      bids: [],
      asks: [],
      sequence: steps.at(-1)?.sequences.get(here),
    });
  });

  test('finds orders booked behind its place while the clock was set back for a while', async () => {
    const w = world();
    const [here, there] = [await w.market({ id: 'market01' }), await w.market({ id: 'market02' })];
    await fill(w, 4, there);
    await w.clock(w.now() + 60_000);
    await fill(w, 4, there);
    const late = w.buy(alice, YES, '1', '0.10', { market: here });
    const steps = await walk(
      w,
      { marketId: here },
      async (step) => {
        if (step !== 2) return;
        await w.clock(w.now() - 30_000);
        await w.place(late);
        await w.clock(w.now() + 31_000);
      },
      2,
    );
    expect(steps.flatMap(({ cancelled }) => cancelled)).toEqual([late.orderHash]);
    expect(await statusOf(w, late)).toBe('CANCELLED');
  });

  test('finds orders booked behind its place in the same millisecond', async () => {
    const w = world();
    const [here, there] = [await w.market({ id: 'market01' }), await w.market({ id: 'market02' })];
    // Within a millisecond the sequence of the market decides, which is lower here.
    for (let i = 0; i < 4; i++) await w.place(w.buy(alice, YES, '1', '0.10', { market: there }));
    const late = w.buy(alice, YES, '1', '0.10', { market: here });
    const steps = await walk(
      w,
      { marketId: here },
      async (step) => {
        if (step === 0) await w.place(late);
      },
      3,
    );
    expect(steps.flatMap(({ cancelled }) => cancelled)).toEqual([late.orderHash]);
  });
});

describe('cancel_absent', () => {
  const LEASE = 'lease-of-the-test';
  const GRACE_MS = 10_000;
  const address = Buffer.from(alice.slice(2), 'hex');
  const absence = (w: EngineWorld) => w.redis.zscore(w.keys.absences, address);
  const mark = (w: EngineWorld) => w.run('mark_present', [w.keys.absences], [GRACE_MS, address]);
  const absent = (w: EngineWorld) =>
    w.run('take_absent', [w.keys.lease, w.keys.absences], [LEASE, 10, GRACE_MS]) as Promise<Buffer[]>;

  async function begin(): Promise<{ w: EngineWorld; resting: PlaceRequest }> {
    const w = world();
    await w.market();
    await w.redis.set(w.keys.lease, LEASE);
    const resting = w.buy(alice, YES, '1', '0.10');
    await w.place(resting);
    await mark(w);
    return { w, resting };
  }

  test('skips a wallet that is present, or came back after it was listed', async () => {
    const { w, resting } = await begin();
    await w.engine.cancelAbsent(alice, LEASE);
    await w.clock(w.now() + GRACE_MS);
    expect(await absent(w)).toEqual([address]);
    await mark(w);
    expect(await w.engine.cancelAbsent(alice, LEASE)).toEqual({ cancelled: [], sequences: new Map() });
    expect(await statusOf(w, resting)).toBe('OPEN');
    expect(await absence(w)).toBe(String(w.now() + GRACE_MS));
  });

  test('cancels orders that are older than its absence, and removes it from the list', async () => {
    const { w, resting } = await begin();
    await w.clock(w.now() + GRACE_MS);
    const later = w.buy(alice, YES, '1', '0.11');
    await w.place(later);
    await w.clock(w.now() + 100);
    expect((await w.engine.cancelAbsent(alice, LEASE)).cancelled).toEqual([resting.orderHash]);
    expect(await w.stored(resting)).toMatchObject({ status: 'CANCELLED', reason: 'DISCONNECT' });
    expect(await statusOf(w, later)).toBe('OPEN');
    expect(await absence(w)).toBeNull();
    expect(await w.engine.cancelAbsent(alice, LEASE)).toEqual({ cancelled: [], sequences: new Map() });
  });

  test('does nothing without the lease, and waits while the exchange is halted', async () => {
    const { w, resting } = await begin();
    await w.clock(w.now() + GRACE_MS);
    expect((await w.engine.cancelAbsent(alice, 'another')).cancelled).toEqual([]);
    await w.engine.setMode('HALTED');
    await expect(w.engine.cancelAbsent(alice, LEASE)).rejects.toMatchObject({ code: 'HALTED' });
    expect([await statusOf(w, resting), await absent(w)]).toEqual(['OPEN', [address]]);
    await w.engine.setMode('NORMAL');
    expect((await w.engine.cancelAbsent(alice, LEASE)).cancelled).toEqual([resting.orderHash]);
  });

  test('works after a clock was set back', async () => {
    const { w, resting } = await begin();
    await w.clock(w.now() - 3_600_000);
    expect(await absent(w)).toEqual([]);
    expect(await absence(w)).toBe(String(w.now() + GRACE_MS));
    await w.clock(w.now() + GRACE_MS);
    expect(await absent(w)).toEqual([address]);
    // It was placed before the others, whatever its time says.
    expect((await w.engine.cancelAbsent(alice, LEASE)).cancelled).toEqual([resting.orderHash]);
  });

  test('a present wallet’s deadline is moved to the clock that was set back', async () => {
    const { w } = await begin();
    await w.clock(w.now() - 3_600_000);
    await mark(w);
    expect(await absence(w)).toBe(String(w.now() + GRACE_MS));
  });
});

test('orders below a raised nonce stay open while the exchange is halted, and end afterwards', async () => {
  const w = world();
  await w.market();
  const order = w.buy(alice, YES, '1', '0.10');
  await w.place(order);
  await w.engine.raiseNonce(alice, 'one');
  await w.engine.setMode('HALTED');
  const before = await w.book();
  await expect(w.engine.invalidateAll(alice, 1)).rejects.toMatchObject({ code: 'HALTED' });
  expect([await statusOf(w, order), await w.book()]).toEqual(['OPEN', before]);
  await w.engine.setMode('CANCEL_ONLY');
  await w.engine.invalidateAll(alice, 1);
  expect(await statusOf(w, order)).toBe('INVALIDATED');
});
