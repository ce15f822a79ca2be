import type { Engine } from '../../../../src/store/verbs/engine';
import type { PlaceRequest } from '../../../../src/store/verbs/place';
import { answerOf, type Twin, useTwins } from './twins';
import { walletWithHome } from './world';

/** The commands of wallets on four shards and on one: the same stories have the same answers. */
const twins = useTwins();
const { same, buy } = twins;
const [alice = '', bob = '', carol = ''] = [0, 1, 2].map((home) => walletWithHome(home, 4));

const sell = (market: number, who: string, pips: number, shares: number) =>
  twins.order(market, who, 1, 0, pips, shares * 100);

test('orders and their refusals', async () => {
  const orders = [
    ...[buy(0, alice, 5_000, 20), buy(1, alice, 5_000, 100), buy(2, alice, 4_000, 50)],
    ...[sell(1, alice, 5_000, 1), buy(3, alice, 5_000, 300), buy(1, alice, 5_000, 1, { nonce: 3 })],
    ...[buy(1, bob, 6_000, 10), buy(1, bob, 100, 10, { marketId: 'nowhere0' })],
    twins.order(1, bob, 0, 1, 5_000, 1_000),
  ];
  const again = { ...(orders[0] as PlaceRequest) };
  const codes = await same(10, async ({ engine }) => {
    const answers: unknown[] = [];
    for (const order of [...orders, again]) answers.push(await answerOf(engine.place(order)));
    return answers;
  });
  expect(codes.map((code) => (code as { code?: string }).code ?? 'BOOKED').join()).toBe(
    'BOOKED,BOOKED,BOOKED,INSUFFICIENT_BALANCE,INSUFFICIENT_BALANCE,INVALID_NONCE_VALUE,BOOKED,MARKET_NOT_FOUND,BOOKED,BOOKED',
  );
});

test('dry runs count the collateral of all shards and move none', async () => {
  const holds = [buy(0, alice, 5_000, 20), buy(1, alice, 5_000, 20), buy(2, bob, 5_000, 30)];
  const dry = { dryRun: true };
  const tried = [
    ...[buy(3, alice, 5_000, 160, dry), buy(3, alice, 5_000, 161, dry), buy(1, alice, 5_000, 160, dry)],
    ...[
      buy(1, alice, 5_000, 162, dry),
      twins.order(2, alice, 0, 1, 6_000, 1_000, dry),
      buy(0, carol, 9_000, 100, dry),
    ],
    ...[buy(3, carol, 9_000, 111, dry), buy(3, carol, 9_000, 112, dry)],
  ];
  const larger = buy(1, alice, 5_000, 181, dry);
  const largest = buy(1, alice, 5_000, 180, dry);
  await same(10, async ({ engine, redis }) => {
    for (const order of holds) await engine.place(order);
    const before = await stateOf(redis);
    const answers: unknown[] = [];
    for (const order of tried) answers.push(await answerOf(engine.place(order)));
    for (const order of [larger, largest])
      answers.push(await answerOf(engine.replace(order, holds[1]?.orderHash ?? '')));
    expect(await stateOf(redis)).toBe(before);
    return answers;
  });
});

test('replacements', async () => {
  const [old, other] = [buy(1, alice, 5_000, 100), buy(2, alice, 5_000, 50)];
  const news = [buy(1, alice, 5_000, 160), buy(1, alice, 5_000, 150), buy(1, alice, 5_000, 1)];
  await same(5, async ({ engine }) => {
    for (const order of [old, other]) await engine.place(order);
    const answers: unknown[] = [];
    for (const order of [...news, news[1] as PlaceRequest])
      answers.push(await answerOf(engine.replace(order, old.orderHash)));
    return [...answers, await answerOf(engine.replace(news[0] as PlaceRequest, `0x${'0'.repeat(64)}`))];
  });
});

test('cancels of single orders', async () => {
  const orders = [
    buy(0, alice, 5_000, 1),
    buy(1, alice, 5_000, 2),
    buy(2, alice, 5_000, 3),
    buy(3, alice, 5_000, 4),
  ];
  const [first = '', second = '', third = '', fourth = ''] = orders.map(({ orderHash }) => orderHash);
  const unknown = `0x${'0'.repeat(64)}`;
  await same(12, async ({ engine, other, ids }) => {
    for (const order of orders) await engine.place(order);
    const cancels = [
      () => engine.cancel(null, alice, third, 'USER'),
      // Another process has not booked it.
      () => other.cancel(null, alice, fourth, 'USER'),
      () => other.cancel(null, alice, fourth, 'USER'),
      () => other.cancel(null, bob, first, 'USER'),
      () => other.cancel(null, alice, unknown, 'USER'),
      () => engine.cancel(ids[2] ?? '', alice, second, 'USER'),
      () => engine.cancel('nowhere0', alice, second, 'USER'),
      () => engine.cancel(ids[1] ?? '', alice, second, 'USER'),
      () => engine.cancelMany(ids[0] ?? '', alice, [unknown, first, second], 'CANCEL_ALL'),
      () => engine.cancelMany(ids[0] ?? '', alice, [first], 'CANCEL_ALL'),
      () => engine.cancelMany(ids[0] ?? '', bob, [first], 'CANCEL_ALL'),
      () => engine.cancelMany('nowhere0', alice, [first], 'USER'),
    ];
    const answers: unknown[] = [];
    for (const cancel of cancels) answers.push(await answerOf(cancel()));
    return answers;
  });
});

test('cancels of all orders', async () => {
  const rest = (): PlaceRequest[] => [
    ...[0, 1, 2, 3].map((market) => buy(market, alice, 4_000, 5)),
    ...[0, 1, 2, 3].map((market) => twins.order(market, alice, 0, 1, 4_000, 100)),
    buy(2, bob, 4_000, 5),
  ];
  const lists = [rest(), rest(), rest()];
  await same(6, async ({ engine, ids }) => {
    const answers: unknown[] = [];
    const book = async (list: readonly PlaceRequest[] = []) => {
      for (const order of list) await engine.place(order);
    };
    await book(lists[0]);
    answers.push(await answerOf(engine.cancelAll(alice, { marketId: ids[1] ?? '' })));
    answers.push(await answerOf(engine.cancelAll(alice, { outcome: 1 })));
    answers.push(await answerOf(engine.cancelAll(alice, {})));
    answers.push(await answerOf(engine.cancelAll(alice, { marketId: 'nowhere0' })));
    await book(lists[1]);
    await engine.setMode('HALTED');
    answers.push(await answerOf(engine.cancelAll(alice, {})));
    await engine.setMode('NORMAL');
    // By steps of two orders.
    await book(lists[2]);
    const swept: string[] = [];
    let from: Parameters<Engine['sweep']>[2];
    for (let step = 0; step < 40; step++) {
      const { cancelled, next } = await engine.sweep(alice, {}, from, 2);
      swept.push(...cancelled);
      if (next === null) return [...answers, swept.sort()];
      from = next;
    }
    throw new Error('a sweep does not end');
  });
});

test('nonces', async () => {
  const orders = [0, 1, 2, 3].map((market) => buy(market, alice, 4_000, 5));
  const late = [0, 1, 2, 3].flatMap((market) =>
    [0, 1, 2].map((nonce) => buy(market, alice, 4_000, 5, { nonce })),
  );
  const bobs = [buy(0, bob, 4_000, 5, { nonce: 1 }), buy(0, bob, 4_000, 5)];
  const found = await same(21, async ({ engine }) => {
    for (const order of orders) await engine.place(order);
    const answers: unknown[] = [await answerOf(engine.raiseNonce(bob, 'bob'))];
    for (const order of bobs) answers.push(await answerOf(engine.place(order)));
    answers.push(
      await answerOf(engine.raiseNonce(alice, 'one')),
      await answerOf(engine.raiseNonce(alice, 'one')),
    );
    await engine.invalidateAll(alice, 1);
    for (const order of late) answers.push(await answerOf(engine.place(order)));
    for (const { orderHash } of orders)
      answers.push(await answerOf(engine.cancel(null, alice, orderHash, 'USER')));
    return answers;
  });
  expect(JSON.stringify(found).match(/INVALIDATED/g)).toHaveLength(4);
  expect(await twins.raised()).toEqual(new Map([[bob, 1]]));
});

test('steps of invalidation end every order below the nonce, and the last one takes the wallet off the list', async () => {
  const orders = [0, 1, 2, 3].flatMap((market) =>
    [4_000, 4_100, 4_200].map((pips) => buy(market, alice, pips, 2)),
  );
  await same(2, async ({ engine }) => {
    for (const order of orders) await engine.place(order);
    const { nonce } = await engine.raiseNonce(alice, 'one');
    let [count, from]: [number, Parameters<Engine['invalidate']>[2]] = [0, undefined];
    for (let step = 0; step < 40; step++) {
      const { invalidated, next } = await engine.invalidate(alice, nonce, from, 2);
      count += invalidated;
      if (next === null) return [nonce, count];
      from = next;
    }
    throw new Error('an invalidation does not end');
  });
  expect(await twins.raised()).toEqual(new Map());
});

/** The fields and values of a hash in their order, because a table changes its own while it is read. */
async function stateOf(redis: Twin['redis']): Promise<string> {
  const accounts: unknown[] = [];
  for (const key of (await redis.keys('*')).sort()) {
    if (/door$/.test(key)) continue;
    const isHash = (await redis.type(key)) === 'hash';
    const content = isHash
      ? ((await redis.callBuffer('HGETALL', key)) as Buffer[])
      : [await redis.dumpBuffer(key)];
    const texts = content.map((part) => part?.toString('base64'));
    accounts.push(
      key,
      isHash ? texts.flatMap((field, i) => (i % 2 === 0 ? [`${field} ${texts[i + 1]}`] : [])).sort() : texts,
    );
  }
  return JSON.stringify(accounts);
}
