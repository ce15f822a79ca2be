import type { Order } from 'ctf-exchange-client';
import { isOpen } from '../account-data';
import type { Level } from '../preview';
import { lotsOf, PIPS_ONE, pipsOf } from '../units';

/** A level as the ladder and the depth show it. */
export interface Row extends Level {
  /** Lots from the best level to this one. */
  readonly depthLots: number;
  readonly depthMicro: number;
  /** The wallet's own open orders at this price. */
  readonly own: Own | null;
}

export interface Own {
  readonly lots: number;
  readonly hashes: readonly string[];
}

const LEVELS_MAX = 200;

export function rowsOf(levels: readonly Level[], mine: ReadonlyMap<number, Own>): Row[] {
  let depthLots = 0;
  let depthMicro = 0;
  return levels.slice(0, LEVELS_MAX).map(({ pips, lots }) => {
    depthLots += lots;
    depthMicro += lots * pips;
    return { pips, lots, depthLots, depthMicro, own: mine.get(pips) ?? null };
  });
}

/** The wallet's open orders on a side of the book of an outcome, by price. */
export function ownOn(
  orders: readonly Order[],
  marketId: string,
  side: 'BUY' | 'SELL',
  index: 0 | 1,
): ReadonlyMap<number, Own> {
  const found = new Map<number, Own>();
  for (const order of orders) {
    // A bid for No is an offer of Yes.
    const isHere = (order.side === side) === (order.outcomeIndex === index);
    if (!isOpen(order) || order.marketId !== marketId || !isHere) continue;
    const pips = order.outcomeIndex === index ? pipsOf(order.price) : PIPS_ONE - pipsOf(order.price);
    const { lots, hashes } = found.get(pips) ?? { lots: 0, hashes: [] };
    found.set(pips, { lots: lots + lotsOf(order.remainingSize), hashes: [...hashes, order.orderHash] });
  }
  return found;
}

/** Adds up the levels of each step of the price; a bid's price is rounded down to its step, an offer's up. */
export function grouped(levels: readonly Level[], stepPips: number, side: 'bid' | 'ask'): readonly Level[] {
  if (stepPips === 0) return levels;
  const sums = new Map<number, number>();
  for (const { pips, lots } of levels) {
    const at = (side === 'bid' ? Math.floor : Math.ceil)(pips / stepPips) * stepPips;
    sums.set(at, (sums.get(at) ?? 0) + lots);
  }
  return [...sums].map(([pips, lots]) => ({ pips, lots }));
}
