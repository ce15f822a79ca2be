import type { MarketId } from '../../exchange/market';
import { bookSideOf, yesPrice } from '../../exchange/match';
import { isFinal } from '../../exchange/status';
import { formatLots, MICRO_PER_LOT } from '../../exchange/units';
import type { Findings } from './report';
import type { AuditedOrder, BookEntry, Snapshot } from './snapshot';
import type { EventLoopYield } from './yield-to-event-loop';

export interface ExpectedLevel {
  sizeLots: number;
  orders: number;
}

/** The sums over the open orders, which every other record must match. */
export interface Expected {
  /** Reserved collateral, by wallet. */
  readonly cash: Map<string, number>;
  /** Reserved Yes and No tokens, by market and wallet. */
  readonly tokens: Map<MarketId, Map<string, [number, number]>>;
  /** By market and name of the level (lua/lib/book.lua). */
  readonly levels: Map<MarketId, Map<string, ExpectedLevel>>;
  readonly liquidityMicro: Map<MarketId, number>;
}

const RANK_STEP = 1_000;

/** Checks each order by itself, and in the indexes that must or must not name it. */
export async function checkOrders(
  snapshot: Snapshot,
  findings: Findings,
  yieldToEventLoop: EventLoopYield,
): Promise<Expected> {
  const expected: Expected = {
    cash: new Map(),
    tokens: new Map(),
    levels: new Map(),
    liquidityMicro: new Map(),
  };
  for (const [orderHash, detail] of snapshot.brokenOrders) {
    findings.add({ kind: 'ORDER_RECORD', orderHash, detail });
  }
  for (const order of snapshot.orders.values()) {
    checkRecord(order, snapshot, findings);
    checkIndexes(order, snapshot, findings);
    if (isOpen(order)) expect(order, expected);
    await yieldToEventLoop();
  }
  checkStrangers(snapshot, findings);
  return expected;
}

/** An order between two steps of its submission rests nowhere. */
const isOpen = ({ status, isContinuing }: AuditedOrder): boolean => !isFinal(status) && !isContinuing;

function checkRecord(order: AuditedOrder, snapshot: Snapshot, findings: Findings): void {
  const { orderHash, marketId, status, filledLots, sizeLots } = order;
  const problem = problemOf(order);
  const at = { kind: 'ORDER_RECORD', orderHash, marketId } as const;
  if (problem) {
    const found = `${status}, ${formatLots(filledLots)} of ${formatLots(sizeLots)}`;
    findings.add({ ...at, found, detail: problem });
  }
  if (!snapshot.markets.has(marketId)) findings.add({ ...at, detail: 'the order is in no market' });
}

function problemOf({ status, isContinuing, filledLots, sizeLots }: AuditedOrder): string | null {
  if (filledLots > sizeLots) return 'more is filled than the order is for';
  if (isContinuing) return null;
  if (status === 'OPEN' && filledLots > 0) return 'an order with fills is not PARTIALLY_FILLED';
  if (status === 'PARTIALLY_FILLED' && filledLots === 0) return 'an order without fills is PARTIALLY_FILLED';
  if (!isFinal(status) && filledLots === sizeLots) return 'an order that is filled is still open';
  if (status === 'FILLED' && filledLots < sizeLots) return 'a FILLED order has something left';
  return null;
}

function checkIndexes(order: AuditedOrder, { book, expiries }: Snapshot, findings: Findings): void {
  const { orderHash, marketId, maker: wallet, sequence, expirationSec } = order;
  const isResting = isOpen(order);
  const what = isResting ? 'an open order' : 'an ended order';
  const age = order.createdAtMs * RANK_STEP + (sequence % RANK_STEP);
  const rank = order.isContinuing ? null : isResting ? age : -age;
  if (order.rank !== rank) {
    findings.compare(String(rank ?? 'none'), String(order.rank ?? 'none'), {
      kind: 'WALLET_INDEX',
      orderHash,
      wallet,
      marketId,
      detail: `score of ${what} in the index of its wallet`,
    });
  }
  const places = book.get(orderHash) ?? NO_PLACES;
  if (!(isResting ? places.length === 1 && isPlaceOf(order, places[0]) : places.length === 0)) {
    const side = sideOf(order);
    const own = { marketId, side, sequence, score: scoreOf(order) };
    const found = places.length === 0 ? 'none' : places.map(placeName).join(' and ');
    findings.compare(isResting ? placeName(own) : 'none', found, {
      kind: 'BOOK_ENTRY',
      orderHash,
      marketId,
      detail: `where ${what} stands in the book: side, score and arrival`,
    });
  }
  const second = expiries.get(orderHash);
  const due = isResting && expirationSec > 0 ? expirationSec : undefined;
  const fits = order.isContinuing ? second !== undefined : second === due;
  if (!fits) {
    findings.compare(String(due ?? 'none'), String(second ?? 'none'), {
      kind: 'EXPIRY_INDEX',
      orderHash,
      marketId,
      detail: `second of ${what} in the index of expiries`,
    });
  }
}

const NO_PLACES: readonly BookEntry[] = [];
const scoreOf = (order: AuditedOrder): number => yesPips(order) * (sideOf(order) === 'b' ? -1 : 1);

const isPlaceOf = (order: AuditedOrder, place: BookEntry | undefined): boolean =>
  place !== undefined &&
  place.marketId === order.marketId &&
  place.side === sideOf(order) &&
  place.sequence === order.sequence &&
  place.score === scoreOf(order);

const placeName = (place: BookEntry): string =>
  `${place.marketId} ${place.side === 'b' ? 'BID' : 'ASK'} ${place.score} #${place.sequence}`;

const sideOf = ({ side, outcome }: AuditedOrder): 'a' | 'b' =>
  bookSideOf(side, outcome) === 'bid' ? 'b' : 'a';
const yesPips = ({ pricePips, outcome }: AuditedOrder): number => yesPrice(pricePips, outcome);

/** Adds an open order to the expected sums. */
function expect(order: AuditedOrder, { cash, tokens, levels, liquidityMicro }: Expected): void {
  const { maker, marketId, outcome } = order;
  const lots = order.sizeLots - order.filledLots;
  const value = lots * order.pricePips;
  if (order.side === 0) {
    cash.set(maker, (cash.get(maker) ?? 0) + value);
  } else {
    const ofMarket = entry(tokens, marketId, () => new Map<string, [number, number]>());
    const held = entry(ofMarket, maker, (): [number, number] => [0, 0]);
    held[outcome] += lots * MICRO_PER_LOT;
  }
  const ofMarket = entry(levels, marketId, () => new Map<string, ExpectedLevel>());
  const level = entry(ofMarket, `${sideOf(order)}${yesPips(order)}`, () => ({ sizeLots: 0, orders: 0 }));
  level.sizeLots += lots;
  level.orders++;
  liquidityMicro.set(marketId, (liquidityMicro.get(marketId) ?? 0) + value);
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Checks for index entries without an order. */
function checkStrangers(snapshot: Snapshot, findings: Findings): void {
  const isKnown = (hash: string): boolean => snapshot.orders.has(hash) || snapshot.brokenOrders.has(hash);
  for (const [orderHash, places] of snapshot.book) {
    if (isKnown(orderHash)) continue;
    for (const place of places) {
      findings.add({
        kind: 'BOOK_ENTRY',
        orderHash,
        marketId: place.marketId,
        expected: 'none',
        found: placeName(place),
        detail: 'the book names an order that is not stored',
      });
    }
  }
  for (const [orderHash, second] of snapshot.expiries) {
    if (isKnown(orderHash)) continue;
    findings.add({
      kind: 'EXPIRY_INDEX',
      orderHash,
      expected: 'none',
      found: String(second),
      detail: 'the index of expiries names an order that is not stored',
    });
  }
  for (const { wallet, orderHash } of snapshot.strays.values()) {
    if (snapshot.orders.get(orderHash)?.maker === wallet || snapshot.brokenOrders.has(orderHash)) continue;
    findings.add({
      kind: 'WALLET_INDEX',
      orderHash,
      wallet,
      detail: "the wallet's index names an order that is not its own",
    });
  }
}
