import { inventDay } from '../../src/demo/invented-history';
import { demoMarkets } from '../../src/demo/markets';
import type { Random } from '../../src/demo/random';
import { createWalk } from '../../src/demo/walk';

/** A generator with the same numbers in every run (mulberry32). */
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-03-04T05:06:07.000Z');
const markets = demoMarkets(new Date(NOW_MS));
const logOdds = (price: number): number => Math.log(price / (1 - price));

describe("the bots' opinion", () => {
  test.each(markets.map(({ body, character }) => [body.slug, character] as const))(
    '%s stays believable for a week, and moves',
    (_, character) => {
      const walk = createWalk(character, seeded(7), character.fair);
      const prices = Array.from({ length: 7 * 24 * 60 }, () => walk.advance(60));
      const strayed = prices.map((price) => Math.abs(logOdds(price) - logOdds(character.fair)));
      expect(Math.max(...strayed)).toBeLessThan(5 * character.swing);
      const mean = prices.reduce((sum, price) => sum + price, 0) / prices.length;
      expect(Math.abs(mean - character.fair)).toBeLessThan(0.08);
      expect(Math.max(...prices) - Math.min(...prices)).toBeGreaterThan(0.02);
    },
  );

  it('a walk continues from its starting point', () => {
    const { character } = markets[0] as (typeof markets)[number];
    const walk = createWalk(character, seeded(1), 0.5);
    expect(walk.price).toBeCloseTo(0.5, 10);
    expect(Math.abs(walk.advance(1) - 0.5)).toBeLessThan(0.02);
  });
});

describe('the invented day', () => {
  test.each(markets.map(({ body, character }) => [body.slug, body, character] as const))(
    '%s: minutes that fit together, on the tick, up to now',
    (_, { tickSize }, character) => {
      const tickPips = Math.round(Number(tickSize) * 10_000);
      const day = inventDay(character, tickPips, NOW_MS, seeded(3));
      expect(day.length).toBeGreaterThan(1_000);
      expect(day[0]?.startMs).toBe(NOW_MS - (NOW_MS % 60_000) - DAY_MS);
      expect(day.at(-1)?.startMs).toBe(NOW_MS - (NOW_MS % 60_000) - 60_000);
      const wrong = day.filter(({ startMs, open, high, low, close }, i) => {
        const before = day[i - 1];
        const follows = before === undefined || (startMs > before.startMs && open === before.close);
        const spans = high === Math.max(high, open, close) && low === Math.min(low, open, close);
        const isOnTick = [open, high, low, close].every((price) => price % tickPips === 0);
        return !(follows && spans && isOnTick && low > 0 && high < 10_000);
      });
      expect(wrong).toEqual([]);
    },
  );
});
