import { Refusal } from '../../exchange/errors';
import type { ArchivedMatch, ArchivedReads } from '../lists/archived-reads';
import type { FoundOrder } from '../lists/orders';
import { isSamePlace, matchPlace, type StreamPlace } from '../lists/places';
import { decodeFills, decodeOrder, type Fill, hashBytes, type OrderRecord } from '../records/order';
import type { Keys } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

interface FillChainOptions {
  readonly run: RunScript;
  readonly keys: Keys;
  readonly archivedReads: Pick<ArchivedReads, 'records' | 'matchesOfOrders'>;
}

/** The place of a walk along an order's fills: after the fill with this index of this match. */
export interface FillPlace extends StreamPlace {
  readonly index: number;
}

export const NEWEST_FILL: FillPlace = { tradeMs: 0, sequence: 0, index: 0 };

export interface OrderAndFills {
  readonly record: OrderRecord;
  /** Newest first. */
  readonly fills: readonly Fill[];
}

export interface FillChain {
  /** The record and its `most` fills after a place; null when the order does not exist. Throws INVALID_CURSOR. */
  read(orderHash: string, from: FillPlace, most: number): Promise<OrderAndFills | null>;
  /** The newest fills of each of these orders, with one query for all that has left; null for one that is not there any more. */
  newest(orders: readonly FoundOrder[], most: number): Promise<(OrderAndFills | null)[]>;
}

/** The fills of an order that Redis has, and the match from which on they are in the archive. */
interface Begun extends OrderAndFills {
  readonly rest: StreamPlace | null;
}

/** The answer of read_fills for a match that is not one of the order's. */
const NO_MATCH = '-';

/** Reads an order's fills along their chain, in Redis and behind that in the archive. */
export function createFillChain({ run, keys, archivedReads }: FillChainOptions): FillChain {
  async function read(orderHash: string, from: FillPlace, most: number): Promise<OrderAndFills | null> {
    const begun = (await begin(orderHash, from, most)) ?? (await beginLeft(orderHash, from));
    const [whole = null] = await finish([begun], from, most);
    return whole;
  }

  async function newest(orders: readonly FoundOrder[], most: number): Promise<(OrderAndFills | null)[]> {
    const begun = await Promise.all(
      orders.map(({ record, hasLeft }) =>
        hasLeft ? atEnd(record, NEWEST_FILL) : begin(record.orderHash, NEWEST_FILL, most),
      ),
    );
    // Those that have left since.
    const hashes = orders.flatMap(({ record }, i) => (begun[i] ? [] : [record.orderHash]));
    const gone = await archivedReads.records(hashes);
    const all = orders.map(({ record }, i) => {
      const left = gone.get(record.orderHash);
      return begun[i] ?? (left ? atEnd(left, NEWEST_FILL) : null);
    });
    return finish(all, NEWEST_FILL, most);
  }

  /** The part in Redis; null when the order is not there. */
  async function begin(orderHash: string, from: FillPlace, most: number): Promise<Begun | null> {
    const { tradeMs, sequence, index } = from;
    const args = [keys.prefix, hashBytes(orderHash), tradeMs, sequence, index, most] as const;
    const [packed, reply, ...matches] = await run('read_fills', [keys.orders], args);
    if (packed.length === 0) return null;
    const rest = reply.toString();
    if (rest === NO_MATCH && from !== NEWEST_FILL) throw new Refusal('INVALID_CURSOR');
    const fills = matches.flatMap(([ms, number, first, stretch]) =>
      decodeFills(Number(ms), Number(number), stretch, first).reverse(),
    );
    const isWhole = rest === '' || rest === NO_MATCH;
    return { record: decodeOrder(orderHash, packed), fills, rest: isWhole ? null : matchPlace(rest) };
  }

  async function beginLeft(orderHash: string, from: FillPlace): Promise<Begun | null> {
    const record = (await archivedReads.records([orderHash])).get(orderHash);
    return record ? atEnd(record, from) : null;
  }

  /** The whole of each walk, all of which began at the same place. */
  async function finish(
    begun: readonly (Begun | null)[],
    from: FillPlace,
    most: number,
  ): Promise<(OrderAndFills | null)[]> {
    const asked = begun.flatMap((one) =>
      one?.rest ? [{ hash: hashBytes(one.record.orderHash), upTo: one.rest }] : [],
    );
    // The match at which the walk began may have no fill behind its index.
    const found = await archivedReads.matchesOfOrders(asked, most + 1);
    let next = 0;
    return begun.map((one) => {
      if (!one?.rest) return one;
      const older = fillsIn(one.record, found[next++] ?? [], one.rest, from);
      return { record: one.record, fills: [...one.fills, ...older].slice(0, most) };
    });
  }

  return { read, newest };
}

/** Where the fills of an archived order begin: all of them are in the archive. */
function atEnd(record: OrderRecord, from: FillPlace): Begun {
  const { fillMs, fillSequence } = record;
  if (fillMs === 0 && from !== NEWEST_FILL) throw new Refusal('INVALID_CURSOR');
  if (fillMs === 0) return { record, fills: [], rest: null };
  const newest = { tradeMs: fillMs, sequence: fillSequence };
  return { record, fills: [], rest: from === NEWEST_FILL ? newest : from };
}

/** The order's own fills in matches of the archive; `upTo` is the first that was asked for, `from` where the walk began. */
function fillsIn(
  { orderHash }: OrderRecord,
  matches: readonly ArchivedMatch[],
  upTo: StreamPlace,
  from: FillPlace,
): Fill[] {
  const [first] = matches;
  if (!first || !isSamePlace(first, upTo)) {
    if (isSamePlace(upTo, from)) throw new Refusal('INVALID_CURSOR');
    // The archive drops what is too old for it.
    return [];
  }
  const fills = matches.flatMap(({ tradeMs, sequence, packed }) =>
    decodeFills(tradeMs, sequence, packed).reverse(),
  );
  const isBehind = (fill: Fill) => !isSamePlace(fill, from) || fill.index < from.index;
  const isOwn = ({ takerHash, makerHash }: Fill) => takerHash === orderHash || makerHash === orderHash;
  return fills.filter((fill) => isOwn(fill) && isBehind(fill));
}
