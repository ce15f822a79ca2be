import { micro } from '../../../src/exchange/units';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';
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

/** Bytes that Redis counts against maxmemory. */
async function usedBytes(redis: { info(section: string): Promise<string> }): Promise<number> {
  const info = await redis.info('memory');
  const figure = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return figure('used_memory') - figure('mem_not_counted_for_evict');
}

test('far above maxmemory nothing that adds without an end runs, and cancels, the journal and trimming do', async () => {
  const w = world();
  await w.market();
  const order = w.buy(alice, YES, '1', '0.60');
  await w.place(order);
  const { redis, run, keys } = w;
  const settlements = createSettlements({ redis, run, keys });
  const matches = createMatches({ redis, run, keys, settlements });
  const journal = createJournal({ redis, run, keys, matches, doubts: () => 0 });
  while (await journal.extend());
  const [master] = w.masters;
  if (!master) throw new Error('there is no master');
  // A little above the first line, and far below the second: a nonce may be raised, so that a wallet can leave.
  const used = await usedBytes(master);
  try {
    await master.config('SET', 'maxmemory', Math.floor(used * 0.97));
    expect((await w.engine.raiseNonce(bob, 'raise 1')).nonce).toBe(1);
    await expect(w.split(alice, '1')).rejects.toThrow(/^OOM/);
    await master.config('SET', 'maxmemory', Math.floor(used / 2));
    await expect(w.engine.raiseNonce(bob, null)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 503 });
    // A raise that was made is still answered.
    expect(await w.engine.raiseNonce(bob, 'raise 1')).toEqual({ nonce: 1, isReplay: true });
    expect((await w.engine.cancel(null, alice, order.orderHash, 'USER')).cancelled).toBe(true);
    const mark = await w.redis.hget(w.keys.readers, 'journal');
    while (await journal.extend());
    expect(await w.redis.hget(w.keys.readers, 'journal')).not.toBe(mark);
  } finally {
    await master.config('SET', 'maxmemory', '0');
  }
});

test('only an operation with a name is remembered', async () => {
  const w = world();
  await w.market();
  await w.engine.raiseNonce(alice, null);
  expect((await w.engine.raiseNonce(alice, null)).nonce).toBe(2);
  await w.engine.convert('market00', alice, micro(1_000_000), null);
  expect(await w.engine.convert('market00', alice, micro(2_000_000), null)).toBe(false);
  expect((await w.balance(alice)).yes).toBe('3 (0)');
  expect(await w.redis.keys('*:op:*')).toEqual([]);
  await w.engine.raiseNonce(alice, 'named');
  expect(await w.redis.keys('*:op:*')).toEqual([w.keys.operation('named')]);
});
