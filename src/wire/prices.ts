import type { BookFacts, Level } from '../exchange/facts';
import type { OutcomeIndex } from '../exchange/market';
import { yesPrice } from '../exchange/match';
import { formatLots, formatPips, formatScaled, type Lots, PIPS_PER_ONE, type Pips } from '../exchange/units';

/** The value of a token, in tenths of a pip. */
export const WORTH_PER_PIP = 10;
export const WORTH_PER_ONE = PIPS_PER_ONE * WORTH_PER_PIP;

/** A midpoint may lie between two pips, so half pips make it exact. */
const HALF_PIP_DECIMALS = 5;
/** 0.10: the midpoint of a wider spread says nothing about the price. */
const SPREAD_MAX_PIPS = 1_000;

/** The best of a side from the view of one outcome; null for an empty side. */
interface Best {
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
}

export interface Touch {
  readonly bid: Best | null;
  readonly ask: Best | null;
}

const best = (levels: readonly Level[], outcome: OutcomeIndex): Best | null => {
  const level = levels[0];
  return level ? { pricePips: yesPrice(level.pricePips, outcome), sizeLots: level.sizeLots } : null;
};

/** Best bid and ask of an outcome: a bid for No is an ask for Yes. */
export function touchOf(book: BookFacts, outcome: OutcomeIndex): Touch {
  const [bids, asks] = outcome === 0 ? [book.bids, book.asks] : [book.asks, book.bids];
  return { bid: best(bids, outcome), ask: best(asks, outcome) };
}

export const formatPrice = (price: Pips | null | undefined): string | null =>
  price ? formatPips(price) : null;
export const formatSize = (size: Lots | null | undefined): string | null =>
  size === null || size === undefined ? null : formatLots(size);

/** Null without both sides. */
export function formatMidpoint({ bid, ask }: Touch): string | null {
  return bid && ask ? formatScaled((bid.pricePips + ask.pricePips) * 5, HALF_PIP_DECIMALS) : null;
}

export function formatSpread({ bid, ask }: Touch): string | null {
  return bid && ask ? formatPips(ask.pricePips - bid.pricePips) : null;
}

/**
 * The price of an outcome, in tenths of a pip: the midpoint of a narrow spread, else the last trade, else null. The price of
 * No is 1 minus that of Yes.
 */
export function worthOf(book: BookFacts, outcome: OutcomeIndex): number | null {
  const { bid, ask } = touchOf(book, 0);
  let worth: number | null = null;
  if (bid && ask && ask.pricePips - bid.pricePips <= SPREAD_MAX_PIPS)
    worth = (bid.pricePips + ask.pricePips) * 5;
  else if (book.lastPips !== null) worth = book.lastPips * 10;
  if (worth === null) return null;
  return outcome === 0 ? worth : WORTH_PER_ONE - worth;
}

export function formatWorth(book: BookFacts, outcome: OutcomeIndex): string | null {
  const worth = worthOf(book, outcome);
  return worth === null ? null : worthText(worth);
}

export const worthText = (worth: number): string => formatScaled(worth, HALF_PIP_DECIMALS);

const WORTH_PER_PERCENT = WORTH_PER_ONE / 100;
const FINE_TICK_PIPS = 100;
/** Nearer to 0 or to 1, a tenth of a percent says something. */
const EDGE_PERCENT = 10;

/** The first outcome's price as people read it: "62%"; "4.5%" near the ends, or where prices are finer than a cent. */
export function formatChance(book: BookFacts, tickPips: number): string | null {
  const worth = worthOf(book, 0);
  if (worth === null) return null;
  const percent = worth / WORTH_PER_PERCENT;
  const isFine = tickPips < FINE_TICK_PIPS || percent < EDGE_PERCENT || percent > 100 - EDGE_PERCENT;
  return `${isFine ? Math.round(percent * 10) / 10 : Math.round(percent)}%`;
}

/** The last trade, in the token of an outcome. */
export const lastOf = (book: BookFacts, outcome: OutcomeIndex): Pips | null =>
  book.lastPips === null ? null : yesPrice(book.lastPips, outcome);

export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));
