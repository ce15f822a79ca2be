import { alice, bob, carla, NO, START_SECOND, told, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();
const SOON = START_SECOND + 10;

/** Bob offers 1 Yes at 0.50 until SOON, then Carla 1 without an expiration. */
async function offers() {
  const w = world();
  await w.market();
  const stale = w.buy(bob, NO, '1', '0.50', { expires: SOON });
  await w.place(stale);
  await w.place(w.buy(carla, NO, '1', '0.50'));
  return { ...w, stale };
}

describe('expiry', () => {
  test('happens at `now >= expiration`, to the millisecond', async () => {
    const { place, buy, clock } = await offers();
    await clock(SOON * 1000 - 1);
    expect(told(await place(buy(alice, YES, '0.5', '0.50'))).result).toBe('FILLED 0.5 of 0.5');
    expect(told(await place(buy(alice, YES, '0.5', '0.40', { expires: SOON }))).result).toBe('OPEN 0 of 0.5');
    await clock(SOON * 1000);
    const late = buy(alice, YES, '0.5', '0.50', { expires: SOON });
    await expect(place(late)).rejects.toMatchObject({ code: 'ORDER_EXPIRED' });
  });

  test('of a maker is noticed by the submission that meets it: the maker is never filled, and its reserve is released', async () => {
    const { place, buy, clock, stored, balance, book, stale } = await offers();
    await clock(SOON * 1000);
    const { fills, record } = await place(buy(alice, YES, '1', '0.50'));
    expect(fills).toHaveLength(1);
    expect(await stored(stale)).toMatchObject({
      status: 'EXPIRED',
      reason: 'EXPIRED',
      filledLots: 0,
      updatedAtMs: SOON * 1000,
    });
    expect((await balance(bob)).cash).toBe('10000 (0)');
    // One command, one number.
    expect(await book()).toMatchObject({ asks: [], sequence: record.sequence });
  });

  test('does not happen with a refusal, nor behind the last maker that was needed', async () => {
    const { place, buy, clock, stored, stale } = await offers();
    await clock(SOON * 1000);
    await expect(place(buy(alice, YES, '2', '0.50', { type: 'FOK' }))).rejects.toMatchObject({
      code: 'FOK_NOT_FILLED',
    });
    expect((await stored(stale))?.status).toBe('OPEN');
    const behind = buy(bob, NO, '1', '0.49', { expires: SOON + 1 });
    await place(behind);
    await clock(SOON * 1000 + 1000);
    await place(buy(alice, YES, '1', '0.60'));
    expect((await stored(behind))?.status).toBe('OPEN');
  });

  test('lets a POST_ONLY order pass a stale one', async () => {
    const { place, buy, clock, engine, book } = await offers();
    await clock(SOON * 1000);
    const order = buy(alice, YES, '1', '0.50', { type: 'POST_ONLY' });
    await expect(place(order)).rejects.toMatchObject({ code: 'POST_ONLY_WOULD_CROSS' });
    const { asks } = await book();
    expect(asks).toEqual(['0.5 2 2']);
    await engine.expire();
    expect((await book()).asks).toEqual(['0.5 1 1']);
  });

  test('of more than 200 stale makers takes separate commands', async () => {
    const w = world();
    await w.market();
    for (let i = 0; i < 405; i++) await w.place(w.buy(bob, NO, '1', '0.50', { expires: SOON }));
    const [before] = (await w.outbox()).slice(-1);
    await w.place(w.buy(carla, NO, '1', '0.50'));
    await w.clock(SOON * 1000);
    const reply = await w.place(w.buy(alice, YES, '1', '0.50'));
    expect(told(reply)).toEqual({ result: 'FILLED 1 of 1', fills: ['1 @ 0.5 MINT'] });
    const news = (await w.outbox()).filter(({ kind }) => kind !== 'BALANCE').slice(-3);
    expect(news.map(({ kind, orderHashes }) => `${kind} ${orderHashes.length}`)).toEqual([
      'EXPIRE 201',
      'EXPIRE 201',
      'TRADE 5',
    ]);
    expect(news.map(({ sequence }) => sequence - (before?.sequence ?? 0))).toEqual([2, 3, 4]);
    expect(await w.book()).toMatchObject({ asks: [], liquidity: '0', sequence: reply.record.sequence });
    expect((await w.balance(bob)).cash).toBe('10000 (0)');
  });
});

describe('the sweep', () => {
  test('expires the oldest first, a bounded number over all markets, one command in each', async () => {
    const w = world();
    const ids = [await w.market({ id: 'market01' }), await w.market({ id: 'market02' })];
    for (let i = 0; i < 6; i++) {
      await w.place(w.buy(bob, NO, '1', '0.50', { market: ids[i % 2] ?? '', expires: SOON + i }));
    }
    expect(await w.engine.expire()).toEqual({ expired: 0, waiting: false });
    await w.clock((SOON + 4) * 1000);
    expect(await w.engine.expire(3)).toEqual({ expired: 3, waiting: true });
    const news = (await w.outbox()).slice(-2);
    expect(news.map((e) => `${e.kind} ${e.marketId} ${e.sequence} ${e.orderHashes.length}`).sort()).toEqual([
      'EXPIRE market01 5 2',
      'EXPIRE market02 5 1',
    ]);
    expect(await w.engine.expire(3)).toEqual({ expired: 2, waiting: false });
    expect(await w.engine.expire(3)).toEqual({ expired: 0, waiting: false });
    expect((await w.book(ids[1])).asks).toEqual(['0.5 1 1']);
    expect((await w.balance(bob)).cash).toBe('9999.5 (0.5)');
    expect((await w.state()).money.expiries).toHaveLength(1);
  });

  test('skips orders that were filled or cancelled before their second', async () => {
    const { place, buy, clock, engine, stale } = await offers();
    await place(buy(alice, YES, '1', '0.50'));
    await clock(SOON * 1000);
    expect(await engine.expire()).toEqual({ expired: 0, waiting: false });
    expect((await world().stored(stale))?.status).toBe('FILLED');
  });

  test('expires the rest of a partly filled order', async () => {
    const { place, buy, clock, engine, stale, stored, balance } = await offers();
    await place(buy(alice, YES, '0.4', '0.50'));
    await clock(SOON * 1000);
    expect(await engine.expire()).toEqual({ expired: 1, waiting: false });
    expect(await stored(stale)).toMatchObject({ status: 'EXPIRED', filledLots: 40, sizeLots: 100 });
    expect(await balance(bob)).toEqual({ cash: '9999.8 (0)', yes: '0 (0)', no: '0.4 (0)' });
  });
});
