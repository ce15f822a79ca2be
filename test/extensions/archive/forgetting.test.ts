import { Refusal } from '../../../src/exchange/errors';
import { NOTHING } from '../../../src/extensions/archive/archive';
import { Fenced } from '../../../src/extensions/archive/store/forgetting';
import { isOver } from '../../../src/extensions/archive/store/leaving';
import { dropOldMonths, keptFrom } from '../../../src/extensions/archive/store/retention';
import { hashBytes } from '../../../src/store/records/order';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { withWorlds } from '../../store/engine/setup';
import { alice, bob, START_SECOND } from '../../support/engine-world';
import { createMemoryArchive } from '../../support/memory-archive';
import { archivingIn, cancelled, KEEP_MS, LEASE_MS, refusal, START_MS, TOKEN, YES } from './archiving';

/** The orders that leave Redis, and the answers about them; the archive itself is in memory here. */
const { world } = withWorlds();
const { archiving, traces } = archivingIn(world);

test('an order that has left Redis is booked no second time: it is answered with its record when it is sent again', async () => {
  await world().market();
  const { engine, open, forget, isHere } = archiving();
  await open();
  const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await world().clock(START_MS + KEEP_MS);
  expect(await forget(order)).toBe(1);
  expect([await isHere(order), await traces()]).toEqual([false, 1]);
  const again = await engine.place(order);
  expect([again.replayed, again.record.status, again.record.orderHash]).toEqual([
    true,
    'CANCELLED',
    order.orderHash,
  ]);
  const { record, cancelled: isNew } = await engine.cancel(null, alice, order.orderHash, 'USER');
  expect([record.status, isNew]).toEqual(['CANCELLED', false]);
  expect(await refusal(engine.cancel(null, bob, order.orderHash, 'USER'))).toBe('ORDER_NOT_FOUND');
  const { results } = await engine.cancelMany('market00', alice, [order.orderHash], 'USER');
  expect(results.map((one) => [one.record?.status, one.cancelled])).toEqual([['CANCELLED', false]]);
  const other = world().buy(alice, YES, '10', '0.41');
  expect(await refusal(engine.replace(other, order.orderHash))).toBe('ORDER_NOT_CANCELLABLE');
  expect((await world().balance(alice)).cash).toBe('10000 (0)');
});

test('an order stays in Redis while it rests, when it has traded, and for a minute after its end', async () => {
  await world().market();
  const { engine, open, forget, stored } = archiving();
  await open();
  const resting = world().buy(alice, YES, '10', '0.40');
  const young = await cancelled(engine, world().buy(alice, YES, '10', '0.30'));
  const [maker, taker] = [world().buy(alice, YES, '10', '0.60'), world().buy(bob, 1, '10', '0.40')];
  for (const order of [resting, maker, taker]) await engine.place(order);
  const records = await stored([resting, young, maker, taker]);
  expect(records.map(({ packed }) => isOver(packed, START_MS, () => null))).toEqual([
    false,
    true,
    false,
    false,
  ]);
  await world().clock(START_MS + KEEP_MS - 1);
  expect(await forget(young)).toBe(0);
  await world().clock(START_MS + KEEP_MS);
  expect(await forget(young, young)).toBe(1);
});

test('an order that the rules refuse in any case leaves no trace, and is answered with its record all the same', async () => {
  await world().market();
  const { engine, open, forget } = archiving();
  await open();
  const expired = await cancelled(
    engine,
    world().buy(alice, YES, '10', '0.40', { expires: START_SECOND + 60 }),
  );
  const lower = await cancelled(engine, world().buy(bob, YES, '10', '0.40'));
  await engine.raiseNonce(bob, 'raise');
  await world().clock(START_MS + KEEP_MS);
  expect(await forget(lower)).toBe(1);
  expect(await traces()).toBe(0);
  expect(await refusal(engine.place(world().buy(bob, YES, '10', '0.40')))).toBe('INVALID_NONCE_VALUE');
  expect((await engine.place(lower)).replayed).toBe(true);
  expect(await forget(expired)).toBe(1);
  expect(await traces()).toBe(0);
  expect((await engine.place(expired)).replayed).toBe(true);
  const last = await cancelled(engine, world().buy(alice, YES, '10', '0.20'));
  const closing = world().buy(alice, YES, '10', '0.10');
  await engine.place(closing);
  await world().clock(START_MS + 2 * KEEP_MS);
  expect(await forget(last)).toBe(1);
  expect(await traces()).toBe(1);
  await engine.moveMarket('market00', 'CLOSED', ['OPEN']);
  await engine.clearBook('market00');
  await world().clock(START_MS + 3 * KEEP_MS);
  expect(await forget(closing)).toBe(1);
  const { forgetting } = archiving();
  await forgetting.dropTraces();
  expect(await traces()).toBe(0);
  for (const order of [last, closing]) expect((await engine.place(order)).replayed).toBe(true);
  expect(await refusal(engine.place(world().buy(alice, YES, '10', '0.15')))).toBe('MARKET_NOT_OPEN');
});

test('an order that expired stays so when the clock steps back; one that is not over leaves a trace', async () => {
  await world().market();
  const { engine, open, forget } = archiving();
  await open();
  const buy = (seconds: number): PlaceRequest =>
    world().buy(alice, YES, '10', '0.40', { expires: START_SECOND + seconds });
  const [expired, open61] = [await cancelled(engine, buy(60)), await cancelled(engine, buy(61))];
  await world().clock(START_MS + KEEP_MS);
  expect(await forget(expired, open61)).toBe(2);
  expect(await traces()).toBe(1);
  await world().clock(START_MS + 1_000);
  for (const order of [expired, open61]) expect((await engine.place(order)).replayed).toBe(true);
  expect(await refusal(engine.place(buy(59)))).toBe('ORDER_EXPIRED');
  expect(await refusal(engine.place(buy(60)))).toBe('ORDER_EXPIRED');
  const resting = buy(61);
  expect((await engine.place(resting)).replayed).toBe(false);
  expect(await refusal(engine.replace(buy(60), resting.orderHash))).toBe('ORDER_EXPIRED');
  expect((await engine.place(world().buy(alice, YES, '10', '0.30'))).replayed).toBe(false);
});

test('with the archive away, or older than what left Redis, an order with a trace is not booked', async () => {
  await world().market();
  const memory = createMemoryArchive();
  const { engine, open, forget } = archiving(memory);
  await open();
  const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await world().clock(START_MS + KEEP_MS);
  await forget(order);
  const silent = async (): Promise<never> => {
    throw new Refusal('UNAVAILABLE');
  };
  const away = archiving({ ...memory, orders: silent, state: silent });
  expect(await refusal(away.engine.place(order))).toBe('UNAVAILABLE');
  expect(await refusal(away.engine.cancel(null, alice, order.orderHash, 'USER'))).toBe('UNAVAILABLE');
  const older = createMemoryArchive();
  expect(await refusal(archiving(older).engine.place(order))).toBe('UNAVAILABLE');
  // A process that knows of no archive.
  expect(await refusal(world().engine.place(order))).toBe('UNAVAILABLE');
  expect((await away.engine.place(world().buy(alice, YES, '10', '0.20'))).replayed).toBe(false);
  await expect(archiving(older).forgetting.open()).rejects.toThrow('put back a newer copy');
});

test('an order whose month the archive has dropped is booked no second time', async () => {
  await world().market();
  const { archive, engine, open, forget } = archiving();
  await open();
  const traced = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  const refused = await cancelled(engine, world().buy(bob, YES, '10', '0.40'));
  await engine.raiseNonce(bob, 'raise');
  await world().clock(START_MS + KEEP_MS);
  expect(await forget(traced, refused)).toBe(2);
  const months = (count: number) => keptFrom(START_MS, -count);
  expect(await dropOldMonths(archive, null, months(9))).toBe(0);
  expect(await dropOldMonths(archive, 2, months(3) - 1)).toBe(0);
  expect((await engine.place(traced)).replayed).toBe(true);
  expect(await dropOldMonths(archive, 2, months(3))).toBe(2);
  expect(await refusal(engine.place(traced))).toBe('DUPLICATE_ORDER');
  expect(await refusal(engine.place(refused))).toBe('INVALID_NONCE_VALUE');
  expect(await refusal(engine.cancel(null, alice, traced.orderHash, 'USER'))).toBe('ORDER_NOT_FOUND');
  expect((await world().balance(alice)).cash).toBe('10000 (0)');
});

test('a process that lost the lease forgets nothing, and the next holder takes its batch back', async () => {
  await world().market();
  const { archive, engine, open, forget, isHere, forgetting, stored } = archiving();
  await open();
  const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await world().clock(START_MS + KEEP_MS);
  await forgetting.lease.release(TOKEN);
  await forgetting.lease.take('another', LEASE_MS);
  await expect(forget(order)).rejects.toThrow(Fenced);
  expect([await isHere(order), (await archive.state())?.batch]).toEqual([true, 1]);
  const next = archiving(archive);
  await next.forgetting.lease.take('another', LEASE_MS);
  await next.forgetting.open();
  expect((await archive.state())?.batch).toBe(0);
  expect(await archive.orders([hashBytes(order.orderHash)])).toEqual([]);
  expect((await next.forgetting.move('another', { orders: await stored([order]) })).orders).toBe(1);
  expect((await engine.place(order)).replayed).toBe(true);
});

test('nothing is forgotten while the exchange is HALTED', async () => {
  await world().market();
  const { archive, engine, open, forget, isHere, forgetting } = archiving();
  await open();
  const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
  await engine.setMode('HALTED');
  await world().clock(START_MS + KEEP_MS);
  await expect(forget(order)).rejects.toThrow(Fenced);
  expect(await isHere(order)).toBe(true);
  // Or the same batch would be added and deleted again and again.
  await expect(forgetting.open()).rejects.toThrow(Fenced);
  expect((await archive.state())?.batch).toBe(1);
});

test('an exchange takes no archive that another one has filled', async () => {
  const memory = createMemoryArchive();
  await memory.append(1, NOTHING);
  await expect(archiving(memory).forgetting.open()).rejects.toThrow(
    'it lost its data, or the archive is another',
  );
});
