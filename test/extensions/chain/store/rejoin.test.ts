import { blockWords } from '../../../../src/extensions/chain/cli/chain';
import { createIntents } from '../../../../src/extensions/chain/store/intents';
import { createRejoining } from '../../../../src/extensions/chain/store/rejoin';
import { settlementName } from '../../../../src/store/records/settlement';
import { createAudit } from '../../../support/audit';
import { type ChainBooks, SCALE } from '../../../support/chain-books';
import { alice, bob, codeOf, told, withBooks } from './with-books';

/** The books go back to an earlier final block, because the chain has replaced those after it. */
const open = withBooks();

/** A match of 10 shares at 0.60 between alice, who sells, and bob, which a final block has confirmed or, without funds, failed. */
async function settled({ isSpoilt = false } = {}) {
  const books = await open();
  const { buy, sell, place, chain, waiting, observe, blockRef, redis, run, keys, settlements } = books;
  const to = books.final() ?? blockRef(0);
  await place(sell(alice, 0, '10', '0.60'));
  const { record } = await place(buy(bob, 0, '10', '0.60'));
  const [waited] = waiting.values();
  if (!waited) throw new Error('no match');
  const { key, match } = waited;
  if (isSpoilt) chain.wallet(bob).collateral = 5e6;
  chain.settle(match);
  await observe(chain.mine());
  const from = books.final() ?? to;
  const audit = createAudit({ redis, run, keys, scale: SCALE, settlementGraceMs: 0 });
  return {
    ...books,
    to,
    from,
    key,
    ref: { ...key, tradeMs: record.fillMs },
    rejoining: createRejoining(books),
    // The market of these books has no document.
    differences: async () => (await audit()).differences.filter(({ kind }) => kind !== 'DOCUMENT'),
    status: async () => (await settlements.find(key))?.settlementStatus,
  };
}

/** The new blocks say how many whole units of collateral and of Yes alice and bob have. */
function give({ chain }: ChainBooks, ...amounts: readonly (readonly [number, number])[]): void {
  for (const [i, [cash, yes]] of amounts.entries()) {
    const wallet = chain.wallet(i === 0 ? alice : bob);
    wallet.collateral = cash * 1e6;
    wallet.tokens.set('market00', [yes * 1e6, 100e6]);
  }
}

const TAKEN = {
  alice: ['100 0 0 6', '90 0 10 0', '100 0 0 0'],
  bob: ['94 0 6 0', '100 0 0 10', '100 0 0 0'],
};

test('a settlement that a replaced block confirmed is open again, once, and what it took is out', async () => {
  const books = await settled();
  const { rejoining, engine, from, to, key, chain, reading, observing, blockRef, accounts, status } = books;
  const [first, ...others] = await rejoining.endedAfter(to.number);
  expect([first, others]).toEqual([{ ...key, status: 'CONFIRMED', blockNumber: from.number }, []]);
  expect((await rejoining.finalBlocks()).slice(0, 2)).toEqual([from, to]);
  await engine.setMode('HALTED');
  expect(await rejoining.rejoin(from, to, [key])).toEqual({ code: 'OK', reopened: 1, unreadable: [] });
  expect((await accounts.cursor())?.final).toEqual(to);
  expect((await rejoining.finalBlocks())[0]).toEqual(to);
  expect(await status()).toBe('RETRYING');
  expect((await books.settlements.counts()).unsettled).toBe(1);
  expect(await books.differences()).toEqual([]);
  expect(await rejoining.rejoin(from, to, [key])).toMatchObject({ code: 'MOVED', reopened: 0 });
  // The chain without the match, at a later block.
  give(books, [100, 100], [100, 100]);
  const at = chain.mine();
  const readings = [alice, bob].map((wallet) => reading(wallet, ['market00'], at));
  expect(await observing.observeBlock(to, blockRef(at), readings, [])).toMatchObject({ moved: false });
  expect(await told(books, alice)).toEqual(TAKEN.alice);
  expect(await told(books, bob)).toEqual(TAKEN.bob);
  const again = { result: 'CONFIRMED', transactionHash: `0x${'ab'.repeat(32)}`, fault: null } as const;
  give(books, [106, 90], [94, 110]);
  const last = chain.mine();
  const after = [alice, bob].map((wallet) => reading(wallet, ['market00'], last));
  const event = { ...key, ...again, blockNumber: last };
  expect(await observing.observeBlock(blockRef(at), blockRef(last), after, [event])).toMatchObject({
    settled: 1,
  });
  expect(await status()).toBe('CONFIRMED');
  expect(await told(books, bob)).toEqual(['94 0 0 0', '110 0 0 0', '100 0 0 0']);
  expect(await books.differences()).toEqual([]);
});

test('only a HALTED exchange goes back, only from where its books are, and only to an earlier block', async () => {
  const { rejoining, engine, from, to, key, status } = await settled();
  expect(await rejoining.rejoin(from, to, [key])).toMatchObject({ code: 'MODE', reopened: 0 });
  await engine.setMode('HALTED');
  const other = { ...from, hash: `0x${'cd'.repeat(32)}` };
  expect(await rejoining.rejoin(other, to, [key])).toMatchObject({ code: 'MOVED', reopened: 0 });
  expect(await rejoining.rejoin(from, from, [key])).toMatchObject({ code: 'MOVED', reopened: 0 });
  expect(await status()).toBe('CONFIRMED');
});

test('an exchange that went back accepts no order and tells no age of a block until it has read another one, also while NORMAL', async () => {
  const { rejoining, engine, from, to, key, accounts, place, sell } = await settled();
  await engine.setMode('HALTED');
  await rejoining.rejoin(from, to, [key]);
  await engine.setMode('NORMAL');
  expect(await codeOf(place(sell(alice, 0, '1', '0.70')))).toBe('CANCEL_ONLY');
  expect(blockWords(await accounts.cursor(), Date.now())).toBe(
    `final block ${to.number}, the one after it is not read yet; head not read yet`,
  );
});

test('a settlement that a transaction still holds is SUBMITTED again, so that no other one takes it', async () => {
  const { rejoining, engine, from, to, key, ref, redis, run, keys, status } = await settled();
  const intents = createIntents({ redis, run, keys });
  const holder = { lane: `0x${'0a'.repeat(20)}`, token: 'one' };
  await intents.hold(holder, 60_000, 7);
  const record = await redis.hgetBuffer(keys.settlements, settlementName(key));
  const waiting = Buffer.from(record ?? '');
  waiting[0] = 0;
  await redis.hset(keys.settlements, settlementName(key), waiting);
  const attempt = { hash: `0x${'ef'.repeat(32)}`, bytes: '0x02' };
  expect(await intents.enlist(holder, 7, attempt, [ref])).toEqual({ code: 'OK' });
  await redis.hset(keys.settlements, settlementName(key), record ?? '');
  await engine.setMode('HALTED');
  expect(await rejoining.rejoin(from, to, [key])).toMatchObject({ reopened: 1 });
  expect(await status()).toBe('SUBMITTED');
});

test('a settlement whose order cannot be read stays CONFIRMED, and the books go back all the same', async () => {
  const { rejoining, engine, from, to, key, keys, redis, status, accounts } = await settled();
  const hashes = await redis.hkeysBuffer(keys.orders);
  for (const hash of hashes) await redis.hset(keys.orders, hash, 'x');
  await engine.setMode('HALTED');
  expect(await rejoining.rejoin(from, to, [key])).toEqual({ code: 'OK', reopened: 0, unreadable: [key] });
  expect(await status()).toBe('CONFIRMED');
  expect((await accounts.cursor())?.final).toEqual(to);
});

test('a settlement that FAILED stays so, and is CONFIRMED and reported when the chain has settled it all the same', async () => {
  const books = await settled({ isSpoilt: true });
  const { rejoining, engine, from, to, key, chain, reading, observing, blockRef, status, accounts } = books;
  expect(await rejoining.endedAfter(to.number)).toMatchObject([{ status: 'FAILED' }]);
  await engine.setMode('HALTED');
  expect(await rejoining.rejoin(from, to, [])).toMatchObject({ code: 'OK', reopened: 0 });
  expect(await status()).toBe('FAILED');
  give(books, [106, 90], [94, 110]);
  const at = chain.mine();
  const readings = [alice, bob].map((wallet) => reading(wallet, ['market00'], at));
  const event = {
    ...key,
    result: 'CONFIRMED',
    transactionHash: `0x${'ab'.repeat(32)}`,
    fault: null,
  } as const;
  const events = [{ ...event, blockNumber: at }];
  expect(await observing.observeBlock(to, blockRef(at), readings, events)).toMatchObject({ unknown: [key] });
  expect(await observing.observeBlock(to, blockRef(at), [], [])).toMatchObject({ moved: false, unknown: [] });
  expect(await status()).toBe('CONFIRMED');
  expect(await told(books, bob)).toEqual(['94 0 0 0', '110 0 0 0', '100 0 0 0']);
  expect((await books.settlements.counts()).failed).toBe(0);
  expect((await accounts.chainAccount(alice))?.settledMicro).toBe(6e6);
  expect(await books.differences()).toEqual([]);
});
