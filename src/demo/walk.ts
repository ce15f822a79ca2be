import type { Character } from './markets';
import { normal, type Random } from './random';

/** The value of a share of Yes in the bots' opinion, from moment to moment. */
export interface Walk {
  /** Probability of Yes. */
  readonly price: number;
  advance(seconds: number): number;
}

/** The slow part finds back to the market's fair price within hours, the quick one to the slow part within minutes. */
const SLOW_SEC = 4 * 3_600;
const QUICK_SEC = 600;
/** Of the swing: what the quick part takes, in log odds. */
const QUICK_SHARE = 0.35;
/** The bots are never more certain than that. */
const PRICE_MIN = 0.01;

const logOdds = (price: number): number => Math.log(price / (1 - price));
const priceOf = (odds: number): number =>
  Math.min(1 - PRICE_MIN, Math.max(PRICE_MIN, 1 / (1 + Math.exp(-odds))));

/**
 * Two mean-reverting walks on top of each other, in log odds: it moves every second and stays believable for as long as
 * it goes on. It begins at `start`, or somewhere it might well be.
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
