import { watchCongestion } from '../../../../src/extensions/chain/store/congestion';
import {
  createIntents,
  type IntentMatch,
  type LaneHolder,
} from '../../../../src/extensions/chain/store/intents';
import { createChainLedger } from '../../../../src/extensions/chain/store/ledger';
import { createSendable } from '../../../../src/extensions/chain/store/sendable';
import { type ChainBooks, SCALE } from '../../../support/chain-books';
import { alice, bob, withBooks } from './with-books';

/** The operator's transactions in the books: each step is decided in the script that makes it. */
const open = withBooks();

const LANE: LaneHolder = { lane: `0x${'a1'.repeat(20)}`, token: 'first' };
const HEIR: LaneHolder = { ...LANE, token: 'second' };
const LIFE_MS = 5_000;
const NONCE = 7;
const attempt = (n: number) => ({ hash: `0x${String(n).repeat(64)}`, bytes: `0x02${String(n).repeat(300)}` });

async function start(matches = 2) {
  const books = await open();
  const { redis, run, keys } = books;
  const intents = createIntents({ redis, run, keys });
  const sendable = createSendable({ redis, keys });
  const made: IntentMatch[] = [];
  for (let n = 0; n < matches; n++) made.push(await matched(books));
  expect(await intents.hold(LANE, LIFE_MS, NONCE)).toEqual({ nextNonce: NONCE, state: 'RUNNING' });
  const states = async () =>
    Promise.all(
      made.map(async (key) => {
        const record = await books.settlements.find(key);
        return [record?.settlementStatus, record?.transactionHash?.slice(2, 3) ?? null, record?.attempts];
      }),
    );
  return { books, intents, sendable, made, states };
}

async function matched({ place, buy, sell, waiting }: ChainBooks): Promise<IntentMatch> {
  await place(sell(alice, 0, '1', '0.50'));
  const { record } = await place(buy(bob, 0, '1', '0.50'));
  const key = [...waiting.values()].at(-1)?.key;
  if (!key) throw new Error('the orders did not match');
  return { ...key, tradeMs: record.fillMs };
}

test('a transaction is written with its matches, and writing it again changes nothing', async () => {
  const { intents, sendable, made, states } = await start();
  expect((await sendable.after(null)).records).toHaveLength(2);
  for (let times = 0; times < 2; times++) {
    expect(await intents.enlist(LANE, NONCE, attempt(1), made)).toEqual({ code: 'OK' });
    expect(await states()).toEqual([
      ['SUBMITTED', '1', 1],
      ['SUBMITTED', '1', 1],
    ]);
  }
  expect(await intents.list()).toMatchObject([
    { lane: LANE.lane, nonce: NONCE, matches: made, hashes: [attempt(1).hash], bytes: attempt(1).bytes },
  ]);
  expect(await intents.lanes()).toMatchObject([{ address: LANE.lane, nextNonce: NONCE + 1 }]);
  expect((await sendable.after(null)).records).toEqual([]);
});

test('a settlement that is sent shows its block while it is in one, and the transaction that is there', async () => {
  const { books, intents, made } = await start(2);
  const ledger = createChainLedger({ ...books, scale: SCALE });
  await intents.enlist(LANE, NONCE, attempt(1), made);
  const [first] = made as [IntentMatch];
  const shown = async () => {
    const { records } = await books.settlements.list({ status: 'SUBMITTED' }, { limit: 10, cursor: null });
    const one = await books.settlements.find(first);
    const [listed] = records.filter(({ sequence }) => sequence === first.sequence);
    expect(listed).toEqual(one);
    return [one?.settlementStatus, one?.blockNumber, one?.transactionHash];
  };
  expect(await shown()).toEqual(['SUBMITTED', undefined, attempt(1).hash]);
  // An attempt at another price was the one that ran.
  await ledger.noteMined([{ ...first, blockNumber: 12, transactionHash: attempt(2).hash }]);
  expect(await shown()).toEqual(['SUBMITTED', 12, attempt(2).hash]);
  await ledger.noteMined([]);
  expect(await shown()).toEqual(['SUBMITTED', undefined, attempt(1).hash]);
});

test('a match is in one transaction at a time, and names itself to another one', async () => {
  const { books, intents, made, states } = await start();
  const [first, second] = made as [IntentMatch, IntentMatch];
  await intents.enlist(LANE, NONCE, attempt(1), [first]);
  const { tradeMs: _, ...key } = first;
  expect(await intents.enlist(LANE, NONCE + 1, attempt(2), made)).toEqual({ code: 'TAKEN', taken: [key] });
  expect(await states()).toEqual([
    ['SUBMITTED', '1', 1],
    ['MATCHED', null, 0],
  ]);
  expect(await intents.list()).toHaveLength(1);
  expect(await books.observing.voidSettlement(first, null, 9)).toBe('LIVE');
  expect(await books.observing.voidSettlement(second, null, 9)).toBe('OK');
  expect(await intents.enlist(LANE, NONCE + 1, attempt(2), [second])).toMatchObject({ code: 'TAKEN' });
});

test('only the holder of the lane writes, under the next nonce', async () => {
  const { books, intents, made } = await start();
  expect(await intents.hold(HEIR, LIFE_MS, NONCE)).toBeNull();
  expect(await intents.enlist(HEIR, NONCE, attempt(1), made)).toEqual({ code: 'LEASE' });
  for (const other of [NONCE - 1, NONCE + 1])
    expect(await intents.enlist(LANE, other, attempt(1), made)).toEqual({ code: 'NONCE' });
  await books.clock(books.now() + LIFE_MS);
  expect(await intents.enlist(LANE, NONCE, attempt(1), made)).toEqual({ code: 'LEASE' });
  expect(await intents.hold(HEIR, LIFE_MS, null)).toEqual({ nextNonce: NONCE, state: 'RUNNING' });
  expect(await intents.hold(LANE, LIFE_MS, null)).toBeNull();
  expect(await intents.enlist(HEIR, NONCE, attempt(1), made)).toEqual({ code: 'OK' });
  expect(await intents.again(LANE, NONCE, attempt(2))).toBe(false);
  await intents.release(HEIR);
  expect(await intents.hold(LANE, LIFE_MS, null)).toEqual({ nextNonce: NONCE + 1, state: 'RUNNING' });
});

test('a paused lane and a halted exchange begin no transaction, and raise the ones that they have', async () => {
  const { books, intents, made, states } = await start();
  const [first, second] = made as [IntentMatch, IntentMatch];
  await intents.enlist(LANE, NONCE, attempt(1), [first]);
  expect(await intents.moveLane(LANE.lane, { from: 'RUNNING', to: 'PAUSED' })).toBe(true);
  expect(await intents.moveLane(LANE.lane, { from: 'RUNNING', to: 'PAUSED' })).toBe(false);
  expect(await intents.enlist(LANE, NONCE + 1, attempt(2), [second])).toEqual({ code: 'STATE' });
  expect(await intents.again(LANE, NONCE, attempt(3))).toBe(true);
  await intents.moveLane(LANE.lane, { from: 'PAUSED', to: 'RUNNING' });
  await books.engine.setMode('HALTED', null);
  expect(await intents.enlist(LANE, NONCE + 1, attempt(2), [second])).toEqual({ code: 'HALTED' });
  expect(await intents.again(LANE, NONCE, attempt(4))).toBe(true);
  expect(await states()).toEqual([
    ['SUBMITTED', '4', 3],
    ['MATCHED', null, 0],
  ]);
  const hashes = [1, 3, 4].map((n) => attempt(n).hash);
  expect(await intents.list()).toMatchObject([{ hashes, bytes: attempt(4).bytes }]);
});

test('a lane that the chain is ahead of stops until it is adopted, and its nonce never falls', async () => {
  const { intents, made } = await start();
  expect(await intents.hold(LANE, LIFE_MS, NONCE + 3)).toEqual({ nextNonce: NONCE, state: 'AHEAD' });
  expect(await intents.enlist(LANE, NONCE, attempt(1), made)).toEqual({ code: 'STATE' });
  const adopt = { from: 'AHEAD', to: 'RUNNING', nextNonce: NONCE + 3 } as const;
  expect(await intents.moveLane(LANE.lane, adopt)).toBe(true);
  expect(await intents.hold(LANE, LIFE_MS, NONCE)).toEqual({ nextNonce: NONCE + 3, state: 'RUNNING' });
  await intents.moveLane(LANE.lane, { from: 'RUNNING', to: 'RUNNING', nextNonce: 1 });
  expect(await intents.enlist(LANE, NONCE + 3, attempt(1), made)).toEqual({ code: 'OK' });
});

test('a paused lane stays paused when the chain is ahead of it, and stops when it is resumed', async () => {
  const { intents } = await start();
  await intents.moveLane(LANE.lane, { from: 'RUNNING', to: 'PAUSED' });
  expect(await intents.hold(LANE, LIFE_MS, NONCE + 3)).toMatchObject({ state: 'PAUSED' });
  await intents.moveLane(LANE.lane, { from: 'PAUSED', to: 'RUNNING' });
  expect(await intents.hold(LANE, LIFE_MS, NONCE + 3)).toMatchObject({ state: 'AHEAD' });
});

test('a match is too old for new orders 30 seconds after it should be final, not before', async () => {
  const { books } = await start();
  const { redis, keys } = books;
  let nowMs = 0;
  const congestion = watchCongestion({ redis, keys, now: () => nowMs });
  const { oldestMs } = await congestion.look();
  const isTooMuch = async (ageMs: number, finalityMs: number): Promise<boolean> => {
    await redis.hset(keys.cursor, { headMs: 1_000_000, finalMs: 1_000_000 - finalityMs });
    nowMs = (oldestMs ?? 0) + ageMs;
    await congestion.look();
    return congestion.isTooMuch();
  };
  expect(await isTooMuch(29_000, 900)).toBe(false);
  expect(await isTooMuch(81_000, 80_000)).toBe(false);
  expect(await isTooMuch(111_000, 80_000)).toBe(true);
  // The next look may find another delay.
  expect(await isTooMuch(111_500, 82_000)).toBe(true);
  await redis.del(keys.unsettled);
  expect(await isTooMuch(112_000, 82_000)).toBe(false);
});

test('a used nonce ends its transaction once the books have the block, and what it did not settle waits again', async () => {
  const { books, intents, sendable, made, states } = await start();
  const { chain, waiting, observe } = books;
  await intents.enlist(LANE, NONCE, attempt(1), made);
  const [settled] = [...waiting.values()];
  if (settled) chain.settle(settled.match);
  const block = chain.mine();
  expect(await intents.close(LANE, NONCE, block)).toBeNull();
  expect(await intents.list()).toHaveLength(1);
  await observe(block);
  expect(await intents.close(HEIR, NONCE, block)).toBeNull();
  const { tradeMs: _, ...left } = made[1] as IntentMatch;
  expect(await intents.close(LANE, NONCE, block)).toEqual([left]);
  expect((await states()).map(([status]) => status)).toEqual(['CONFIRMED', 'RETRYING']);
  expect(await intents.list()).toEqual([]);
  expect(await intents.close(LANE, NONCE, block)).toEqual([]);
  expect(await intents.again(LANE, NONCE, attempt(2))).toBe(false);
  expect((await sendable.after(null)).records).toMatchObject([left]);
  expect(await intents.enlist(LANE, NONCE + 1, attempt(3), made.slice(1))).toEqual({ code: 'OK' });
});
