import type { Character } from './markets';
import { chance, type Random } from './random';
import { createWalk } from './walk';

/** Prices of a minute, in ten-thousandths. */
export interface InventedMinute {
  readonly startMs: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

const MINUTE_MS = 60_000;
const MINUTES = 24 * 60;
const STEPS = 6;
const STEP_SEC = 10;
/** The number of minutes with a price in the invented day. */
const BUSY = 0.8;
const PIPS = 10_000;

/**
 * An invented day of prices for the charts of a market that opens now; it ends with the minute before this one. It has
 * prices only, because volume would claim that money had moved.
 */
export function inventDay(
  character: Character,
  tickPips: number,
  nowMs: number,
  random: Random,
): InventedMinute[] {
  const walk = createWalk(character, random);
  const endMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const minutes: InventedMinute[] = [];
  let open = onTick(walk.price, tickPips);
  for (let minute = MINUTES; minute >= 1; minute--) {
    const prices = [open];
    for (let step = 0; step < STEPS; step++) prices.push(onTick(walk.advance(STEP_SEC), tickPips));
    const close = prices.at(-1) ?? open;
    const isEdge = minute === MINUTES || minute === 1;
    if (isEdge || chance(random, BUSY)) {
      minutes.push({
        startMs: endMs - minute * MINUTE_MS,
        open,
        high: Math.max(...prices),
        low: Math.min(...prices),
        close,
      });
      open = close;
    }
  }
  return minutes;
}

function onTick(price: number, tickPips: number): number {
  const pips = Math.round((price * PIPS) / tickPips) * tickPips;
  return Math.min(PIPS - tickPips, Math.max(tickPips, pips));
}
