import type { MarketId } from '../../../src/exchange/market';
import { formatMicro, micro } from '../../../src/exchange/units';
import { createProfiles } from '../../../src/extensions/people/store/profiles';
import { rankWallets } from '../../../src/extensions/portfolio/jobs/ranking';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import {
  createLeaderboard,
  createRanking,
  WALLETS_MAX,
  WEEK_LINES_MAX,
} from '../../../src/extensions/portfolio/store/leaderboard';
import { createMarketWallets } from '../../../src/extensions/portfolio/store/market-wallets';
import { createJournalReads } from '../../../src/extensions/portfolio/store/reads';
import { packMove } from '../../../src/extensions/portfolio/store/records';
import { createStoredLines } from '../../../src/extensions/portfolio/store/stored';
import { nextWeek, weekOf } from '../../../src/extensions/portfolio/week';
import { createHistory } from '../../../src/store/candles/history';
import { NO_ARCHIVED_READS } from '../../../src/store/lists/archived-reads';
import { createAnswerCache } from '../../../src/store/reads/answer-cache';
import { createReads } from '../../../src/store/reads/reads';
import { addressBytes } from '../../../src/store/records/order';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { alice, bob, carla, NO, openEngineWorld, parseMicro, YES } from '../../support/engine-world';
import { startTestRedis } from '../../support/redis';

const HOUR_MS = 3_600_000;
const MONDAY_MS = Date.parse('2027-02-01T00:00:00Z');
const NEXT_MS = Date.parse('2027-02-08T00:00:00Z');

test('a week begins on Monday at 00:00 UTC', () => {
  for (const atMs of [MONDAY_MS, MONDAY_MS + 1, NEXT_MS - 1]) expect(weekOf(atMs)).toBe(MONDAY_MS);
  expect(weekOf(MONDAY_MS - 1)).toBe(Date.parse('2027-01-25T00:00:00Z'));
  expect([weekOf(NEXT_MS), nextWeek(MONDAY_MS)]).toEqual([NEXT_MS, NEXT_MS]);
});

/** An exchange whose clock the test sets, and its leaderboard. */
async function openWorld(url: string) {
  const w = await openEngineWorld({ urls: [url] });
  const { redis, run, keys, now } = w;
  const doubts = (): number => 0;
  const clock = { now, observe: () => undefined, measure: async () => undefined };
  const settlements = createSettlements({ redis, run, keys });
  const matches = createMatches({ redis, run, keys, settlements });
  const journal = createJournal({ redis, run, keys, matches, doubts });
  const lines = createStoredLines({ run, keys, archivedReads: NO_ARCHIVED_READS });
  const journalReads = createJournalReads({ redis, keys, journal, matches, settlements, lines });
  const history = createHistory({ redis, run, keys, doubts });
  const kept = createAnswerCache({ redis, keys, clock, doubts });
  const reads = createReads({
    redis,
    run,
    keys,
    clock,
    history,
    doubts,
    kept,
    grantMicro: parseMicro('10000'),
  });
  const placement = { partitionOf: async () => 0, find: async () => 0, shownOf: async () => null };
  const wallets = createMarketWallets({
    redis,
    parts: [{ keys, matches, journal }],
    placement: { ...placement, homeOf: () => 0, partitionsOf: async () => [0] },
  });
  const leaderboard = createLeaderboard({ redis, keys }, wallets);
  return {
    ...w,
    profiles: createProfiles({ redis, run, keys }),
    ranking: createRanking({ redis, keys, journal: journalReads, reads, now }),
    /** Each wallet with its name, gain and volume. */
    async shown(fromMs = MONDAY_MS, limit = 100) {
      const { asOfMs, leaders } = await leaderboard.leaders(fromMs, limit);
      const rows = leaders.map(
        ({ address, username, pnlMicro, volumeMicro }) =>
          `${address.slice(2, 4)} ${username} ${formatMicro(pnlMicro)} ${formatMicro(volumeMicro)}`,
      );
      return { asOfMs, rows };
    },
  };
}

describe('the leaderboard of a week', () => {
  let server: Awaited<ReturnType<typeof startTestRedis>>;
  let w: Awaited<ReturnType<typeof openWorld>>;
  const tuesdayMs = MONDAY_MS + 36 * HOUR_MS;

  beforeAll(async () => {
    server = await startTestRedis();
    w = await openWorld(server.url);
    await w.clock(MONDAY_MS - HOUR_MS);
    await w.market();
    // On Sunday 110 Yes at 0.40, of which 10 are Carla's.
    await w.place(w.buy(bob, NO, '110', '0.6'));
    await w.place(w.buy(alice, YES, '100', '0.4'));
    await w.place(w.buy(carla, YES, '10', '0.4'));
    for (const wallet of [alice, bob, carla]) await w.profiles.edit(wallet, { portfolioPublic: true });
  });
  afterAll(async () => {
    w?.stop();
    await server?.stop();
  });

  test('the gain begins at the prices of Monday, and counts what a faucet gives as nothing', async () => {
    await w.clock(tuesdayMs);
    await w.engine.credit(alice, parseMicro('500'));
    await w.place(w.buy(bob, NO, '10', '0.3'));
    await w.place(w.buy(alice, YES, '10', '0.7'));
    expect(await w.shown()).toEqual({ asOfMs: null, rows: [] });
    expect(await w.ranking.step()).toBe(true);
    // 110 Yes at 0.70 were 100 at 0.40 and 7 in cash; the 10 of Carla, who did nothing, 4.
    const rows = ['a1 null 30 7', 'ca null 3 0', 'b0 null -33 3'];
    expect(await w.shown()).toEqual({ asOfMs: tuesdayMs, rows });
    expect((await w.shown(MONDAY_MS, 2)).rows).toEqual(rows.slice(0, 2));
  });

  test('a wallet disappears at once when it takes its consent back or hides itself', async () => {
    await w.profiles.edit(alice, { portfolioPublic: false });
    expect((await w.shown()).rows).toEqual(['ca null 3 0', 'b0 null -33 3']);
    await w.profiles.edit(carla, { hidden: true, username: 'Carla' });
    expect((await w.shown()).rows).toEqual(['b0 null -33 3']);
    await w.profiles.edit(carla, { hidden: null });
    await w.profiles.edit(alice, { portfolioPublic: true, hidden: true });
    expect((await w.shown()).rows).toEqual(['ca Carla 3 0', 'b0 null -33 3']);
    await w.profiles.moderate(carla, { muted: true });
    await w.profiles.edit(alice, { hidden: false });
    expect((await w.shown()).rows).toEqual(['a1 null 30 7', 'ca null 3 0', 'b0 null -33 3']);
  });

  test('a ranking of many wallets takes several steps, and the one before is shown meanwhile', async () => {
    const before = await w.shown();
    for (let i = 0; i < WALLETS_MAX; i++) {
      const idle = `0x${i.toString(16).padStart(40, '0')}`;
      await w.profiles.edit(idle, { portfolioPublic: true });
    }
    await w.clock(tuesdayMs + HOUR_MS);
    await w.place(w.buy(bob, NO, '1', '0.5'));
    await w.place(w.buy(carla, YES, '1', '0.5'));
    expect(await w.ranking.step()).toBe(false);
    expect(await w.shown()).toEqual(before);
    await w.clock(tuesdayMs + 2 * HOUR_MS);
    expect(await w.ranking.step()).toBe(true);
    // At 0.50 Alice has 55 for 47, Carla 5.5 for 4.5, and Bob lost what both gained.
    expect(await w.shown()).toEqual({
      asOfMs: tuesdayMs + HOUR_MS,
      rows: ['a1 null 8 7', 'ca null 1 0.5', 'b0 null -9 3.5'],
    });
  });

  test('a run of the chore takes steps until the ranking is complete or its time is over', async () => {
    const askedAt = async (runMs: number) => {
      await w.clock(w.now() + 1_000);
      await rankWallets(w.ranking, runMs).run();
      return (await w.shown()).asOfMs;
    };
    const first = await askedAt(60_000);
    expect(first).toBe(w.now());
    expect(await askedAt(0)).toBe(first);
    expect(await askedAt(0)).toBe(w.now() - 1_000);
  });

  test('the next week begins without a ranking and with the prices of its Monday', async () => {
    expect(await w.ranking.step()).toBe(false);
    await w.clock(NEXT_MS + HOUR_MS);
    expect(await w.shown(NEXT_MS)).toEqual({ asOfMs: null, rows: [] });
    // A ranking of the last week that was not finished is none of this one.
    expect(await w.ranking.step()).toBe(false);
    expect(await w.ranking.step()).toBe(true);
    expect(await w.shown(NEXT_MS)).toEqual({ asOfMs: NEXT_MS + HOUR_MS, rows: [] });
    await w.engine.resolveMarket('market00', YES);
    await w.ranking.step();
    await w.ranking.step();
    expect((await w.shown(NEXT_MS)).rows).toEqual(['a1 null 55 0', 'ca null 5.5 0', 'b0 null -60.5 0']);
  });

  test('a wallet with more lines than are read back is not ranked', async () => {
    const journal = w.keys.journal(addressBytes(alice));
    const line = packMove(NEXT_MS + HOUR_MS, 'market00' as MarketId, {
      reason: 'FAUCET',
      collateralMicro: micro(1),
      yesMicro: micro(0),
      noMicro: micro(0),
    });
    await w.redis.rpush(journal, ...Array<Buffer>(WEEK_LINES_MAX).fill(line));
    const others = ['ca null 5.5 0', 'b0 null -60.5 0'];
    for (const rows of [['a1 null 55 0', ...others], others]) {
      for (let step = 0; !(await w.ranking.step()); step++) expect(step).toBeLessThan(2);
      expect((await w.shown(NEXT_MS)).rows).toEqual(rows);
      await w.redis.rpush(journal, line);
    }
  });
});
