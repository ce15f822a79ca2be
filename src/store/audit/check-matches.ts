import type { MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { matchTypeOf, yesPrice } from '../../exchange/match';
import { complement, formatLots, formatMicro, formatPips, type Pips } from '../../exchange/units';
import { entryId, matchPlace } from '../lists/places';
import { decodeChains, decodeFills, decodeLink, type Fill, type MatchPlace } from '../records/order';
import { isBefore } from '../redis/entry-id';
import type { Left } from './archived-part';
import type { Fees, FeesByMarket } from './check-totals';
import type { Findings } from './report';
import type { AuditedOrder, Snapshot } from './snapshot';
import type { EventLoopYield } from './yield-to-event-loop';

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
  /** Older matches of the order have left Redis. */
  isRest: boolean;
}

/** The matches of a market behind those that have left Redis. */
interface Behind {
  readonly left: MatchPlace;
  readonly tallies: Map<string, Tally>;
}

const NOWHERE: MatchPlace = { tradeMs: 0, sequence: 0 };
const isSame = (a: MatchPlace, b: MatchPlace): boolean =>
  a.tradeMs === b.tradeMs && a.sequence === b.sequence;
const isNowhere = ({ tradeMs }: MatchPlace): boolean => tradeMs === 0;
const placeText = (place: MatchPlace): string => (isNowhere(place) ? 'none' : entryId(place));

export interface MatchChecks {
  /**
   * Begins a market's matches behind those that have left Redis; again when more of them left than were counted, for nothing of
   * what was counted is behind those. Null for a market that has left itself.
   */
  begin(id: MarketId, left: Left | null): void;
  /** Checks one match; returns false when it cannot be read or its orders cannot have met like this. */
  addMatch(match: Match, packed: Buffer): boolean;
  checkOrders(yieldToEventLoop: EventLoopYield): Promise<void>;
  readonly fees: FeesByMarket;
  fills(): number;
}

/** Adds up matches, oldest first, market by market, and compares the orders and markets with the sums. */
export function createMatchChecks(snapshot: Snapshot, findings: Findings): MatchChecks {
  const markets = new Map<MarketId, Behind>();
  const fees: FeesByMarket = new Map();
  let fillCount = 0;

  function begin(id: MarketId, left: Left | null): void {
    markets.set(id, { left: left ?? EVERYWHERE, tallies: new Map() });
    fees.set(id, left && feesOf(left));
  }

  function add(id: MarketId, orderHash: string, own: Pips, fill: Fill, before: MatchPlace | null): void {
    const { left, tallies } = markets.get(id) ?? NO_MARKET;
    const isRest = before !== null && !isNowhere(before) && hasLeft(before, left);
    const tally = tallies.get(orderHash) ?? { ...NO_TALLY, isRest, last: isRest ? before : NOWHERE };
    tallies.set(orderHash, tally);
    // All fills of a taker in its own match are one link; that of a later step names the step before.
    if (before && !isSame(before, tally.last)) {
      findings.add({
        kind: 'FILL_CHAIN',
        marketId: id,
        orderHash,
        sequence: fill.sequence,
        expected: placeText(tally.last),
        found: placeText(before),
        detail: 'match of the order before this one',
      });
    }
    tally.filledLots += fill.sizeLots;
    tally.fillCount++;
    tally.quoteMicro += fill.sizeLots * own;
    tally.last = { tradeMs: fill.tradeMs, sequence: fill.sequence };
  }

  function charge(id: MarketId, order: AuditedOrder, feeMicro: number): void {
    const charged = fees.get(id);
    if (!charged) return;
    if (order.side === 1) charged.cashMicro += BigInt(feeMicro);
    else charged.tokensMicro[order.outcome] += BigInt(feeMicro);
  }

  /** Returns the orders of a fill if they can have met like this. */
  function ordersOf(
    id: MarketId,
    fill: Fill,
    link: MatchPlace | null,
  ): [taker: AuditedOrder, maker: AuditedOrder] | null {
    const problem = (orderHash: string, detail: string): null => {
      findings.add({ kind: 'MATCH', marketId: id, sequence: fill.sequence, orderHash, detail });
      return null;
    };
    const [taker, maker] = [snapshot.orders.get(fill.takerHash), snapshot.orders.get(fill.makerHash)];
    if (!taker) return problem(fill.takerHash, 'the taker of the match is not stored');
    if (!maker) return problem(fill.makerHash, 'a maker of the match is not stored');
    // A taker whose rest is back on the book after a failed match has a later number than its own match.
    const isBack = snapshot.returned.has(taker.orderHash) && taker.sequence > fill.sequence;
    const isStep = link !== null && taker.sequence > fill.sequence;
    const known = isBack || isStep ? { ...taker, sequence: fill.sequence } : taker;
    const wrong = meetingProblem(id, fill, known, maker);
    return wrong ? problem(wrong.orderHash, wrong.detail) : [taker, maker];
  }

  function addMatch({ marketId, fills }: Match, packed: Buffer): boolean {
    const [chains, link] = [decodeChains(packed), decodeLink(packed)];
    let isSound = true;
    for (const [i, fill] of fills.entries()) {
      fillCount++;
      const met = ordersOf(marketId, fill, link);
      isSound &&= met !== null;
      add(marketId, fill.takerHash, fill.pricePips, fill, i === 0 ? link : null);
      add(marketId, fill.makerHash, ownPrice(fill), fill, chains[i] ?? NOWHERE);
      if (!met) continue;
      charge(marketId, met[0], fill.takerFeeMicro);
      charge(marketId, met[1], fill.makerFeeMicro);
    }
    return isSound;
  }

  async function checkOrders(yieldToEventLoop: EventLoopYield): Promise<void> {
    for (const order of snapshot.orders.values()) {
      checkOrder(
        order,
        snapshot.returned.get(order.orderHash) ?? 0,
        markets.get(order.marketId) ?? NO_MARKET,
        findings,
      );
      await yieldToEventLoop();
    }
  }

  return { begin, addMatch, checkOrders, fees, fills: () => fillCount };
}

type MetOrder = Pick<AuditedOrder, 'orderHash' | 'marketId' | 'sequence' | 'side' | 'pricePips'>;

/** The reason why two orders cannot have met like this, and the order that it is about. */
export function meetingProblem(
  id: MarketId,
  fill: Fill,
  taker: MetOrder,
  maker: MetOrder,
): { readonly orderHash: string; readonly detail: string } | null {
  const stranger = [taker, maker].find(({ marketId }) => marketId !== id);
  if (stranger)
    return { orderHash: stranger.orderHash, detail: 'an order of another market is in the match' };
  if (taker.sequence !== fill.sequence)
    return { orderHash: taker.orderHash, detail: 'the match has another number than its taker' };
  const makerPips = ownPrice(fill);
  if (matchTypeOf(taker.side, maker.side) === fill.matchType && makerPips === maker.pricePips) return null;
  const detail = `these two orders do not meet like this at ${formatPips(makerPips)}`;
  return { orderHash: maker.orderHash, detail };
}

/** Compares an order with its matches. Of those that have left, only that there are any is known. */
function checkOrder(
  order: AuditedOrder,
  returnedLots: number,
  { left, tallies }: Behind,
  findings: Findings,
): void {
  const { orderHash, marketId, fillCount } = order;
  const filledLots = order.filledLots + returnedLots;
  const quoteMicro = order.quoteMicro + returnedLots * order.pricePips;
  const stored = { tradeMs: order.fillMs, sequence: order.fillSequence };
  const counted = tallies.get(orderHash);
  const isOld = !counted && !isNowhere(stored) && hasLeft(stored, left);
  const tally = counted ?? (isOld ? { ...NO_TALLY, isRest: true, last: stored } : NO_TALLY);
  const { filledLots: lots, quoteMicro: quote, fillCount: met, last, isRest } = tally;
  const fits = isRest
    ? lots < filledLots && quote < quoteMicro && met < fillCount
    : lots === filledLots && quote === quoteMicro && met === fillCount;
  if (!fits) {
    findings.add({
      kind: 'FILLS',
      marketId,
      orderHash,
      found: fillText(filledLots, quoteMicro, fillCount),
      expected: `${isRest ? 'more than ' : ''}${fillText(lots, quote, met)}`,
      detail: 'size, value and number of fills, against the matches of the order',
    });
  }
  if (!isSame(stored, last)) {
    findings.compare(placeText(last), placeText(stored), {
      kind: 'FILL_CHAIN',
      marketId,
      orderHash,
      detail: 'latest match of the order',
    });
  }
}

const NO_TALLY: Tally = { filledLots: 0, quoteMicro: 0, fillCount: 0, last: NOWHERE, isRest: false };
const NO_MARKET: Behind = { left: NOWHERE, tallies: new Map() };
/** Behind every match. */
const EVERYWHERE: MatchPlace = { tradeMs: Number.MAX_SAFE_INTEGER, sequence: 0 };
const hasLeft = (place: MatchPlace, left: MatchPlace): boolean => !isBefore(entryId(left), entryId(place));

const feesOf = ({ feeMicro, yesFeeMicro, noFeeMicro }: Left): Fees => ({
  cashMicro: BigInt(feeMicro),
  tokensMicro: [BigInt(yesFeeMicro), BigInt(noFeeMicro)],
});

export const fillText = (lots: number, quote: number, fills: number): string =>
  `${formatLots(lots)} for ${formatMicro(quote)} in ${fills}`;

/** The maker's price in its own token. */
export const ownPrice = ({ pricePips, matchType }: Fill): Pips =>
  matchType === 'COMPLEMENTARY' ? pricePips : complement(pricePips);

const VOLUME_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Compares volume and last trade of one market with its matches. */
export function createMarketTally(marketId: MarketId) {
  let volume = 0n;
  let last: { place: MatchPlace; yesPips: number } | null = null;
  return {
    /** Begins with the sums of the matches that have left Redis. */
    begin(left: Left): void {
      volume = BigInt(left.volumeMicro);
      last = left.tradeMs === 0 ? null : { place: left, yesPips: left.lastPips };
    },
    add({ place, fills }: Match): void {
      // Matches that failed on a chain are no trades, but the time of the last match stays.
      last = { place, yesPips: last?.yesPips ?? 0 };
      for (const { sizeLots, pricePips, takerOutcome } of fills) {
        volume += BigInt(sizeLots * pricePips);
        last = { place, yesPips: yesPrice(pricePips, takerOutcome) };
      }
    },
    check(state: MarketState, findings: Findings): void {
      // The same money can trade any number of times: the stored volume stops at the largest exact number.
      const counted = volume < VOLUME_MAX ? volume : VOLUME_MAX;
      findings.compare(formatMicro(counted), formatMicro(state.volumeMicro), {
        kind: 'VOLUME',
        marketId,
        detail: 'value of all matches',
      });
      const found = `${formatPips(state.lastPips ?? 0)} at ${state.lastTradeMs}`;
      findings.compare(last ? `${formatPips(last.yesPips)} at ${last.place.tradeMs}` : '0 at 0', found, {
        kind: 'LAST_TRADE',
        marketId,
        detail: 'price in Yes and time of the last match',
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
export function readMatch(marketId: MarketId, entry: string, packed: Buffer): ReadMatch {
  const place = matchPlace(entry);
  const { tradeMs, sequence } = place;
  try {
    return { place, packed, match: { marketId, place, fills: decodeFills(tradeMs, sequence, packed) } };
  } catch (error) {
    return { place, packed, match: error instanceof Error ? error : new Error(String(error)) };
  }
}
