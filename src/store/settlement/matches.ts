import type { Funds } from '../../exchange/chain';
import type { MarketId } from '../../exchange/market';
import { type MatchedOrder, partsOf } from '../../exchange/settlement';
import { type ArchivedReads, NO_ARCHIVED_READS } from '../lists/archived-reads';
import { getLists } from '../lists/list';
import { createMatchesByPlace } from '../lists/matches';
import { matchPlace } from '../lists/places';
import { kindOf, matchOf } from '../outbox/outbox';
import { countFills, decodeFills, type Fill, hashHex, type OrderRecord } from '../records/order';
import {
  decodeSettlementState,
  type MatchFacts,
  type MatchRef,
  recordOf,
  settlementNames,
  settlementUpdatedMs,
} from '../records/settlement';
import { NO_ENTRY } from '../redis/entry-id';
import type { Keys } from '../redis/keys';
import { readRun } from '../redis/run';
import type { RedisClient, RunScript } from '../redis/scripts';
import type { Settlements } from './settlements';

/** A stored match with all of its orders. */
export interface StoredMatch {
  readonly ref: MatchRef;
  readonly taker: OrderRecord;
  readonly fills: readonly (Fill & { readonly maker: MatchedOrder & OrderRecord })[];
}

export interface Matches {
  /** Returns the matches among the next `most` outbox entries, the last of these entries, and whether there may be more. */
  read(after: string, most: number): Promise<{ matches: MatchRef[]; last: string; more: boolean }>;
  /** Returns each match with its orders, or the reason why it cannot be read. */
  load(refs: readonly MatchRef[]): Promise<(StoredMatch | Error)[]>;
  markets(): Promise<MarketId[]>;
  /**
   * Walks a market's matches from the mark before which everything was final, and moves that mark on. Returns up to `most`
   * matches without a final record: matches dated more than `graceMs` from now; of those in progress, only the ones that
   * have not changed for `patienceMs`.
   */
  unsettled(
    id: MarketId,
    bounds: { nowMs: number; graceMs: number; patienceMs: number; most: number },
  ): Promise<MatchRef[]>;
}

type Entry = [Buffer, [Buffer, Buffer]];

const WALK_STEP = 500;

/** The match does not exist, or no longer as it was written; trying again is useless. */
export class NoSuchMatch extends Error {}

/** The match exists, but orders that it names do not. */
export class BrokenMatch extends Error {
  constructor(
    message: string,
    readonly fills: readonly Fill[],
  ) {
    super(message);
  }
}

interface MatchesOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly settlements: Settlements;
  /** Without it nothing has left Redis. */
  readonly archivedReads?: ArchivedReads;
  /** On a chain every fill has a settlement record of its own. */
  readonly funds?: Funds;
  /** Called with the latest entry of the outbox that was read. */
  readonly saw?: (entryId: string) => void;
}

/**
 * The matches to settle: from the outbox as they happen, and from the markets' streams, which keep each of them until its
 * settlement is final and the mark of `unsettled` is past it.
 */
export function createMatches({
  redis,
  run,
  keys,
  settlements,
  archivedReads = NO_ARCHIVED_READS,
  funds = 'paper',
  saw = () => undefined,
}: MatchesOptions): Matches {
  const byPlace = createMatchesByPlace({ redis, keys, archivedReads });

  async function read(after: string, most: number) {
    const entries = await redis.xrangeBuffer(keys.outbox, `(${after}`, '+', 'COUNT', most);
    const matches: MatchRef[] = [];
    for (const [, fields] of entries) {
      const packed = fields[1] as Buffer;
      if (kindOf(packed) !== 'TRADE') continue;
      matches.push(matchOf(packed));
    }
    const last = entries.at(-1)?.[0].toString() ?? after;
    saw(last);
    return { matches, last, more: entries.length === most };
  }

  async function load(refs: readonly MatchRef[]): Promise<(StoredMatch | Error)[]> {
    const packed = await byPlace(refs);
    const fills = refs.map((ref, i) => fillsOf(ref, packed[i] ?? null));
    const hashes = new Set<string>();
    for (const list of fills) {
      if (list instanceof Error) continue;
      for (const { takerHash, makerHash } of list) hashes.add(takerHash).add(makerHash);
    }
    const orders = await settlements.orders([...hashes]);
    return refs.map((ref, i) => {
      const list = fills[i] ?? new NoSuchMatch();
      return list instanceof Error ? list : withOrders(ref, list, orders);
    });
  }

  async function markets(): Promise<MarketId[]> {
    return redis.hkeys(keys.markets);
  }

  async function unsettled(
    id: MarketId,
    {
      nowMs,
      graceMs,
      patienceMs,
      most,
    }: { nowMs: number; graceMs: number; patienceMs: number; most: number },
  ): Promise<MatchRef[]> {
    const runName = await readRun(run, keys);
    const noted = await redis.hget(keys.settledUpTo, id);
    const start = noted ?? NO_ENTRY;
    const found: MatchRef[] = [];
    let [mark, from, isWhole] = [start, start, true];
    for (let more = true; more && found.length < most; ) {
      const entries = (await redis.xrangeBuffer(
        keys.trades(id),
        `(${from}`,
        '+',
        'COUNT',
        WALK_STEP,
      )) as unknown as Entry[];
      more = entries.length === WALK_STEP;
      const settled = await finality(id, entries, nowMs - patienceMs);
      for (const [i, entry] of entries.entries()) {
        const ref = refOf(id, entry);
        from = entry[0].toString();
        const { isFinal, isWaiting } = settled[i] ?? { isFinal: false, isWaiting: false };
        isWhole &&= isFinal;
        if (isWhole) mark = from;
        else if (!isFinal && !isWaiting && Math.abs(nowMs - ref.tradeMs) >= graceMs) found.push(ref);
      }
    }
    if (mark !== start) await run('mark_settled', [keys.settledUpTo], [id, noted ?? '', mark, runName]);
    return found.slice(0, most);
  }

  /** Returns for each match whether every part is CONFIRMED or FAILED, else whether one of them changed since `sinceMs`. */
  async function finality(id: MarketId, entries: readonly Entry[], sinceMs: number) {
    const names = entries.map((entry) => settlementNames(refOf(id, entry), recordsOf(entry[1][1], funds)));
    const records = await getLists(settlements.packed, names);
    return entries.map((entry, i) => {
      const own = (records[i] ?? []).map((record) => recordOf(record, factsOf(id, entry)));
      return {
        isFinal: own.every((record) =>
          /CONFIRMED|FAILED/.test(decodeSettlementState(record).settlementStatus),
        ),
        isWaiting: own.some((record) => record && settlementUpdatedMs(record) > sinceMs),
      };
    });
  }

  return { read, load, markets, unsettled };
}

/** An unreadable record counts as one record, which reports that. */
const recordsOf = (packed: Buffer, funds: Funds): number => Math.max(1, partsOf(countFills(packed), funds));

const refOf = (marketId: MarketId, [id]: Entry): MatchRef => ({ ...matchPlace(id), marketId });

/** The taker of a stream entry, which begins with it. */
const factsOf = (marketId: MarketId, entry: Entry): MatchFacts => ({
  tradeMs: refOf(marketId, entry).tradeMs,
  takerHash: hashHex(entry[1][1].subarray(0, 32)),
});

function fillsOf({ marketId, tradeMs, sequence }: MatchRef, packed: Buffer | null): Fill[] | Error {
  if (!packed) return new NoSuchMatch(`no match ${sequence} in market ${marketId}`);
  try {
    return decodeFills(tradeMs, sequence, packed);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function withOrders(
  ref: MatchRef,
  fills: readonly Fill[],
  orders: ReadonlyMap<string, OrderRecord>,
): StoredMatch | Error {
  const taker = orders.get(fills[0]?.takerHash ?? '');
  if (!taker) {
    return new BrokenMatch(
      `the taker of match ${ref.sequence} in market ${ref.marketId} is not stored`,
      fills,
    );
  }
  const met: StoredMatch['fills'][number][] = [];
  for (const fill of fills) {
    const maker = orders.get(fill.makerHash);
    if (!maker) return new BrokenMatch(`the order ${fill.makerHash} is not stored`, fills);
    met.push({ ...fill, maker });
  }
  return { ref, taker, fills: met };
}
