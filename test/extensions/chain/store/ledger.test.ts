import { NONCE_AHEAD_MAX } from '../../../../src/exchange/order';
import { createJournal } from '../../../../src/extensions/portfolio/store/journal';
import { unpackEntry, unpackPositions } from '../../../../src/extensions/portfolio/store/records';
import { createMatches } from '../../../../src/store/settlement/matches';
import { createRaisedNonces } from '../../../../src/store/verbs/invalidate';
import { alice, bob, carla, codeOf, fund, told, withBooks } from './with-books';

/** The books of funds on a chain, in numbers: free (reserved, out, pending). */
const open = withBooks();

test('a match takes from the free funds at once, and what it brings waits for the final block', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting } = books;
  await place(sell(alice, 0, '10', '0.60'));
  expect(await told(books, alice)).toEqual(['100 0 0 0', '90 10 0 0', '100 0 0 0']);
  await place(buy(bob, 0, '10', '0.70'));
  expect(await told(books, alice)).toEqual(['100 0 0 6', '90 0 10 0', '100 0 0 0']);
  expect(await told(books, bob)).toEqual(['94 0 6 0', '100 0 0 10', '100 0 0 0']);
  // Both sides count.
  expect(await books.accounts.unsettledMicro()).toBe(12e6);
  for (const { match } of waiting.values()) chain.settle(match);
  await books.observe(chain.mine());
  expect(await books.accounts.unsettledMicro()).toBe(0);
  expect(await told(books, alice)).toEqual(['106 0 0 0', '90 0 0 0', '100 0 0 0']);
  expect(await told(books, bob)).toEqual(['94 0 0 0', '110 0 0 0', '100 0 0 0']);
  expect((await books.settlements.counts()).unsettled).toBe(0);
});

test('a wallet cannot spend what an unsettled match brings', async () => {
  const books = await open();
  const { buy, sell, place } = books;
  await place(sell(alice, 0, '100', '0.50'));
  await place(buy(bob, 0, '100', '0.50'));
  expect(await codeOf(place(sell(bob, 0, '100.01', '0.50')))).toBe('INSUFFICIENT_BALANCE');
  expect(await codeOf(place(buy(alice, 0, '250', '0.50')))).toBe('INSUFFICIENT_BALANCE');
  expect(await codeOf(place(buy(alice, 0, '200', '0.50')))).toBe('no refusal');
});

test('from its closing time on a market takes no orders, though no worker has closed it', async () => {
  const books = await open();
  const { buy, place, clock, now, engine } = books;
  const closesAtMs = now() + 60_000;
  await books.market('closing0', JSON.stringify({ texts: { closesAtMs } }));
  const own = { market: 'closing0' };
  const resting = buy(bob, 0, '1', '0.50', own);
  await place(resting);
  await clock(closesAtMs);
  await books.observe(books.chain.mine());
  expect(await codeOf(place(buy(bob, 0, '1', '0.50', own)))).toBe('MARKET_NOT_OPEN');
  expect(await codeOf(engine.replace(buy(bob, 0, '1', '0.40', own), resting.orderHash))).toBe(
    'MARKET_NOT_OPEN',
  );
  expect(await codeOf(place(buy(bob, 0, '1', '0.50')))).toBe('no refusal');
});

test('a failed match gives every wallet back what it took, and cancels and suspends the guilty one', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting, clock, now } = books;
  await place(sell(alice, 0, '10', '0.60'));
  const resting = await place(buy(bob, 0, '1', '0.20'));
  await place(buy(bob, 0, '10', '0.60'));
  chain.wallet(bob).collateral = 5e6;
  for (const { match } of waiting.values()) chain.settle(match);
  const observed = await books.observe(chain.mine());
  expect(observed).toMatchObject({ settled: 1, cancelled: 1, unknown: [], unread: [] });
  // Her lots rest again.
  expect(await told(books, alice)).toEqual(['100 0 0 0', '90 10 0 0', '100 0 0 0']);
  expect(await told(books, bob)).toEqual(['5 0 0 0', '100 0 0 0', '100 0 0 0']);
  const page = await books.settlements.list({}, { limit: 10, cursor: null });
  expect(page.records[0]).toMatchObject({
    settlementStatus: 'FAILED',
    failureReason: 'COLLATERAL',
    failedWallet: bob,
    blockNumber: chain.head,
  });
  const stored = await books.settlements.orders([resting.record.orderHash]);
  expect(stored.get(resting.record.orderHash)).toMatchObject({ status: 'CANCELLED', reason: 'FUNDS' });
  expect(await codeOf(place(buy(bob, 0, '1', '0.20')))).toBe('WALLET_SUSPENDED');
  await clock(now() + 61_000);
  await books.observe(chain.mine());
  expect(await codeOf(place(buy(bob, 0, '1', '0.20')))).toBe('no refusal');
});

test('the lots of an order are counted as settled or failed once its matches are final', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting } = books;
  const { record: first } = await place(sell(alice, 0, '4', '0.60'));
  const { record: second } = await place(sell(bob, 0, '3', '0.60'));
  const { record: taker } = await place(buy(carla, 0, '7', '0.60'));
  chain.wallet(bob).approved = false;
  for (const { match } of waiting.values()) chain.settle(match);
  await books.observe(chain.mine());
  const counted = await books.accounts.settledLots([first, second, taker].map(({ orderHash }) => orderHash));
  expect([...counted.values()]).toEqual([
    { settledLots: 400, failedLots: 0 },
    { settledLots: 0, failedLots: 300 },
    { settledLots: 400, failedLots: 300 },
  ]);
});

test('a wallet that was not read lately is read once, when it places an order', async () => {
  const books = await open();
  const { buy, place, chain, seen } = books;
  const dora = `0x${'d0'.repeat(20)}`;
  fund(books, dora, 10, 0);
  expect(await codeOf(place(buy(dora, 0, '1', '0.50')))).toBe('INSUFFICIENT_BALANCE');
  expect(seen).toEqual([dora]);
  for (let block = 0; block < 5; block++) await books.observe(chain.mine());
  expect(await codeOf(place(buy(dora, 0, '1', '0.50')))).toBe('no refusal');
  expect(seen).toEqual([dora, dora]);
  for (let block = 0; block < 5; block++) await books.observe(chain.mine());
  expect(await codeOf(place(buy(dora, 0, '1', '0.50')))).toBe('no refusal');
  // A wallet with open orders is read with every block.
  expect(seen).toEqual([dora, dora]);
});

test('an allowance below the order is refused as such, and names what to approve', async () => {
  const books = await open();
  const { buy, sell, place, chain } = books;
  chain.wallet(alice).allowance = 3e6;
  chain.wallet(bob).approved = false;
  await place(buy(carla, 1, '1', '0.01'));
  for (let block = 0; block < 5; block++) await books.observe(chain.mine());
  await expect(place(buy(alice, 0, '10', '0.50'))).rejects.toMatchObject({
    code: 'INSUFFICIENT_ALLOWANCE',
    extra: { required: '5', available: '3', token: '0xc0' },
  });
  await expect(place(sell(bob, 0, '10', '0.50'))).rejects.toMatchObject({
    code: 'INSUFFICIENT_ALLOWANCE',
    extra: { required: '10', available: '0', token: '0xc7' },
  });
  expect(await codeOf(place(buy(alice, 0, '250', '0.50')))).toBe('INSUFFICIENT_BALANCE');
});

test('bad news of the head counts at once and cancels the newest orders; good news waits until it is final', async () => {
  const books = await open();
  const { buy, place, chain } = books;
  const old = await place(buy(alice, 0, '100', '0.50'));
  const young = await place(buy(alice, 0, '80', '0.50'));
  chain.wallet(alice).collateral = 60e6;
  chain.mine();
  await books.lookAtHead();
  const hashes = [old, young].map(({ record }) => record.orderHash);
  const stored = await books.settlements.orders(hashes);
  expect(hashes.map((hash) => stored.get(hash)?.status)).toEqual(['OPEN', 'CANCELLED']);
  expect((await told(books, alice))[0]).toBe('10 50 0 0');
  // The head is taken back, and the next one is better than before.
  chain.rollback(chain.head - 1);
  chain.wallet(alice).collateral = 400e6;
  chain.mine();
  await books.lookAtHead();
  expect((await told(books, alice))[0]).toBe('50 50 0 0');
  await books.observe(chain.head);
  expect((await told(books, alice))[0]).toBe('350 50 0 0');
});

test('at the head the moves of our own matches are no bad news', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting } = books;
  await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  const rest = await place(buy(bob, 0, '100', '0.94'));
  for (const { match } of waiting.values()) chain.settle(match);
  chain.mine();
  await books.lookAtHead();
  expect((await told(books, bob))[0]).toBe('0 94 6 0');
  const stored = await books.settlements.orders([rest.record.orderHash]);
  expect(stored.get(rest.record.orderHash)?.status).toBe('OPEN');
  await books.observe(chain.head);
  expect((await told(books, bob))[0]).toBe('0 94 0 0');
});

test('a settlement is not confirmed before the wallets that pay are read at its block', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting, observing } = books;
  await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  for (const { match } of waiting.values()) chain.settle(match);
  const before = books.final();
  const to = chain.mine();
  const events = books.eventsIn(before?.number ?? 0, to);
  const early = await observing.observeBlock(before, books.blockRef(to), [], events);
  expect(early).toMatchObject({ settled: 0, moved: false });
  expect(early.unread.map(({ address }) => address).sort()).toEqual([alice, bob].sort());
  expect(await told(books, bob)).toEqual(['94 0 6 0', '100 0 0 10', '100 0 0 0']);
  expect(await books.observe(to, events)).toMatchObject({ settled: 1, unread: [] });
  expect(await told(books, bob)).toEqual(['94 0 0 0', '110 0 0 0', '100 0 0 0']);
});

test('the books follow one chain: a block that does not follow theirs changes nothing', async () => {
  const books = await open();
  const { buy, place, chain, observing, reading, blockRef } = books;
  await place(buy(alice, 0, '1', '0.50'));
  const [first, second] = [books.final(), chain.mine()];
  await books.observe(second);
  chain.wallet(alice).collateral = 1e6;
  const third = blockRef(chain.mine());
  const late = await observing.observeBlock(first, third, [reading(alice, [], third.number)], []);
  expect(late.moved).toBe(true);
  expect((await told(books, alice))[0]).toBe('99.5 0.5 0 0');
  expect(await observing.observeWallets(third, [reading(alice, [], third.number)])).toBe(false);
});

test('without a new final block for 30 seconds no order is accepted', async () => {
  const books = await open();
  const { buy, place, clock, now, chain, engine } = books;
  const resting = await place(buy(alice, 0, '10', '0.50'));
  await clock(now() + 30_001);
  expect(await codeOf(place(buy(alice, 0, '10', '0.50')))).toBe('CANCEL_ONLY');
  expect(await codeOf(engine.cancel('market00', alice, resting.record.orderHash, 'USER'))).toBe('no refusal');
  await books.observe(chain.mine());
  expect(await codeOf(place(buy(alice, 0, '10', '0.50')))).toBe('no refusal');
});

test('blocks that are old by their own time are no new ones, also when a node shows one after the other', async () => {
  const books = await open();
  const { buy, place, clock, now, chain } = books;
  await place(buy(alice, 0, '10', '0.50'));
  const [old, later] = [chain.mine(), chain.mine()];
  await clock(now() + 30_001);
  await books.observe(old);
  expect(await codeOf(place(buy(alice, 0, '10', '0.50')))).toBe('CANCEL_ONLY');
  expect((await books.accounts.cursor())?.followedMs).toBe(now() - 30_001);
  // A final block may be old where finality takes long: the head tells the age of the chain.
  await books.observe(later);
  chain.mine();
  await books.lookAtHead();
  expect(await codeOf(place(buy(alice, 0, '10', '0.50')))).toBe('no refusal');
});

test('matching stops 30 seconds before an order expires, and an order with less than 60 seconds is refused for that', async () => {
  const books = await open();
  const { buy, sell, place, clock, now, chain } = books;
  const second = Math.floor(now() / 1000);
  await expect(place(buy(alice, 0, '1', '0.50', { expires: second + 60 }))).rejects.toMatchObject({
    code: 'INVALID_EXPIRATION',
    extra: { minimum: String(second + 61) },
  });
  for (const ahead of [10, 29, 31])
    await expect(place(buy(alice, 0, '1', '0.50', { expires: second + ahead }))).rejects.toMatchObject({
      code: 'INVALID_EXPIRATION',
      extra: { minimum: String(second + 61) },
    });
  expect(await codeOf(place(buy(alice, 0, '1', '0.50', { expires: second })))).toBe('ORDER_EXPIRED');
  await place(buy(alice, 0, '1', '0.50', { expires: second + 61 }));
  await clock(now() + 31_000);
  await books.observe(chain.mine());
  const late = await place(sell(bob, 0, '1', '0.50'));
  expect(late.record.status).toBe('OPEN');
});

test('a nonce raised on the chain ends the orders below it, and higher ones are accepted', async () => {
  const books = await open();
  const { buy, place, chain, engine, redis, keys } = books;
  const low = await place(buy(alice, 0, '1', '0.50'));
  chain.wallet(alice).nonce = 3;
  await books.observe(chain.mine());
  const raised = await createRaisedNonces({ redis, keys })();
  expect([...raised]).toEqual([[alice, 3]]);
  for (const [address, nonce] of raised) await engine.invalidateAll(address, nonce);
  const stored = await books.settlements.orders([low.record.orderHash]);
  expect(stored.get(low.record.orderHash)?.status).toBe('INVALIDATED');
  expect(await codeOf(place(buy(alice, 0, '1', '0.50', { nonce: 2 })))).toBe('INVALID_NONCE_VALUE');
  expect(await codeOf(place(buy(alice, 0, '1', '0.50', { nonce: 7 })))).toBe('no refusal');
  // No raise would end an order whose nonce is far above.
  expect(await codeOf(place(buy(alice, 0, '1', '0.50', { nonce: 3 + NONCE_AHEAD_MAX })))).toBe('no refusal');
  expect(await codeOf(place(buy(alice, 0, '1', '0.50', { nonce: 4 + NONCE_AHEAD_MAX })))).toBe(
    'INVALID_NONCE_VALUE',
  );
});

test('a contract that takes the limit first holds the limit of the taker until the match is final', async () => {
  const books = await open({ hold: 'limit' });
  const { buy, sell, place, chain, waiting } = books;
  await place(sell(alice, 0, '10', '0.50'));
  await place(buy(bob, 0, '10', '0.80'));
  expect((await told(books, bob))[0]).toBe('92 0 8 0');
  for (const { match } of waiting.values()) chain.settle(match);
  await books.observe(chain.mine());
  expect((await told(books, bob))[0]).toBe('95 0 0 0');
});

test('the end of a match reaches the journal: a failure undoes the positions with a line of its own', async () => {
  const books = await open({ feeRateBps: 100 });
  const { buy, sell, place, chain, waiting, redis, run, keys, settlements } = books;
  const matches = createMatches({ redis, run, keys, settlements, funds: 'chain' });
  const journal = createJournal({ redis, run, keys, matches, doubts: () => 0 });
  const positionOf = async (wallet: string) => {
    await journal.catchUp();
    const packed = await redis.hgetBuffer(keys.positions(Buffer.from(wallet.slice(2), 'hex')), 'market00');
    return packed ? unpackPositions(packed).map(({ sizeMicro, costMicro }) => [sizeMicro, costMicro]) : null;
  };
  await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  // The fee of 1 % of 0.40 a share is paid in shares at 0.60.
  expect(await positionOf(bob)).toEqual([
    [9_933_334n, 6_000_000n],
    [0n, 0n],
  ]);
  await place(sell(carla, 0, '10', '0.50'));
  for (const { match } of waiting.values()) chain.settle(match);
  await books.observe(chain.mine());
  await place(buy(bob, 0, '10', '0.50'));
  chain.wallet(bob).collateral = 0;
  for (const { match } of waiting.values()) chain.settle(match);
  await books.observe(chain.mine());
  expect((await positionOf(bob))?.[0]?.[0]).toBe(9_933_334n);
  const lines = await redis.lrangeBuffer(keys.journal(Buffer.from(bob.slice(2), 'hex')), 0, -1);
  expect(lines.map(unpackEntry).map((line) => (line.type === 'MOVE' ? line.move.reason : line.type))).toEqual(
    ['TRADE', 'TRADE', 'BUY_FAILED'],
  );
});
