import { noteFunds, otherFunds } from '../../../../src/extensions/chain/store/funds';
import { createChainLedger } from '../../../../src/extensions/chain/store/ledger';
import { createObserving } from '../../../../src/extensions/chain/store/observing';
import { createJournal } from '../../../../src/extensions/portfolio/store/journal';
import { unpackPositions } from '../../../../src/extensions/portfolio/store/records';
import { readFunds } from '../../../../src/store/health/funds';
import { decodeEvent } from '../../../../src/store/outbox/outbox';
import { addressBytes } from '../../../../src/store/records/order';
import { settlementId } from '../../../../src/store/records/settlement';
import { createMatches } from '../../../../src/store/settlement/matches';
import { createSettlements } from '../../../../src/store/settlement/settlements';
import { SCALE } from '../../../support/chain-books';
import { alice, bob, carla, codeOf, fund, told, withBooks } from './with-books';

/** How the books follow the chain: blocks of many wallets, many orders, modes, and what belongs to other data. */
const open = withBooks();

test('a block that takes several calls cancels no order of a wallet that can pay', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting, accounts } = books;
  const makers = Array.from({ length: 120 }, (_, i) => `0x${(0x1000 + i).toString(16).padStart(40, '0')}`);
  fund(books, alice, 1_000, 0);
  for (const maker of makers) fund(books, maker, 0, 2);
  await books.observe(chain.mine());
  // Each maker needs all of its tokens: one is sold, and one rests.
  for (const maker of makers) await place(sell(maker, 0, '1', '0.50'));
  await place(buy(alice, 0, '120', '0.50'));
  for (const maker of makers) await place(sell(maker, 0, '1', '0.60'));
  expect(waiting.size).toBe(makers.length);
  for (const { match } of waiting.values()) chain.settle(match);
  expect(await books.observe(chain.mine())).toEqual({
    moved: false,
    unread: [],
    unknown: [],
    settled: makers.length,
    cancelled: 0,
    more: false,
  });
  expect(await told(books, makers[7] ?? '')).toEqual(['0.5 0 0 0', '0 1 0 0', '2 0 0 0']);
  expect(await told(books, alice)).toEqual(['940 0 0 0', '120 0 0 0', '0 0 0 0']);
  expect(await accounts.exposed()).toHaveLength(makers.length);
});

test('a call takes few readings when these have many markets', async () => {
  const { redis, accounts, run, keys, reading, chain, blockRef, final } = await open();
  const bytes: number[] = [];
  const noting = ((verb, scriptKeys, args) => {
    if (verb === 'observe_block') bytes.push((args as unknown as Buffer[])[4]?.length ?? 0);
    return run(verb, scriptKeys, args);
  }) as typeof run;
  const observing = createObserving({ redis, run: noting, keys, scale: SCALE });
  const markets = Array.from({ length: 130 }, (_, i) => `mark${1000 + i}`);
  const wallets = [alice, bob, carla];
  const to = blockRef(chain.mine());
  const readings = wallets.map((wallet) => reading(wallet, markets, to.number));
  await observing.observeBlock(final(), to, readings, []);
  // A reading packs into 40 bytes and 22 for each market.
  expect(Math.max(...bytes)).toBeLessThanOrEqual(100 * (40 + 22));
  expect((await accounts.cursor())?.final).toEqual(to);
  expect((await accounts.chainAccount(carla))?.tokens).toHaveLength(130);
});

test('more orders than one call cancels end with the next ones', async () => {
  const books = await open();
  const { buy, place, chain } = books;
  for (let i = 0; i < 230; i++) await place(buy(alice, 0, '0.80', '0.50'));
  chain.wallet(alice).collateral = 0;
  chain.mine();
  await books.lookAtHead();
  expect((await told(books, alice))[0]).toBe('-12 12 0 0');
  expect(await codeOf(place(buy(alice, 0, '0.01', '0.50')))).toBe('INSUFFICIENT_BALANCE');
  await books.lookAtHead();
  expect((await told(books, alice))[0]).toBe('0 0 0 0');
});

test('the limit of a wallet that is read no more leaves after a thousand blocks, and its next order is judged by a new reading', async () => {
  const books = await open();
  const { buy, place, chain, redis, keys } = books;
  await place(buy(alice, 0, '10', '0.50'));
  chain.wallet(alice).collateral = 1e6;
  chain.mine();
  await books.lookAtHead();
  const limits = async (blocks: number): Promise<number> => {
    let to = 0;
    for (let i = 0; i < blocks; i++) to = chain.mine();
    await books.observe(to);
    chain.mine();
    await books.lookAtHead();
    return redis.hlen(keys.caps);
  };
  expect(await limits(990)).toBe(1);
  expect(await limits(20)).toBe(0);
  expect(await codeOf(place(buy(alice, 0, '10', '0.50')))).toBe('INSUFFICIENT_BALANCE');
  expect((await told(books, alice))[0]).toBe('1 0 0 0');
});

test('while the exchange is halted no order is cancelled, and afterwards those without funds are', async () => {
  const books = await open();
  const { buy, place, chain, engine } = books;
  await place(buy(alice, 0, '10', '0.50'));
  await engine.setMode('HALTED', null);
  chain.wallet(alice).collateral = 1e6;
  await books.observe(chain.mine());
  expect((await told(books, alice))[0]).toBe('-4 5 0 0');
  await engine.setMode('NORMAL', null);
  await books.observe(chain.mine());
  expect((await told(books, alice))[0]).toBe('1 0 0 0');
});

test('an order may be replaced by one that needs the funds of both', async () => {
  const books = await open();
  const { buy, sell, place, engine, chain } = books;
  const old = await place(buy(alice, 0, '180', '0.50'));
  expect(await codeOf(place(buy(alice, 0, '25', '0.50')))).toBe('INSUFFICIENT_BALANCE');
  const replaced = await engine.replace(buy(alice, 0, '199', '0.50'), old.record.orderHash);
  expect(replaced.old?.reason).toBe('REPLACED');
  expect((await told(books, alice))[0]).toBe('0.5 99.5 0 0');
  const next = buy(alice, 0, '201', '0.50');
  expect(await codeOf(engine.replace(next, replaced.record.orderHash))).toBe('INSUFFICIENT_BALANCE');
  chain.wallet(alice).allowance = 10e6;
  await books.observe(chain.mine());
  await place(sell(bob, 0, '1', '0.40'));
  expect(await codeOf(engine.replace(next, replaced.record.orderHash))).toBe('ORDER_NOT_CANCELLABLE');
});

test('a settlement ends once: a second end of any kind changes nothing', async () => {
  const books = await open();
  const { buy, sell, place, observing, waiting, chain } = books;
  await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  const [waited] = waiting.values();
  const key = waited?.key ?? { marketId: '', sequence: 0, part: 0 };
  const fault = { wallet: alice, reason: 'PAUSED' } as const;
  expect(await observing.voidSettlement(key, fault, 1)).toBe('OK');
  expect(await observing.voidSettlement(key, fault, 1)).toBe('OVER');
  expect(await observing.voidSettlement({ ...key, part: 7 }, fault, 1)).toBe('UNKNOWN');
  expect(await told(books, alice)).toEqual(['100 0 0 0', '100 0 0 0', '100 0 0 0']);
  // No wallet is at fault, so none is suspended.
  expect(await codeOf(place(sell(alice, 0, '1', '0.60')))).toBe('no refusal');
  // A chain that confirms it all the same is reported.
  if (waited) chain.settle(waited.match);
  expect((await books.observe(chain.mine())).unknown).toEqual([key]);
});

test('a reading of an older block does not count', async () => {
  const books = await open();
  const { buy, place, chain, observing, reading, blockRef } = books;
  await place(buy(alice, 0, '10', '0.50'));
  const before = books.final()?.number ?? 0;
  chain.wallet(alice).collateral = 50e6;
  await books.observe(chain.mine());
  expect(await observing.observeWallets(blockRef(before), [reading(alice, [], before)])).toBe(true);
  expect((await told(books, alice))[0]).toBe('45 5 0 0');
});

test('an observer that lacks a wallet hears which, and the books wait', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting, redis, run, keys } = books;
  const ledger = createChainLedger({ redis, run, keys, scale: SCALE });
  await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  for (const { match } of waiting.values()) chain.settle(match);
  const from = await ledger.finalBlock();
  const to = chain.mine();
  const events = books.eventsIn(from?.number ?? 0, to);
  await expect(ledger.observeBlock(from, books.blockRef(to), [], events)).rejects.toThrow(
    `block ${to} ends settlements of 2 wallets that were not read`,
  );
  expect(await ledger.finalBlock()).toEqual(from);
  const readings = [alice, bob].map((wallet) => books.reading(wallet, ['market00'], to));
  expect(await ledger.observeBlock(from, books.blockRef(to), readings, events)).toBe(true);
  expect(await ledger.observeBlock(from, books.blockRef(to), readings, events)).toBe(false);
});

test('the books take a block with an unknown settlement after they have reported it, and end the others once', async () => {
  const books = await open();
  const { buy, sell, place, chain, waiting, redis, run, keys } = books;
  const told: string[][] = [];
  let isDeaf = true;
  const ledger = createChainLedger({
    redis,
    run,
    keys,
    scale: SCALE,
    async onUnknown(settlements) {
      if (isDeaf) throw new Error('nobody listens');
      told.push(settlements.map(settlementId));
    },
  });
  await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  for (const { match } of waiting.values()) chain.settle(match);
  const from = await ledger.finalBlock();
  const to = chain.mine();
  const events = books.eventsIn(from?.number ?? 0, to);
  const [known] = events;
  if (!known) throw new Error('nothing is settled');
  const lost = { ...known, marketId: 'market99', sequence: 7 };
  const readings = [alice, bob].map((wallet) => books.reading(wallet, ['market00'], to));
  const observe = () => ledger.observeBlock(from, books.blockRef(to), readings, [lost, known]);
  await expect(observe()).rejects.toThrow('nobody listens');
  expect(await ledger.finalBlock()).toEqual(from);
  isDeaf = false;
  expect(await observe()).toBe(true);
  expect(told).toEqual([[settlementId(lost)]]);
  expect((await ledger.finalBlock())?.number).toBe(to);
  expect(await observe()).toBe(false);
  expect((await ledger.chainAccount(bob))?.collateral).toMatchObject({ outMicro: 0, balanceMicro: 94e6 });
});

test('a resolved market ends when no order rests, and its holders keep their tokens', async () => {
  const books = await open();
  const { buy, place, engine } = books;
  await place(buy(carla, 0, '10', '0.50'));
  await engine.resolveMarket('market00', 0);
  expect(await engine.payHolders('market00')).toEqual({ paid: 0, left: true });
  await engine.clearBook('market00');
  expect(await engine.payHolders('market00')).toEqual({ paid: 0, left: false });
  expect(await told(books, carla)).toEqual(['100 0 0 0', '100 0 0 0', '100 0 0 0']);
});

test('data belongs to one kind of funds, chain and contract', async () => {
  const { redis, run, keys } = await open();
  const noted = await readFunds(redis, keys);
  if (!noted) throw new Error('nothing noted');
  expect(await noteFunds(run, keys, { ...noted, chainId: 1 })).toEqual(noted);
  expect(otherFunds(noted, noted)).toBeNull();
  expect(otherFunds(null, noted)).toContain('FUNDS=chain');
  expect(otherFunds(noted, null)).toContain('FUNDS=paper');
  expect(otherFunds({ ...noted, exchange: '0x01' }, noted)).toContain('exchange');
  expect(otherFunds(null, null)).toBeNull();
  await redis.del(keys.funds);
  // Markets and accounts without a mark are those of paper funds.
  expect(await noteFunds(run, keys, noted)).toBeNull();
});

test('an order that is sent again is answered with its record, also when its funds are gone', async () => {
  const books = await open();
  const { buy, place, engine, chain } = books;
  const request = buy(alice, 0, '150', '0.50');
  await place(request);
  await engine.cancel('market00', alice, request.orderHash, 'USER');
  chain.wallet(alice).collateral = 0;
  for (let i = 0; i < 6; i++) await books.observe(chain.mine());
  expect(await place(request)).toMatchObject({ replayed: true, record: { status: 'CANCELLED' } });
  expect(await codeOf(place(buy(alice, 0, '1', '0.50')))).toBe('INSUFFICIENT_BALANCE');
});

test('an order that nothing covers is found behind as many others as a wallet may have', async () => {
  const books = await open({
    patches: [
      { file: 'lib/unfunded.lua', from: 'OPEN_MAX = 2000', to: 'OPEN_MAX = 12' },
      { file: 'lib/unfunded.lua', from: 'PAGE = 200, 10000, 500', to: 'PAGE = 200, 60, 5' },
    ],
  });
  const { buy, sell, place, engine, chain } = books;
  const hidden = await place(sell(alice, 0, '10', '0.90'));
  for (let i = 0; i < 11; i++) await place(buy(alice, 0, '0.01', '0.10'));
  await expect(place(buy(alice, 0, '0.01', '0.10'))).rejects.toMatchObject({ code: 'BALANCE_LIMIT' });
  // An order that cannot rest, and one in place of another, are no more than before.
  expect(await codeOf(place(buy(alice, 0, '0.01', '0.10', { type: 'IOC' })))).toBe('no refusal');
  await engine.replace(sell(alice, 0, '9', '0.90'), hidden.record.orderHash);
  chain.tokens(alice, 'market00')[0] = 0;
  expect(await books.observe(chain.mine())).toMatchObject({ cancelled: 1, more: false });
  expect(await told(books, alice)).toEqual(['99.989 0.011 0 0', '0 0 0 0', '100 0 0 0']);
});

test('a head whose own moves were taken off after another final block does not count', async () => {
  const books = await open();
  const { buy, place, chain, observing, reading, blockRef } = books;
  await place(buy(alice, 0, '10', '0.50'));
  const before = books.final();
  await books.observe(chain.mine());
  chain.wallet(alice).collateral = 1e6;
  const head = chain.mine();
  const readings = [reading(alice, [], head)];
  expect(await observing.capWallets(before, blockRef(head), readings)).toBe(false);
  expect((await told(books, alice))[0]).toBe('95 5 0 0');
  expect(await observing.capWallets(books.final(), blockRef(head), readings)).toBe(true);
  expect((await told(books, alice))[0]).toBe('1 0 0 0');
});

test('what wallets converted themselves is told once, when the cursor moves, and is in their books', async () => {
  const { redis, run, keys, chain, blockRef, final } = await open();
  const observing = createObserving({ redis, run, keys, scale: SCALE });
  const before = await redis.xlen(keys.outbox);
  const [from, to] = [final(), blockRef(chain.mine())];
  const units = (n: bigint): bigint => n * 1_000_000n * SCALE.microAmount;
  const of = (kind: 'SPLIT' | 'REDEEM', collateral: bigint, yes: bigint, no: bigint) => ({
    kind,
    wallet: alice,
    marketId: 'market00',
    collateral: units(collateral),
    yes: units(yes),
    no: units(no),
  });
  const converted = [of('SPLIT', 10n, 10n, 10n), of('REDEEM', 8n, 8n, 10n)];
  expect(await observing.observeBlock(from, to, [], [], converted)).toMatchObject({ moved: false });
  expect(await observing.observeBlock(from, to, [], [], converted)).toMatchObject({ moved: true });
  const entries = (await redis.xrangeBuffer(keys.outbox, '-', '+')).slice(before);
  const events = entries.map(([, fields]) => decodeEvent(fields[1] as Buffer));
  expect(events.map(({ kind, marketId, wallets, moves }) => [kind, marketId, wallets, moves])).toEqual([
    ['BALANCE', 'market00', [alice], [{ reason: 'SPLIT', ...amounts(10, 10, 10) }]],
    ['BALANCE', 'market00', [alice], [{ reason: 'REDEEMED', ...amounts(8, 8, 10) }]],
  ]);
  const settlements = createSettlements({ redis, run, keys, funds: 'chain' });
  const matches = createMatches({ redis, run, keys, settlements, funds: 'chain' });
  const journal = createJournal({ redis, run, keys, matches, doubts: () => 0 });
  await journal.catchUp();
  const packed = await redis.hgetBuffer(keys.positions(addressBytes(alice)), 'market00');
  // Both halves cost 5; Yes paid 8 for 8 of its 10, and No nothing.
  expect(unpackPositions(packed as Buffer)).toMatchObject([
    { sizeMicro: 2_000_000n, costMicro: 1_000_000n, realizedMicro: 4_000_000n },
    { sizeMicro: 0n, costMicro: 0n, realizedMicro: -5_000_000n },
  ]);
  expect(await redis.llen(keys.journal(addressBytes(alice)))).toBe(2);
});

const amounts = (collateral: number, yes: number, no: number) => ({
  collateralMicro: collateral * 1e6,
  yesMicro: yes * 1e6,
  noMicro: no * 1e6,
});
