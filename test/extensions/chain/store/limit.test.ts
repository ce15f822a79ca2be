import { alice, bob, carla, codeOf, fund, withBooks } from './with-books';

/** The value of a wallet that may wait for the chain, and with it the value of a match that the wallet can make fail. */
const open = withBooks();

test('the value that waits for the chain is bounded, and the bound grows with what was settled', async () => {
  const books = await open({ unsettledMaxNew: '5' });
  const { buy, sell, place, chain, waiting } = books;
  fund(books, alice, 0, 1000);
  await books.observe(chain.mine());
  await place(sell(alice, 0, '5', '0.90'));
  await place(buy(bob, 0, '5', '0.90'));
  await expect(place(buy(bob, 0, '2', '0.50'))).rejects.toMatchObject({
    code: 'UNSETTLED_LIMIT',
    extra: { limit: '5', unsettled: '4.5', required: '1' },
    message: expect.stringContaining(
      '(the limit grows tenfold with trades worth 50 that are settled, so far it is 0)',
    ),
  });
  for (let turn = 0; turn < 12; turn++) {
    for (const { match } of waiting.values()) chain.settle(match);
    await books.observe(chain.mine());
    if (turn === 11) break;
    await place(sell(alice, 0, '5', '0.90'));
    await place(buy(bob, 0, '5', '0.90'));
  }
  expect(await codeOf(place(buy(bob, 0, '60', '0.50')))).toBe('no refusal');
});

test('the limit of a contract does not grow, because it may refuse at any time', async () => {
  const books = await open({ unsettledMaxNew: '1' });
  const { buy, sell, place, chain, waiting } = books;
  fund(books, alice, 0, 1000);
  chain.wallet(bob).hasCode = true;
  await books.observe(chain.mine());
  for (let turn = 0; turn < 12; turn++) {
    await place(sell(alice, 0, '1', '0.90'));
    await place(buy(bob, 0, '1', '0.90'));
    for (const { match } of waiting.values()) chain.settle(match);
    await books.observe(chain.mine());
  }
  await expect(place(buy(bob, 0, '2', '0.90'))).rejects.toMatchObject({
    code: 'UNSETTLED_LIMIT',
    message: expect.stringContaining('(the limit of a contract wallet does not grow)'),
  });
  expect(await codeOf(place(sell(alice, 0, '2', '0.90')))).toBe('no refusal');
});

test('a SELL counts with what it may get, and not with its own limit price', async () => {
  const books = await open({ unsettledMaxNew: '10' });
  const { buy, sell, place } = books;
  await place(buy(bob, 0, '10', '0.60'));
  // Nothing of hers waits, so waiting would not help.
  await expect(place(sell(alice, 0, '100', '0.01'))).rejects.toMatchObject({
    code: 'UNSETTLED_LIMIT',
    extra: { limit: '10', unsettled: '0', required: '100' },
    message: expect.stringContaining('with this order, which counts for 100, they may pass 10'),
  });
  expect(await codeOf(place(sell(alice, 0, '11', '0', { type: 'MARKET' })))).toBe('UNSETTLED_LIMIT');
  expect(await codeOf(place(sell(alice, 0, '10', '0.01')))).toBe('no refusal');
});

test.each(['BUY', 'SELL'] as const)(
  'open %s orders count, because one sweep may match all of them',
  async (side) => {
    const books = await open({ unsettledMaxNew: '5' });
    const { place, engine, chain, waiting } = books;
    fund(books, carla, 100, 100);
    fund(books, bob, 1000, 1000);
    const [own, other] = side === 'BUY' ? [books.buy, books.sell] : [books.sell, books.buy];
    // Ten orders of 5 shares: 50 units at a price of 1 a share, which is what tokens count.
    const price = side === 'BUY' ? '0.99' : '0.50';
    const rested: Awaited<ReturnType<typeof place>>[] = [];
    for (let i = 0; i < 10; i++) rested.push(await place(own(alice, 0, '5', price)));
    await expect(place(own(alice, 0, '5', price))).rejects.toMatchObject({
      code: 'UNSETTLED_LIMIT',
      extra: {
        limit: '50',
        ...(side === 'BUY' ? { unsettled: '49.5', required: '4.95' } : { unsettled: '50', required: '5' }),
      },
    });
    // Another wallet is free to quote, and what is cancelled counts no more.
    expect(await codeOf(place(own(carla, 0, '5', price)))).toBe('no refusal');
    await engine.cancel('market00', alice, rested[0]?.record.orderHash ?? '', 'USER');
    const again = await place(own(alice, 0, '5', price));
    expect(again.record.status).toBe('OPEN');
    // A sweep makes all of it unsettled, and then nothing more is taken.
    await place(other(bob, 0, '1', price, { type: 'IOC' }));
    expect(waiting.size).toBe(1);
    expect(await codeOf(place(own(alice, 0, '5', price)))).toBe('UNSETTLED_LIMIT');
    for (const { match } of waiting.values()) chain.settle(match);
    await books.observe(chain.mine());
    expect(await codeOf(place(own(alice, 0, '1', price)))).toBe('no refusal');
  },
);
