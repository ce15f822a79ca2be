import { createRaisedNonces } from '../../../src/store/verbs/invalidate';
import { alice, bob, carla, NO, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();

describe('a raised nonce', () => {
  test('ends every open order below it, in every market, and releases the reserves', async () => {
    const w = world();
    const [first, second] = [await w.market({ id: 'market01' }), await w.market({ id: 'market02' })];
    await w.split(alice, '5', first);
    const orders = [
      w.buy(alice, YES, '10', '0.60', { market: first }),
      w.sell(alice, NO, '5', '0.90', { market: first }),
      w.buy(alice, NO, '1', '0.30', { market: second, expires: Math.floor(w.now() / 1000) + 60 }),
    ];
    const theirs = w.buy(bob, YES, '1', '0.10', { market: second });
    for (const order of [...orders, theirs]) await w.place(order);
    await w.place(w.buy(bob, NO, '4', '0.40', { market: first }));
    const before = (await w.outbox()).length;
    expect((await w.engine.raiseNonce(alice, 'one')).nonce).toBe(1);
    await w.engine.invalidateAll(alice, 1);
    for (const order of orders) {
      expect(await w.stored(order)).toMatchObject({ status: 'INVALIDATED', reason: 'NONCE' });
    }
    expect((await w.stored(orders[0] as never))?.filledLots).toBe(400);
    expect(await w.book(first)).toMatchObject({ bids: [], asks: [], liquidity: '0', sequence: 5 });
    expect(await w.book(second)).toMatchObject({ bids: ['0.1 1 1'], asks: [], sequence: 4 });
    expect(await w.balance(alice, first)).toEqual({ cash: '9992.6 (0)', yes: '9 (0)', no: '5 (0)' });
    const news = (await w.outbox()).slice(before);
    expect(news.map(({ kind, marketId, sequence }) => `${kind} ${marketId} ${sequence}`)).toEqual([
      'BALANCE -------- 0',
      'CANCEL market01 5',
      'CANCEL market02 4',
    ]);
    expect((await w.state()).money.expiries).toEqual([]);
  });

  test('lets the wallet place new orders while the old ones are invalidated', async () => {
    const w = world();
    await w.market();
    const old = Array.from({ length: 5 }, () => w.buy(alice, YES, '1', '0.60'));
    for (const order of old) await w.place(order);
    await w.engine.raiseNonce(alice, 'one');
    const fresh = w.buy(alice, YES, '1', '0.61', { nonce: 1 });
    await w.place(fresh);
    await expect(w.place(w.buy(alice, YES, '1', '0.61'))).rejects.toMatchObject({
      code: 'INVALID_NONCE_VALUE',
      extra: { current: '1' },
    });
    const step = await w.engine.invalidate(alice, 1, undefined, 2);
    expect(step).toMatchObject({ invalidated: 2, next: { rank: expect.any(String) } });
    await w.engine.invalidateAll(alice, 1);
    expect((await w.book()).bids).toEqual(['0.61 1 1']);
    // A repeated old order is recognised, because it was accepted once.
    const again = await w.place(old[0] as never);
    expect(again).toMatchObject({ replayed: true, record: { status: 'INVALIDATED' } });
  });

  test('keeps every lower order from being filled, also when no process goes on', async () => {
    const w = world();
    await w.market();
    const low = w.buy(alice, YES, '10', '0.60');
    await w.place(low);
    await w.place(w.buy(carla, YES, '5', '0.55'));
    expect((await w.balance(alice)).cash).toBe('9994 (6)');
    await w.engine.raiseNonce(alice, 'one');
    // One maker could fill it whole, and its limit reaches only that of Alice: it rests.
    const short = w.buy(bob, NO, '4', '0.41');
    expect((await w.place(short)).record).toMatchObject({ status: 'OPEN', filledLots: 0 });
    expect(await w.stored(low)).toMatchObject({ status: 'INVALIDATED', reason: 'NONCE', filledLots: 0 });
    expect((await w.balance(alice)).cash).toBe('10000 (0)');
    expect(await w.book()).toMatchObject({ bids: ['0.55 5 1'], asks: ['0.59 4 1'], liquidity: '4.39' });
    // Neither is the wallet's order of today held back, nor that of another wallet.
    await w.place(w.buy(alice, YES, '2', '0.58', { nonce: 1 }));
    const taker = await w.place(w.buy(bob, NO, '7', '0.45'));
    expect(taker.fills.map(({ pricePips, sizeLots }) => [pricePips, sizeLots])).toEqual([
      [4_200, 200],
      [4_500, 500],
    ]);
    expect(await w.balance(alice)).toMatchObject({ cash: '9998.84 (0)', yes: '2 (0)' });
  });

  test('leaves a taker the makers behind its orders, of any number', async () => {
    const w = world();
    await w.market();
    const lows = Array.from({ length: 205 }, () => w.buy(alice, YES, '1', '0.60'));
    for (const order of lows) await w.place(order);
    const late = w.buy(bob, YES, '1', '0.60', { expires: Math.floor(w.now() / 1000) + 1 });
    await w.place(late);
    await w.place(w.buy(carla, YES, '1', '0.60'));
    await w.engine.raiseNonce(alice, 'one');
    await w.clock(w.now() + 1_000);
    const dry = await w.place({ ...w.buy(bob, NO, '3', '0.40'), dryRun: true });
    expect(dry.record).toMatchObject({ status: 'PARTIALLY_FILLED', filledLots: 100 });
    const { record, fills } = await w.place(w.buy(bob, NO, '3', '0.40'));
    expect([record.filledLots, fills.map(({ makerHash }) => makerHash).length]).toEqual([100, 1]);
    const ends = await Promise.all([...lows, late].map((order) => w.stored(order)));
    expect(
      new Set(ends.slice(0, -1).map((end) => `${end?.status} ${end?.reason} ${end?.filledLots}`)),
    ).toEqual(new Set(['INVALIDATED NONCE 0']));
    expect(ends.at(-1)).toMatchObject({ status: 'EXPIRED', filledLots: 0 });
    expect((await w.balance(alice)).cash).toBe('10000 (0)');
    await w.engine.invalidateAll(alice, 1);
    expect((await w.state()).money.expiries).toEqual([]);
  });

  test('skips none of the orders that have the same age', async () => {
    const w = world();
    const ids = ['market01', 'market02', 'market03', 'market04'];
    for (const id of ids) await w.market({ id });
    const orders = ids.map((id) => w.buy(alice, YES, '1', '0.60', { market: id }));
    for (const order of orders) await w.place(order);
    await w.engine.raiseNonce(alice, 'one');
    const steps: number[] = [];
    let from: Parameters<typeof w.engine.invalidate>[2];
    // A step of one that ends no order must continue after the order that it has seen.
    await w.place(w.buy(alice, YES, '1', '0.60', { market: 'market01', nonce: 1 }));
    for (let left = true; left; ) {
      const { invalidated, next } = await w.engine.invalidate(alice, 1, from, 1);
      steps.push(invalidated);
      from = next ?? undefined;
      left = next !== null;
    }
    expect(steps).toEqual([1, 1, 1, 1, 0]);
    for (const order of orders) expect((await w.stored(order))?.status).toBe('INVALIDATED');
  });

  test('is raised once for each operation, and lists the wallet until its orders are invalidated', async () => {
    const w = world();
    await w.market();
    const pending = createRaisedNonces(w);
    expect((await w.engine.raiseNonce(alice, 'one')).nonce).toBe(1);
    expect((await w.engine.raiseNonce(alice, 'one')).nonce).toBe(1);
    expect((await w.engine.raiseNonce(alice, 'two')).nonce).toBe(2);
    expect((await w.engine.raiseNonce(bob, 'three')).nonce).toBe(1);
    expect(await pending()).toEqual(
      new Map([
        [alice, 2],
        [bob, 1],
      ]),
    );
    // A process that finishes an older raise must not remove the wallet from the list while a newer one is unfinished.
    await w.engine.invalidateAll(alice, 1);
    expect((await pending()).get(alice)).toBe(2);
    await w.engine.invalidateAll(alice, 2);
    await w.engine.invalidateAll(bob, 1);
    expect((await pending()).size).toBe(0);
    expect((await w.balance(alice)).cash).toBe('10000 (0)');
  });

  test('is refused while the exchange is halted, and works in CANCEL_ONLY', async () => {
    const w = world();
    await w.redis.set(w.keys.mode, '2');
    await expect(w.engine.raiseNonce(alice, 'one')).rejects.toMatchObject({ code: 'HALTED' });
    await w.redis.set(w.keys.mode, '1');
    expect((await w.engine.raiseNonce(alice, 'one')).nonce).toBe(1);
  });
});
