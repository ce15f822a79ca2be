import type { OutboxEvent } from '../../../src/store/outbox/outbox';
import { alice, bob, carla, NO, START_SECOND, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

const { world } = withWorlds();

const levels = ({ levels: list }: OutboxEvent): string[] =>
  list.map(({ side, pricePips, sizeLots, orders }) => `${side}${pricePips} ${sizeLots}/${orders}`).sort();
const brief = (e: OutboxEvent) => ({
  kind: e.kind,
  sequence: e.sequence,
  levels: levels(e),
  orders: e.orderHashes,
});

const isGrant = ({ moves }: OutboxEvent): boolean => moves.some(({ reason }) => reason === 'GRANT');

test('every change has one entry, with the new levels and the changed orders, the taker first', async () => {
  const w = world();
  await w.market();
  const resting = [w.buy(bob, NO, '10', '0.45'), w.buy(bob, NO, '5', '0.45'), w.buy(carla, NO, '1', '0.46')];
  for (const order of resting) await w.place(order);
  const [first, second, best] = resting.map((order) => order.orderHash);
  const taker = w.buy(alice, YES, '20', '0.55');
  const { record } = await w.place(taker);
  await w.engine.cancel(null, alice, taker.orderHash, 'USER');
  const told = (await w.outbox()).filter((event) => !isGrant(event));
  expect(told.map(brief)).toEqual([
    { kind: 'MARKET', sequence: 1, levels: [], orders: [] },
    { kind: 'ORDER', sequence: 2, levels: ['a5500 1000/1'], orders: [first] },
    { kind: 'ORDER', sequence: 3, levels: ['a5500 1500/2'], orders: [second] },
    { kind: 'ORDER', sequence: 4, levels: ['a5400 100/1'], orders: [best] },
    {
      kind: 'TRADE',
      sequence: 5,
      levels: ['a5400 0/0', 'a5500 0/0', 'b5500 400/1'],
      orders: [taker.orderHash, best, first, second],
    },
    { kind: 'CANCEL', sequence: 6, levels: ['b5500 0/0'], orders: [taker.orderHash] },
  ]);
  expect(told.every(({ marketId, timestampMs }) => marketId === 'market00' && timestampMs === w.now())).toBe(
    true,
  );
  expect(told.map(({ tradeMs }) => tradeMs)).toEqual([0, 0, 0, 0, record.fillMs, 0]);
});

test('expiries on the way and prevented self-trades are in the entry of the taker', async () => {
  const w = world();
  await w.market();
  const stale = w.buy(bob, NO, '1', '0.50', { expires: START_SECOND + 1 });
  const own = w.buy(alice, NO, '1', '0.49');
  for (const order of [stale, own]) await w.place(order);
  await w.clock((START_SECOND + 1) * 1000);
  const taker = w.buy(alice, YES, '1', '0.60', { prevention: 'CANCEL_BOTH' });
  await w.place(taker);
  const entry = (await w.outbox()).at(-1) as OutboxEvent;
  expect(brief(entry)).toEqual({
    kind: 'ORDER',
    sequence: 4,
    levels: ['a5000 0/0', 'a5100 0/0'],
    orders: [taker.orderHash, stale.orderHash, own.orderHash],
  });
});

test('sets, grants and every step of a market’s life have entries', async () => {
  const w = world();
  await w.market();
  await w.split(alice, '10');
  await w.engine.credit(bob, 5_000_000 as never);
  await w.engine.moveMarket('market00', 'PAUSED', ['OPEN']);
  const told = (await w.outbox()).slice(1);
  expect(
    told.map(({ kind, marketId, sequence, wallets }) => ({ kind, marketId, sequence, wallets })),
  ).toEqual([
    { kind: 'BALANCE', marketId: '--------', sequence: 0, wallets: [alice] },
    { kind: 'BALANCE', marketId: 'market00', sequence: 1, wallets: [alice] },
    { kind: 'BALANCE', marketId: '--------', sequence: 0, wallets: [bob] },
    { kind: 'BALANCE', marketId: '--------', sequence: 0, wallets: [bob] },
    { kind: 'MARKET', marketId: 'market00', sequence: 2, wallets: [] },
  ]);
});

test('the first grant of a wallet has an entry of its own, before that of the command, and once', async () => {
  const w = world();
  await w.market();
  await w.place(w.buy(alice, YES, '1', '0.60'));
  await w.place(w.buy(bob, NO, '1', '0.40'));
  await w.engine.raiseNonce(carla, null);
  await w.split(carla, '1');
  await w.place(w.buy(alice, YES, '1', '0.60'));
  const grant = { collateralMicro: 10_000_000_000, yesMicro: 0, noMicro: 0, reason: 'GRANT' };
  const told = (await w.outbox()).slice(1);
  expect(told.map((event) => (isGrant(event) ? event.wallets : event.kind))).toEqual([
    ...[[alice], 'ORDER', [bob], 'TRADE', [carla], 'BALANCE', 'BALANCE', 'ORDER'],
  ]);
  expect(told.filter(isGrant).flatMap(({ moves }) => moves)).toEqual([grant, grant, grant]);
});

test('a command that changes nothing has no entry', async () => {
  const w = world();
  await w.market();
  const order = w.buy(alice, YES, '1', '0.60');
  await w.place(order);
  const before = (await w.outbox()).length;
  await w.place(order);
  await w.place({ ...w.buy(alice, YES, '1', '0.60'), dryRun: true });
  await expect(w.place(w.buy(alice, YES, '1', '0.60', { type: 'FOK' }))).rejects.toThrow();
  await w.engine.cancelMany('market00', bob, [order.orderHash], 'USER');
  await w.engine.expire();
  await w.engine.clearBook('market00');
  expect(await w.outbox()).toHaveLength(before);
});
