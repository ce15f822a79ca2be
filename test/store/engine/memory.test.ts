import { alice, bob, NO, START_SECOND, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();

test('with Redis full, submissions fail and cancels, expiry and the clearing of a book work', async () => {
  const w = world();
  await w.market();
  const orders = [1, 2, 3].map(() => w.buy(alice, YES, '1', '0.60'));
  const expiring = w.buy(bob, NO, '1', '0.30', { expires: START_SECOND + 1 });
  for (const order of [...orders, expiring]) await w.place(order);
  await w.clock((START_SECOND + 1) * 1000);
  const before = await w.book();
  const [first, second] = orders.map((order) => order.orderHash) as [string, string];
  for (const master of w.masters) await master.config('SET', 'maxmemory', '1');
  try {
    await expect(w.place(w.buy(alice, YES, '1', '0.60'))).rejects.toThrow(/^OOM/);
    await expect(w.place(w.buy(bob, NO, '1', '0.50'))).rejects.toThrow(/^OOM/);
    await expect(w.split(alice, '1')).rejects.toThrow(/^OOM/);
    expect(await w.book()).toEqual(before);
    expect((await w.engine.cancel(null, alice, first, 'USER')).cancelled).toBe(true);
    expect((await w.engine.cancelMany('market00', alice, [second], 'USER')).results[0]?.cancelled).toBe(true);
    expect(await w.engine.expire()).toEqual({ expired: 1, waiting: false });
    await w.engine.moveMarket('market00', 'CLOSED', ['OPEN']);
    expect((await w.engine.clearBook('market00')).cancelled).toBe(1);
  } finally {
    for (const master of w.masters) await master.config('SET', 'maxmemory', '0');
  }
  for (const who of [alice, bob]) expect((await w.balance(who)).cash).toBe('10000 (0)');
});
