import { FAULT_REASONS } from '../../../../src/exchange/chain';
import type { SettlementStatus } from '../../../../src/exchange/status';
import { micro } from '../../../../src/exchange/units';
import { watchCongestion } from '../../../../src/extensions/chain/store/congestion';
import { type FaultKind, readFailures } from '../../../../src/extensions/chain/store/failures';
import { accountReads } from '../../../../src/extensions/chain/store/reads';
import { createSendable } from '../../../../src/extensions/chain/store/sendable';
import { CHAIN_CASH } from '../../../../src/store/records/layout';
import { addressBytes, hashBytes } from '../../../../src/store/records/order';
import { listPlace, type SettlementKey, settlementName } from '../../../../src/store/records/settlement';
import { presentBalances } from '../../../../src/wire/answers/account';
import { createAudit } from '../../../support/audit';
import { type ChainBooks, SCALE } from '../../../support/chain-books';
import { parseMicro } from '../../../support/engine-world';
import { alice, bob, carla, codeOf, told, withBooks } from './with-books';

/** How settlements end when funds are on a chain, and what a failure means for the wallet at fault. */
const open = withBooks();

/** A match of 10 shares at 0.60 between alice, who sells, and bob. */
async function matched({ buy, sell, place, waiting }: ChainBooks) {
  await place(sell(alice, 0, '10', '0.60'));
  const { record } = await place(buy(bob, 0, '10', '0.60'));
  const { key, match } = [...waiting.values()].at(-1) ?? fail('no match');
  return { key, match, ref: { ...key, tradeMs: record.fillMs } };
}

const fail = (text: string): never => {
  throw new Error(text);
};

test('a settlement that FAILED on a chain is final: a job that cannot build it does not put it back', async () => {
  const books = await open();
  const { observing, settlements, redis, keys } = books;
  const { key, ref } = await matched(books);
  // A record that waits for the operator is left alone, too.
  expect(await settlements.move(ref, 'RETRYING')).toBe(false);
  expect(await observing.voidSettlement(key, null, 1)).toBe('OK');
  expect(await settlements.move(ref, 'RETRYING')).toBe(false);
  expect(await settlements.find(key)).toMatchObject({ settlementStatus: 'FAILED' });
  expect(await told(books, alice)).toEqual(['100 0 0 0', '100 0 0 0', '100 0 0 0']);
  // Without any record, it is noted that none could be built.
  await redis.hdel(keys.settlements, settlementName(key));
  expect(await settlements.move(ref, 'RETRYING')).toBe(true);
  expect(await settlements.find(key)).toMatchObject({ settlementStatus: 'RETRYING', settlement: null });
});

test('a settlement that FAILED waits no more: what is behind it is the oldest, and the list of failures has it', async () => {
  const books = await open();
  const { observing, settlements, redis, run, keys, now } = books;
  const congestion = watchCongestion({ redis, keys, now });
  const { key: failed } = await matched(books);
  const { key: waits } = await matched(books);
  expect(await congestion.look()).toMatchObject({ count: 2 });
  await observing.voidSettlement(failed, null, VOIDED_AT);
  const waiting = await createSendable({ redis, keys }).after(null);
  expect(waiting.records.map(({ sequence }) => sequence)).toEqual([waits.sequence]);
  expect(await congestion.look()).toMatchObject({ count: 1 });
  const listed = async (status: SettlementStatus) =>
    (await settlements.list({ status }, { limit: 10, cursor: null })).records.map(({ sequence }) => sequence);
  expect([await listed('FAILED'), await listed('MATCHED')]).toEqual([[failed.sequence], [waits.sequence]]);
  const audited = createAudit({ redis, run, keys, scale: SCALE, settlementGraceMs: 0 });
  const kinds = async () => (await audited()).differences.map(({ kind }) => kind);
  expect(await kinds()).not.toContain('SETTLEMENT_LIST');
  await observing.voidSettlement(waits, null, VOIDED_AT);
  expect(await congestion.look()).toEqual({ count: 0, oldestMs: null, oldestId: null });
  // A failure that waits all the same is found.
  const { listId } = (await settlements.find(failed)) ?? fail('no record');
  await redis.zadd(keys.unsettled, 0, Buffer.concat([listPlace(listId), settlementName(failed)]));
  expect(await kinds()).toContain('SETTLEMENT_LIST');
});

const VOIDED_AT = 1;
/** The status of orders, by their records. */
async function statuses({ settlements }: ChainBooks, placed: readonly Placed[]): Promise<unknown[]> {
  const stored = await settlements.orders(placed.map(({ record }) => record.orderHash));
  return placed.map(({ record }) => stored.get(record.orderHash)?.status);
}
type Placed = Awaited<ReturnType<ChainBooks['place']>>;

test('matches that fail together by one deed of a wallet are one strike', async () => {
  const books = await open();
  const { buy, place, chain, waiting, clock, now } = books;
  for (let i = 0; i < 3; i++) await matched(books);
  chain.wallet(bob).allowance = 0;
  for (const { match } of waiting.values()) chain.settle(match);
  expect(await books.observe(chain.mine())).toMatchObject({ settled: 3 });
  chain.wallet(bob).allowance = 9e12;
  expect(await codeOf(place(buy(bob, 0, '1', '0.20')))).toBe('WALLET_SUSPENDED');
  await clock(now() + 60_000);
  await books.observe(chain.mine());
  for (let i = 0; i < 4; i++) await books.observe(chain.mine());
  expect(await codeOf(place(buy(bob, 0, '1', '0.20')))).toBe('no refusal');
});

test('strikes suspend for a minute, an hour and a day, say which trade failed and why, and are forgotten after 30 days', async () => {
  const books = await open();
  const { buy, place, observing, chain, clock, now } = books;
  const DAY_MS = 24 * 3_600_000;
  const reads = accountReads({
    accounts: books.accounts,
    unsettledMaxNewMicro: micro(0),
    now,
    owed: () => [],
    market: async () => ({ terms: { tokenIds: ['1', '2'] } }) as never,
  });
  const standing = async () => (await reads.balances(bob)).standing;
  const pass = async (ms: number): Promise<void> => {
    await clock(now() + ms);
    await books.observe(chain.mine());
  };
  for (const [turn, suspendedMs] of [60_000, 3_600_000, DAY_MS, DAY_MS, 60_000].entries()) {
    const isLast = turn === 4;
    if (isLast) await pass(31 * DAY_MS);
    expect(await standing()).toMatchObject({ strikes: isLast ? 0 : turn, suspendedUntilMs: null });
    const { key } = await matched(books);
    const fault = { wallet: bob, reason: 'TOKENS' } as const;
    expect(await observing.voidSettlement(key, fault, VOIDED_AT)).toBe('OK');
    const [strikes, untilMs] = [isLast ? 1 : turn + 1, now() + suspendedMs];
    const tradeId = `${key.marketId}-${key.sequence}-${key.part}`;
    expect(await standing()).toMatchObject({
      strikes,
      suspendedUntilMs: untilMs,
      lastStrike: { reason: 'TOKENS', tradeId },
    });
    const until = new Date(untilMs).toISOString();
    const refused = { code: 'WALLET_SUSPENDED', extra: { until, tradeId, strikes, failureReason: 'TOKENS' } };
    const message = expect.stringMatching(
      `trade ${tradeId} .* had too few tokens; .* from ${until}.*for ${strikes === 1 ? 'an hour' : 'a day'}$`,
    );
    await expect(place(buy(bob, 0, '1', '0.20'))).rejects.toMatchObject({ ...refused, message });
    await pass(suspendedMs);
    await place(buy(bob, 0, '1', '0.20'));
  }
});

test('a wallet sees its limits before it is refused, and they are those of the refusal', async () => {
  const books = await open({ unsettledMaxNew: '15' });
  const { buy, place } = books;
  await matched(books);
  await place(buy(bob, 0, '3', '0.20'));
  const reads = accountReads({
    accounts: books.accounts,
    unsettledMaxNewMicro: parseMicro('15'),
    now: books.now,
    owed: () => [],
    market: async () => ({ terms: { tokenIds: ['1', '2'] } }) as never,
  });
  const { standing } = presentBalances(await reads.balances(bob));
  expect(standing).toEqual({
    unsettled: '6',
    unsettledLimit: '15',
    committed: '6.6',
    committedLimit: '150',
    settled: '0',
    growsAt: '150',
    strikes: 0,
    failureReason: null,
    tradeId: null,
    suspendedUntil: null,
  });
  await expect(place(buy(bob, 0, '50', '0.20'))).rejects.toMatchObject({
    extra: { limit: standing?.unsettledLimit, unsettled: standing?.unsettled },
  });
});

test('failures are counted by their reason, and strikes once for each deed of a wallet', async () => {
  const books = await open();
  const { observing } = books;
  const failed: FaultKind[] = ['ALLOWANCE', 'ALLOWANCE', 'CALLBACK', 'UNKNOWN', 'NONE'];
  const keys = [];
  for (const _ of failed) keys.push((await matched(books)).key);
  for (const [i, reason] of failed.entries()) {
    const key = keys[i] ?? fail('no match');
    const fault = reason === 'NONE' ? null : { wallet: reason === 'UNKNOWN' ? '' : bob, reason };
    expect(await observing.voidSettlement(key, fault, VOIDED_AT)).toBe('OK');
    expect(await observing.voidSettlement(key, fault, VOIDED_AT)).toBe('OVER');
  }
  const { byReason, strikes } = await readFailures(books);
  const some = Object.entries(byReason).filter(([, count]) => count > 0);
  expect(Object.fromEntries(some)).toEqual({ ALLOWANCE: 2, CALLBACK: 1, UNKNOWN: 1, NONE: 1 });
  expect(Object.keys(byReason)).toEqual(['NONE', ...FAULT_REASONS]);
  expect(strikes).toBe(1);
  expect(await books.settlements.counts()).toMatchObject({ failed: failed.length });
});

test('a transfer that the collateral refuses is no strike, and ends only the orders that need collateral', async () => {
  const books = await open();
  const { buy, sell, place, observing } = books;
  const resting = [await place(buy(bob, 1, '1', '0.20')), await place(sell(bob, 1, '1', '0.90'))];
  const { key } = await matched(books);
  expect(await observing.voidSettlement(key, { wallet: bob, reason: 'CALLBACK' }, VOIDED_AT)).toBe('OK');
  expect(await statuses(books, resting)).toEqual(['CANCELLED', 'OPEN']);
  expect(await codeOf(place(buy(bob, 1, '1', '0.20')))).toBe('no refusal');
});

test('a cancel on the chain ends the order of the match alone and without a strike when the match was sent too late, and else all orders of the wallet', async () => {
  const books = await open();
  const { buy, sell, place, observing, chain, clock, now } = books;
  const other = await place(buy(bob, 1, '1', '0.20'));
  const halves: Placed[] = [];
  for (const terms of [[0, '0.60'] as const, [1, '0.30'] as const]) {
    await place(sell(alice, terms[0], '5', terms[1]));
    halves.push(await place(buy(bob, terms[0], '10', terms[1])));
  }
  const [first, second] = [...books.waiting.values()].map(({ key }) => key);
  const fault = { wallet: bob, reason: 'CANCELLED' } as const;
  await clock(now() + 90_001);
  await books.observe(chain.mine());
  expect(await observing.voidSettlement(first ?? fail('no match'), fault, VOIDED_AT)).toBe('OK');
  expect(await statuses(books, [other, ...halves])).toEqual(['OPEN', 'CANCELLED', 'PARTIALLY_FILLED']);
  expect(await codeOf(place(buy(bob, 1, '1', '0.20')))).toBe('no refusal');
  await clock(now() - 90_001);
  expect(await observing.voidSettlement(second ?? fail('no match'), fault, VOIDED_AT)).toBe('OK');
  expect(await statuses(books, [other, ...halves])).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
  expect(await codeOf(place(buy(bob, 1, '1', '0.20')))).toBe('WALLET_SUSPENDED');
});

test('the orders of a wallet at fault that are more than one call cancels end later, and no other wallet has to wait', async () => {
  const books = await open({
    patches: [
      {
        file: 'lib/unfunded.lua',
        from: 'CANCEL_MAX, LOOK_MAX, PAGE = 200',
        to: 'CANCEL_MAX, LOOK_MAX, PAGE = 3',
      },
    ],
  });
  const { buy, sell, place, observing, chain, waiting, engine } = books;
  await matched(books);
  const resting: Placed[] = [];
  for (let i = 0; i < 7; i++) resting.push(await place(sell(alice, 1, '1', '0.90')));
  const bought = await place(buy(alice, 1, '1', '0.10'));
  chain.wallet(alice).approved = false;
  for (const { match } of waiting.values()) chain.settle(match);
  // The wallet approves again at once, so no reading shows that its orders could not be paid.
  const failed = chain.mine();
  chain.wallet(alice).approved = true;
  const now = chain.mine();
  const observed = await books.observe(now, books.eventsIn(failed - 1, now));
  expect(observed).toMatchObject({ settled: 1, cancelled: 3, more: true });
  await engine.setMode('HALTED', null);
  expect(await observing.cancelUnpaid()).toBe(0);
  await engine.setMode('NORMAL', null);
  expect([await observing.cancelUnpaid(), await observing.cancelUnpaid()]).toEqual([3, 1]);
  expect(new Set(await statuses(books, resting))).toEqual(new Set(['CANCELLED']));
  expect(await statuses(books, [bought])).toEqual(['OPEN']);
  expect(await observing.cancelUnpaid()).toBe(0);
  expect(await books.redis.exists(books.keys.unpaid)).toBe(0);
});

test('a settlement of a market that is gone is unknown, and nothing of it changes', async () => {
  const books = await open();
  const { observing, redis, keys } = books;
  const { key } = await matched(books);
  await redis.hdel(keys.market('market00'), 's');
  expect(await observing.voidSettlement(key, { wallet: bob, reason: 'COLLATERAL' }, VOIDED_AT)).toBe(
    'UNKNOWN',
  );
  expect(await told(books, alice)).toEqual(['100 0 0 6', '90 0 10 0', '100 0 0 0']);
});

test.each<[what: string, (books: ChainBooks, key: SettlementKey, hash: string) => Promise<unknown>]>([
  [
    'whose record is cut off',
    ({ redis, keys }, key) => redis.hset(keys.settlements, settlementName(key), Buffer.from([0, 0, 1])),
  ],
  [
    'whose order is cut off',
    ({ redis, keys }, _, hash) => redis.hset(keys.orders, hashBytes(hash), Buffer.from([0, 0, 1])),
  ],
  [
    'whose lots cannot be read',
    ({ redis, keys }, _, hash) => redis.hset(keys.settledLots, hashBytes(hash), 'x'),
  ],
  [
    'whose wallet has less out than the match took',
    async ({ redis, keys }) => {
      const packed = await redis.hgetBuffer(keys.cash, addressBytes(carla));
      const cash = CHAIN_CASH.read(packed ?? Buffer.alloc(0));
      await redis.hset(keys.cash, addressBytes(carla), CHAIN_CASH.pack({ ...cash, outMicro: 1 }));
    },
  ],
])('a settlement %s is reported, and holds up neither the block nor the others in it', async (_, damage) => {
  const books = await open();
  const { place, buy, sell, chain, waiting, observing, accounts, blockRef } = books;
  const from = books.final();
  const { key: sound } = await matched(books);
  await place(sell(alice, 1, '10', '0.60'));
  const { record } = await place(buy(carla, 1, '10', '0.60'));
  const { key } = [...waiting.values()].at(-1) ?? fail('no match');
  for (const { match } of waiting.values()) chain.settle(match);
  await damage(books, key, record.orderHash);
  const to = chain.mine();
  expect(await books.observe(to)).toMatchObject({ moved: false, settled: 1, unread: [], unknown: [key] });
  expect((await accounts.cursor())?.final).toEqual(from);
  await observing.observeBlock(from, blockRef(to), [], []);
  expect((await accounts.cursor())?.final).toEqual(blockRef(to));
  expect(await books.settlements.find(sound)).toMatchObject({ settlementStatus: 'CONFIRMED' });
  expect(await told(books, bob)).toEqual(['94 0 0 0', '110 0 0 0', '100 0 0 0']);
});
