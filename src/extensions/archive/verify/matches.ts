import type { MarketId } from '../../../exchange/market';
import { partsOf, type Settlement, settlementsOf } from '../../../exchange/settlement';
import { isFinal } from '../../../exchange/status';
import { fillText, meetingProblem, ownPrice } from '../../../store/audit/check-matches';
import { settlementProblem } from '../../../store/audit/check-settlements';
import { createMarketMatches, type PackedMatch } from '../../../store/lists/matches';
import { above, entryId, FIRST_MATCH, isBefore, isSamePlace, LAST_MATCH } from '../../../store/lists/places';
import { LEFT } from '../../../store/records/layout';
import { decodeMarket } from '../../../store/records/market';
import {
  decodeChains,
  decodeFills,
  decodeLink,
  decodeOrder,
  type Fill,
  hashBytes,
  type MatchPlace,
  type OrderRecord,
} from '../../../store/records/order';
import { settlementId, settlementName } from '../../../store/records/settlement';
import { readFields } from '../../../store/redis/fields';
import { createArchivedSums } from './sums';
import type { Verifying } from './verify';

/** An order according to the matches that were read. */
interface Tally {
  /** Null for an order that is in neither store. */
  readonly order: OrderRecord | null;
  filledLots: number;
  quoteMicro: number;
  fillCount: number;
  last: MatchPlace;
  /** Its older matches were dropped. */
  isRest: boolean;
}

interface Match {
  readonly place: MatchPlace;
  readonly packed: Buffer;
  readonly fills: readonly Fill[];
}

/** A match may have hundreds of fills. */
const STEP = 200;

/**
 * Adds up the matches of a market in their order, those of the archive and then those in Redis. An order is compared when its last
 * match comes, and then let go, so only those are held that are not complete. Returns the rows of the archive that were read.
 */
export async function verifyMatches(
  options: Verifying,
  id: MarketId,
): Promise<{ readonly matches: number; readonly settlements: number }> {
  const { redis, keys, findings, droppedMs } = options;
  const [state, noted] = await redis.hmgetBuffer(keys.market(id), 's', 'f');
  if (!state || !noted) return { matches: 0, settlements: 0 };
  const left = LEFT.read(noted);
  const sums = createArchivedSums(id);
  const orders = createTallies(options, id);
  const settlements = createSettled(options, id, orders.of);
  const matchesOf = createMarketMatches(options);
  const has = async (place: MatchPlace): Promise<boolean> =>
    (await matchesOf(id, { from: place, to: place, descending: false, most: 1 })).length > 0;
  let settled = 0;
  let end = FIRST_MATCH;
  for (let from = FIRST_MATCH; ; ) {
    const read = await matchesOf(id, { from, to: LAST_MATCH, descending: false, most: STEP });
    const matches = read.flatMap((match) => readMatch(options, id, match));
    await orders.load(matches);
    const archived = matches.filter(({ place }) => !isBefore(left, place));
    settled += await settlements.check(archived);
    for (const match of archived) sums.add(match);
    for (const match of matches) orders.add(match);
    end = read.at(-1) ?? end;
    if (read.length < STEP) break;
    from = above(end);
  }
  await orders.checkRest(end, has);
  if (droppedMs === 0) sums.check(left, findings);
  return { matches: sums.matches(), settlements: settled };
}

function readMatch(
  { findings }: Verifying,
  id: MarketId,
  { tradeMs, sequence, packed }: PackedMatch,
): Match[] {
  try {
    return [{ place: { tradeMs, sequence }, packed, fills: decodeFills(tradeMs, sequence, packed) }];
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    findings.add({ kind: 'MATCH', marketId: id, sequence, detail });
    return [];
  }
}

function createTallies({ redis, keys, archivedReads, findings, droppedMs }: Verifying, id: MarketId) {
  const tallies = new Map<string, Tally>();
  const of = (orderHash: string): OrderRecord | null => tallies.get(orderHash)?.order ?? null;

  /** Reads the orders of these matches that are not known. */
  async function load(matches: readonly Match[]): Promise<void> {
    const hashes = new Set<string>();
    for (const { fills } of matches)
      for (const { takerHash, makerHash } of fills) hashes.add(takerHash).add(makerHash);
    const missing = [...hashes].filter((hash) => !tallies.has(hash));
    for (const [orderHash, order] of await records(missing)) {
      tallies.set(orderHash, { ...NO_TALLY, order });
      if (!order && droppedMs === 0)
        findings.add({
          kind: 'MATCH',
          marketId: id,
          orderHash,
          detail: 'an order of a match is in neither store',
        });
    }
  }

  async function records(hashes: readonly string[]): Promise<Map<string, OrderRecord | null>> {
    const here = await readFields(redis, keys.orders, hashes.map(hashBytes));
    const gone = await archivedReads.packed(hashes.filter((_, i) => !here[i]));
    return new Map(hashes.map((hash, i) => [hash, readOrder(hash, here[i] ?? gone.get(hash))]));
  }

  function readOrder(orderHash: string, packed: Buffer | undefined): OrderRecord | null {
    try {
      return packed ? decodeOrder(orderHash, packed) : null;
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      findings.add({ kind: 'ORDER_RECORD', marketId: id, orderHash, detail });
      return null;
    }
  }

  function add({ place, packed, fills }: Match): void {
    const [chains, link] = [decodeChains(packed), decodeLink(packed)];
    const met = new Set<string>();
    for (const [i, fill] of fills.entries()) {
      const [taker, maker] = [of(fill.takerHash), of(fill.makerHash)];
      const isStep = link !== null && taker !== null && taker.sequence > fill.sequence;
      const known = isStep ? { ...taker, sequence: fill.sequence } : taker;
      const wrong = known && maker && meetingProblem(id, fill, known, maker);
      if (wrong) findings.add({ kind: 'MATCH', marketId: id, sequence: place.sequence, ...wrong });
      count(fill.takerHash, fill, fill.pricePips, i === 0 ? link : null);
      count(fill.makerHash, fill, ownPrice(fill), chains[i] ?? FIRST_MATCH);
      met.add(fill.takerHash).add(fill.makerHash);
    }
    for (const orderHash of met) {
      const { order, last } = tallies.get(orderHash) ?? NO_TALLY;
      if (!order || !isFinal(order.status) || !isSamePlace(last, lastOf(order))) continue;
      check(orderHash, order);
      tallies.delete(orderHash);
    }
  }

  function count(orderHash: string, fill: Fill, own: number, before: MatchPlace | null): void {
    const tally = tallies.get(orderHash);
    if (!tally) return;
    if (before && tally.fillCount === 0 && before.tradeMs > 0 && before.tradeMs < droppedMs)
      Object.assign(tally, { isRest: true, last: before });
    if (before && !isSamePlace(before, tally.last)) {
      findings.add({
        kind: 'FILL_CHAIN',
        marketId: id,
        orderHash,
        sequence: fill.sequence,
        expected: entryId(tally.last),
        found: entryId(before),
        detail: 'match of the order before this one, in both stores',
      });
    }
    tally.filledLots += fill.sizeLots;
    tally.quoteMicro += fill.sizeLots * own;
    tally.fillCount++;
    tally.last = { tradeMs: fill.tradeMs, sequence: fill.sequence };
  }

  function check(orderHash: string, order: OrderRecord): void {
    const { filledLots, quoteMicro, fillCount, isRest } = tallies.get(orderHash) ?? NO_TALLY;
    const fits = isRest
      ? filledLots < order.filledLots && quoteMicro < order.quoteMicro && fillCount < order.fillCount
      : filledLots === order.filledLots && quoteMicro === order.quoteMicro && fillCount === order.fillCount;
    if (fits) return;
    findings.add({
      kind: 'FILLS',
      marketId: id,
      orderHash,
      expected: `${isRest ? 'more than ' : ''}${fillText(filledLots, quoteMicro, fillCount)}`,
      found: fillText(order.filledLots, order.quoteMicro, order.fillCount),
      detail: 'size, value and number of fills, against the matches of the order in both stores',
    });
  }

  /** The orders whose last match has not come up to the `end`: those that may still trade, and those that miss it. */
  async function checkRest(end: MatchPlace, has: (place: MatchPlace) => Promise<boolean>): Promise<void> {
    const open = [...tallies].filter(([, { order }]) => order).map(([orderHash]) => orderHash);
    for (let from = 0; from < open.length; from += STEP) {
      for (const [orderHash, order] of await records(open.slice(from, from + STEP))) {
        // An order may have traded since its market was read.
        if (order && !(isBefore(end, lastOf(order)) && (await has(lastOf(order))))) check(orderHash, order);
      }
    }
  }

  return { of, load, add, checkRest };
}

const NO_TALLY: Tally = {
  order: null,
  filledLots: 0,
  quoteMicro: 0,
  fillCount: 0,
  last: FIRST_MATCH,
  isRest: false,
};

const lastOf = ({ fillMs, fillSequence }: OrderRecord): MatchPlace => ({
  tradeMs: fillMs,
  sequence: fillSequence,
});

/** Compares each archived settlement with its match. */
function createSettled(
  { redis, keys, archive, scale, findings }: Verifying,
  id: MarketId,
  orderOf: (orderHash: string) => OrderRecord | null,
) {
  let feeRate: number | null | undefined;

  async function feeRateOf(): Promise<number | null> {
    const document = await redis.hgetBuffer(keys.markets, id);
    return document && decodeMarket(document).terms.feeRateBps;
  }

  /** Returns the number of records that are there. */
  async function check(matches: readonly Match[]): Promise<number> {
    if (matches.length === 0) return 0;
    feeRate ??= await feeRateOf();
    const asked = matches.flatMap(({ place, fills }) =>
      Array.from({ length: partsOf(fills.length) }, (_, part) => ({
        marketId: id,
        sequence: place.sequence,
        part,
      })),
    );
    const found = new Map(
      (await archive.settlements(asked)).map((row) => [settlementName(row).toString('latin1'), row.record]),
    );
    for (const match of matches) checkMatch(match, found);
    return found.size;
  }

  function checkMatch({ place, fills }: Match, found: ReadonlyMap<string, Buffer>): void {
    const wanted = expectedOf(fills);
    for (let part = 0; part < partsOf(fills.length); part++) {
      const key = { marketId: id, sequence: place.sequence, part };
      const record = found.get(settlementName(key).toString('latin1'));
      const at = { marketId: id, sequence: place.sequence, settlementId: settlementId(key) };
      if (!record) {
        findings.add({
          kind: 'SETTLEMENT_MISSING',
          ...at,
          detail: 'a match in the archive has no settlement record',
        });
        continue;
      }
      const detail = settlementProblem(key, record, place.tradeMs, wanted?.[part]);
      if (detail) findings.add({ kind: 'SETTLEMENT_RECORD', ...at, detail });
    }
  }

  function expectedOf(fills: readonly Fill[]): Settlement[] | null {
    const taker = orderOf(fills[0]?.takerHash ?? '');
    const met = fills.flatMap((fill) => {
      const maker = orderOf(fill.makerHash);
      return maker ? [{ ...fill, maker }] : [];
    });
    if (!taker || feeRate === null || feeRate === undefined || met.length < fills.length) return null;
    const isBudget = taker.orderType === 'MARKET' && taker.side === 0;
    return settlementsOf({ taker, isBudget, fills: met, feeRateBps: feeRate }, scale);
  }

  return { check };
}
