import { decodeFills, hashBytes } from '../../../src/store/records/order';
import { alice, bob, carla, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();
const DAY_MS = 86_400_000;

test('after the clock of Redis was a day ahead for a moment, a trade has the time at which it was made', async () => {
  const w = world();
  await w.market({ feeRateBps: 200 });
  await w.market({ id: 'straight' });
  const { place, buy, now, clock } = w;
  const rightMs = now();
  const trade = async (market: string, makers: number) => {
    for (let i = 0; i < makers; i++) await place(buy([bob, carla][i] ?? bob, 1, '1', '0.50', { market }));
    return place(buy(alice, YES, String(makers), '0.50', { market }));
  };
  const ahead = { straight: 1, market00: 2 };
  await clock(rightMs + DAY_MS);
  for (const [market, makers] of Object.entries(ahead)) await trade(market, makers);

  await clock(rightMs + 30_000);
  for (const [market, makers] of Object.entries(ahead)) {
    const { record, fills } = await trade(market, makers);
    // The place of the match does not go back.
    expect(record.fillMs).toBe(rightMs + DAY_MS);
    const own = { tradeMs: rightMs + DAY_MS, matchedMs: rightMs + 30_000 };
    expect(fills.map(({ tradeMs, matchedMs }) => ({ tradeMs, matchedMs }))).toEqual(Array(makers).fill(own));
    // Read again: the match, and some of its fills.
    const stored = await w.redis.xrangeBuffer(w.keys.trades(market), '-', '+');
    const [id, fields] = stored.at(-1) ?? [];
    expect(String(id)).toBe(`${rightMs + DAY_MS}-${record.sequence}`);
    expect(decodeFills(rightMs + DAY_MS, record.sequence, fields?.[1] as Buffer)).toEqual(fills);
    const args = [w.keys.prefix, hashBytes(record.orderHash), 0, 0, 0, 1] as const;
    const [, , some] = await w.run('read_fills', [w.keys.orders], args);
    if (!some) throw new Error('the order has no fills');
    const [, , first, packed] = some;
    expect(decodeFills(rightMs + DAY_MS, record.sequence, packed, first)).toEqual(fills.slice(-1));
  }

  // Less than a minute is no step of the clock; and then it has caught up.
  await clock(rightMs + DAY_MS - 60_000);
  expect((await trade('straight', 1)).fills[0]?.matchedMs).toBe(rightMs + DAY_MS);
  await clock(rightMs + DAY_MS + 1);
  expect((await trade('straight', 1)).fills[0]).toMatchObject({
    tradeMs: rightMs + DAY_MS + 1,
    matchedMs: rightMs + DAY_MS + 1,
  });
});
