import type { Character } from './markets';
import { normal, type Random } from './random';

/** The value of a share of Yes in the bots' opinion over time. */
export interface Walk {
  /** Probability of Yes. */
  readonly price: number;
  advance(seconds: number): number;
}

/** The slow part returns to the market's fair price within hours, the quick part to the slow part within minutes. */
const SLOW_SEC = 4 * 3_600;
const QUICK_SEC = 600;
/** The share of the deviation that belongs to the quick part, in log odds. */
const QUICK_SHARE = 0.35;
/** The limit of the bots' certainty. */
const PRICE_MIN = 0.01;

const logOdds = (price: number): number => Math.log(price / (1 - price));
const priceOf = (odds: number): number =>
  Math.min(1 - PRICE_MIN, Math.max(PRICE_MIN, 1 / (1 + Math.exp(-odds))));

/**
 * Two mean-reverting walks added in log odds: the value moves every second and stays plausible for any length of time. It
 * begins at `start`, or at a random plausible value.
 */
export function createWalk({ fair, swing }: Character, random: Random, start?: number): Walk {
  const base = logOdds(fair);
  let slow = start === undefined ? swing * normal(random) : logOdds(start) - base;
  let quick = 0;
  return {
    get price() {
      return priceOf(base + slow + quick);
    },
    advance(seconds) {
      slow = revert(slow, seconds / SLOW_SEC, swing, random);
      quick = revert(quick, seconds / QUICK_SEC, swing * QUICK_SHARE, random);
      return this.price;
    },
  };
}

/** An Ornstein-Uhlenbeck step, exact for a step of any length: its deviation never exceeds `swing`. */
function revert(at: number, step: number, swing: number, random: Random): number {
  const kept = Math.exp(-step);
  return at * kept + swing * Math.sqrt(1 - kept * kept) * normal(random);
}
