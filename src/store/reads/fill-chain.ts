import type { StreamPlace } from '../../exchange/archive';
import { Refusal } from '../../exchange/errors';
import type { Past } from '../archive/past';
import { isSamePlace, matchPlace } from '../archive/places';
import { decodeFills, decodeOrder, type Fill, hashBytes, type OrderRecord } from '../records/order';
import type { ShardKeys } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

interface FillChainOptions {
  readonly run: RunScript;
  readonly keys: ShardKeys;
  readonly past: Pick<Past, 'records' | 'matchesOfOrder'>;
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
  /** The same of an order that has left Redis; all of its matches have left, too. */
  left(record: OrderRecord, from: FillPlace, most: number): Promise<OrderAndFills>;
}

/** The answer of read_fills for a match that is not one of the order's. */
const NO_MATCH = '-';

/** Reads an order's fills along their chain, in Redis and behind that in the archive. */
export function createFillChain({ run, keys, past }: FillChainOptions): FillChain {
  async function read(orderHash: string, from: FillPlace, most: number): Promise<OrderAndFills | null> {
    const { tradeMs, sequence, index } = from;
    const args = [keys.prefix, hashBytes(orderHash), tradeMs, sequence, index, most] as const;
    const [packed, reply, ...matches] = await run('read_fills', [keys.orders], args);
    if (packed.length === 0) {
      const gone = (await past.records([orderHash])).get(orderHash);
      return gone ? left(gone, from, most) : null;
    }
    const rest = reply.toString();
    if (rest === NO_MATCH && from !== NEWEST_FILL) throw new Refusal('INVALID_CURSOR');
    const record = decodeOrder(orderHash, packed);
    const fills = matches.flatMap(([ms, number, first, stretch]) =>
      decodeFills(Number(ms), Number(number), stretch, first).reverse(),
    );
    if (rest === '' || rest === NO_MATCH) return { record, fills };
    return {
      record,
      fills: [...fills, ...(await older(record, matchPlace(rest), from, most - fills.length))],
    };
  }

  async function left(record: OrderRecord, from: FillPlace, most: number): Promise<OrderAndFills> {
    const { fillMs, fillSequence } = record;
    if (fillMs === 0 && from !== NEWEST_FILL) throw new Refusal('INVALID_CURSOR');
    if (fillMs === 0) return { record, fills: [] };
    const upTo = from === NEWEST_FILL ? { tradeMs: fillMs, sequence: fillSequence } : from;
    return { record, fills: await older(record, upTo, from, most) };
  }

  /** The order's next fills in the archive, from this match on; `from` is where the walk began. */
  async function older(
    { orderHash }: OrderRecord,
    upTo: StreamPlace,
    from: FillPlace,
    most: number,
  ): Promise<Fill[]> {
    // The match at which the walk began may have no fill behind its index.
    const matches = await past.matchesOfOrder(hashBytes(orderHash), upTo, most + 1);
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
    return fills.filter((fill) => isOwn(fill) && isBehind(fill)).slice(0, most);
  }

  return { read, left };
}
