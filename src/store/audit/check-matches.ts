import type { MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { matchTypeOf, yesPrice } from '../../exchange/match';
import { complement, formatLots, formatMicro, formatPips, type Pips } from '../../exchange/units';
import { decodeChains, decodeFills, type Fill, type MatchPlace } from '../records/order';
import type { Breathe } from './breathe';
import type { Fees } from './check-totals';
import type { Findings } from './report';
import type { AuditedOrder, Snapshot } from './snapshot';

/** One stored submission that matched. */
export interface Match {
  readonly marketId: MarketId;
  readonly place: MatchPlace;
  readonly fills: readonly Fill[];
}

/** The state of an order according to the matches. */
interface Tally {
  filledLots: number;
  quoteMicro: number;
  fillCount: number;
  last: MatchPlace;
}

const NOWHERE: MatchPlace = { tradeMs: 0, sequence: 0 };
const isSame = (a: MatchPlace, b: MatchPlace): boolean =>
  a.tradeMs === b.tradeMs && a.sequence === b.sequence;
const placeText = ({ tradeMs, sequence }: MatchPlace): string =>
  tradeMs === 0 ? 'none' : `${tradeMs}-${sequence}`;

export interface MatchChecks {
  /** Checks one match; returns false when it cannot be read or its orders cannot have met like this. */
  addMatch(match: Match, packed: Buffer): boolean;
  checkOrders(breathe: Breathe): Promise<void>;
  readonly fees: Fees;
  fills(): number;
}

/** Adds up matches, oldest first, market by market, and compares the orders and markets with the sums. */
export function createMatchChecks(snapshot: Snapshot, findings: Findings): MatchChecks {
  const tallies = new Map<string, Tally>();
  const fees: Fees = { cashMicro: 0n, tokensMicro: new Map() };
  let fillCount = 0;

  function add(id: MarketId, orderHash: string, own: Pips, fill: Fill, before: MatchPlace | null): void {
    const tally = tallies.get(orderHash) ?? { filledLots: 0, quoteMicro: 0, fillCount: 0, last: NOWHERE };
    tallies.set(orderHash, tally);
    // All fills of a taker in its own match are one link.
    if (before && !isSame(before, tally.last)) {
      findings.add({
        ...{ kind: 'FILL_CHAIN', marketId: id, orderHash, sequence: fill.sequence },
        ...{ expected: placeText(tally.last), found: placeText(before) },
        detail: 'match of the order before this one',
      });
    }
    tally.filledLots += fill.sizeLots;
    tally.fillCount++;
    tally.quoteMicro += fill.sizeLots * own;
    tally.last = { tradeMs: fill.tradeMs, sequence: fill.sequence };
  }

  function charge(id: MarketId, order: AuditedOrder, feeMicro: number): void {
    if (feeMicro === 0) return;
    if (order.side === 1) {
      fees.cashMicro += BigInt(feeMicro);
      return;
    }
    const charged = fees.tokensMicro.get(id) ?? [0n, 0n];
    charged[order.outcome] += BigInt(feeMicro);
    fees.tokensMicro.set(id, charged);
  }

  /** Returns the orders of a fill if they can have met like this. */
  function ordersOf(id: MarketId, fill: Fill): [taker: AuditedOrder, maker: AuditedOrder] | null {
    const problem = (orderHash: string, detail: string): null => {
      findings.add({ kind: 'MATCH', marketId: id, sequence: fill.sequence, orderHash, detail });
      return null;
    };
    const [taker, maker] = [snapshot.orders.get(fill.takerHash), snapshot.orders.get(fill.makerHash)];
    if (!taker) return problem(fill.takerHash, 'the taker of the match is not stored');
    if (!maker) return problem(fill.makerHash, 'a maker of the match is not stored');
    for (const order of [taker, maker]) {
      if (order.marketId !== id)
        return problem(order.orderHash, 'an order of another market is in the match');
    }
    if (taker.sequence !== fill.sequence)
      return problem(taker.orderHash, 'the match has another number than its taker');
    const makerPips = ownPrice(fill);
    if (matchTypeOf(taker.side, maker.side) !== fill.matchType || makerPips !== maker.pricePips)
      return problem(maker.orderHash, `these two orders do not meet like this at ${formatPips(makerPips)}`);
    return [taker, maker];
  }

  function addMatch({ marketId, fills }: Match, packed: Buffer): boolean {
    const chains = decodeChains(packed);
    let isSound = true;
    for (const [i, fill] of fills.entries()) {
      fillCount++;
      const met = ordersOf(marketId, fill);
      isSound &&= met !== null;
      add(marketId, fill.takerHash, fill.pricePips, fill, null);
      add(marketId, fill.makerHash, ownPrice(fill), fill, chains[i] ?? NOWHERE);
      if (!met) continue;
      charge(marketId, met[0], fill.takerFeeMicro);
      charge(marketId, met[1], fill.makerFeeMicro);
    }
    return isSound;
  }

  async function checkOrders(breathe: Breathe): Promise<void> {
    for (const order of snapshot.orders.values()) {
      const { orderHash, marketId, filledLots, quoteMicro, fillCount: count } = order;
      const {
        filledLots: lots,
        quoteMicro: quote,
        fillCount: met,
        last,
      } = tallies.get(orderHash) ?? NO_TALLY;
      if (lots !== filledLots || quote !== quoteMicro || met !== count) {
        findings.compare(fillText(lots, quote, met), fillText(filledLots, quoteMicro, count), {
          ...{ kind: 'FILLS', marketId, orderHash },
          detail: 'size, value and number of fills, against the matches of the order',
        });
      }
      const stored = { tradeMs: order.fillMs, sequence: order.fillSequence };
      if (!isSame(stored, last)) {
        findings.compare(placeText(last), placeText(stored), {
          ...{ kind: 'FILL_CHAIN', marketId, orderHash, detail: 'latest match of the order' },
        });
      }
      await breathe();
    }
  }

  return { addMatch, checkOrders, fees, fills: () => fillCount };
}

const NO_TALLY: Tally = { filledLots: 0, quoteMicro: 0, fillCount: 0, last: NOWHERE };
const fillText = (lots: number, quote: number, fills: number): string =>
  `${formatLots(lots)} for ${formatMicro(quote)} in ${fills}`;

/** The maker's price in its own token. */
const ownPrice = ({ pricePips, matchType }: Fill): Pips =>
  matchType === 'COMPLEMENTARY' ? pricePips : complement(pricePips);

const VOLUME_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Compares volume and last trade of one market with its matches. */
export function createMarketTally(marketId: MarketId) {
  let volume = 0n;
  let last: { place: MatchPlace; yesPips: number } | null = null;
  return {
    add({ place, fills }: Match): void {
      for (const { sizeLots, pricePips, takerOutcome } of fills) {
        volume += BigInt(sizeLots * pricePips);
        last = { place, yesPips: yesPrice(pricePips, takerOutcome) };
      }
    },
    check(state: MarketState, findings: Findings): void {
      // The same money can trade any number of times: the stored volume stops at the largest exact number.
      const counted = volume < VOLUME_MAX ? volume : VOLUME_MAX;
      findings.compare(formatMicro(counted), formatMicro(state.volumeMicro), {
        ...{ kind: 'VOLUME', marketId, detail: 'value of all matches' },
      });
      const found = `${formatPips(state.lastPips ?? 0)} at ${state.lastTradeMs}`;
      findings.compare(last ? `${formatPips(last.yesPips)} at ${last.place.tradeMs}` : '0 at 0', found, {
        ...{ kind: 'LAST_TRADE', marketId, detail: 'price in Yes and time of the last match' },
      });
    },
  };
}

export interface ReadMatch {
  readonly place: MatchPlace;
  readonly packed: Buffer;
  /** The reason why it cannot be read. */
  readonly match: Match | Error;
}

/** An entry of a market's stream of matches. */
export function readMatch(marketId: MarketId, entryId: string, packed: Buffer): ReadMatch {
  const [tradeMs = 0, sequence = 0] = entryId.split('-').map(Number);
  const place = { tradeMs, sequence };
  try {
    return { place, packed, match: { marketId, place, fills: decodeFills(tradeMs, sequence, packed) } };
  } catch (error) {
    return { place, packed, match: error instanceof Error ? error : new Error(String(error)) };
  }
}
