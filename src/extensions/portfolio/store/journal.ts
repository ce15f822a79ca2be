import { Refusal } from '../../../exchange/errors';
import type { Ending, MarketId } from '../../../exchange/market';
import { createDoubtful } from '../../../store/health/doubtful';
import type { DurabilityChecks } from '../../../store/health/durability';
import { decodeEvent, kindOf, type OutboxEvent } from '../../../store/outbox/outbox';
import { decodeResolution } from '../../../store/records/market';
import { givesTokens, isDeposit, type Move } from '../../../store/records/moves';
import { addressBytes } from '../../../store/records/order';
import { coalesce } from '../../../store/redis/coalesce';
import { isBefore } from '../../../store/redis/entry-id';
import type { Keys } from '../../../store/redis/keys';
import { readRun } from '../../../store/redis/run';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { ScriptArgument } from '../../../store/redis/verbs';
import type { Matches, StoredMatch } from '../../../store/settlement/matches';
import { type Change, failedChanges, payoutChanges, redeemedChanges, setChanges } from '../position';
import { createChanges, type MarketChange } from './changes';
import { NO_POSITIONS, type Positions, packMove, packTrade, unpackPositions } from './records';
import { changeOf, type OwnSide, salesFirst, sidesOf } from './sides';

export interface JournalOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly matches: Pick<Matches, 'load'>;
  readonly doubts: DurabilityChecks['doubts'];
}

export interface Journal {
  /** Records the next entries; returns whether there may be more, also when another process has recorded these. */
  extend(): Promise<boolean>;
  /** Records all entries that exist when it begins. */
  catchUp(): Promise<void>;
  /** Throws UNAVAILABLE when entries were deleted before they were recorded, until the journals have been rebuilt. */
  checkWhole(): Promise<void>;
  /** Returns a name of the gap; null when there is none. */
  gap(): Promise<string | null>;
  changesOf(marketId: MarketId, move: Move): Promise<readonly Change[]>;
}

/** Its name among the readers of the outbox. */
export const JOURNAL = 'journal';
/** The field of `keys.sums` that notes that it lacks entries (lua/start_reader.lua). */
const GAP = `gap:${JOURNAL}`;
/** The field of `keys.sums` that notes that the index of the holders is whole (lua/write_journal.lua). */
const HOLDERS = 'holders';
export const LACKS_ENTRIES =
  'positions and activity lack what happened while no process recorded it; an operator runs: exchange journal rebuild';
/** Outbox entries read in one step, and fills booked in one: a thousand take Redis some milliseconds. */
const ENTRIES_MAX = 500;
const FILLS_MAX = 1_000;
/** The most steps that a request waits for; the worker catches up with a longer backlog. */
const STEPS_MAX = 10_000;
/** Matches loaded in one call. */
const LOAD_MAX = 50;
/** The number of ended markets whose results are cached. */
const MARKETS_MAX = 10_000;
const MOVES_MONEY: ReadonlySet<string | null> = new Set(['TRADE', 'BALANCE']);

interface RawEntry {
  readonly id: string;
  readonly packed: Buffer;
}

/** The effects of the outbox entries that were read. */
interface Stretch {
  readonly reached: string;
  readonly events: readonly { event: OutboxEvent; match: StoredMatch | null }[];
  readonly more: boolean;
}

/**
 * Keeps every wallet's positions and journal up to date from the outbox, in its order. The worker does it on schedule, and
 * a web process does it when a request finds entries after the mark. So the answers are exact at their moment, also with a
 * worker that is late or absent, and submissions pay nothing for it.
 */
export function createJournal({ redis, run, keys, matches, doubts }: JournalOptions): Journal {
  const resolutions = createDoubtful<MarketId, Ending>(doubts, MARKETS_MAX);

  const mark = (): Promise<string> => markOf({ redis, run, keys });
  const gap = (): Promise<string | null> => gapOf({ redis, keys });

  async function checkWhole(): Promise<void> {
    if ((await gap()) !== null) throw new Refusal('UNAVAILABLE', LACKS_ENTRIES);
  }

  async function extend(): Promise<boolean> {
    const from = await readRun(run, keys);
    const [seen, rebuilt] = [await mark(), await redis.hget(keys.sums, 'rebuilt')];
    const stretch = await read(seen);
    if (!stretch) return false;
    const marks = [JOURNAL, seen, stretch.reached, from, rebuilt ?? ''] as const;
    const { positions, entries } = await book(stretch);
    const booked = await run(
      'write_journal',
      [keys.readers, keys.sums],
      [keys.prefix, ...marks, positions.length / 3, ...positions, ...entries],
    );
    return stretch.more || booked !== 1;
  }

  async function read(seen: string): Promise<Stretch | null> {
    const found = await redis.xrangeBuffer(keys.outbox, `(${seen}`, '+', 'COUNT', ENTRIES_MAX);
    const raw = found.map(([id, fields]): RawEntry => ({ id: id.toString(), packed: fields[1] as Buffer }));
    const last = raw.at(-1);
    if (!last) return null;
    const moving = raw.filter(({ packed }) => MOVES_MONEY.has(kindOf(packed)));
    const events: { event: OutboxEvent; match: StoredMatch | null }[] = [];
    let fills = 0;
    for (let from = 0; from < moving.length; from += LOAD_MAX) {
      const part = moving
        .slice(from, from + LOAD_MAX)
        .map(({ id, packed }) => ({ id, event: decodeEvent(packed) }));
      const loaded = await load(part.map(({ event }) => event));
      for (const [i, { id, event }] of part.entries()) {
        const match = loaded[i] ?? null;
        events.push({ event, match });
        fills += match?.fills.length ?? event.wallets.length;
        if (fills >= FILLS_MAX) return { reached: id, events, more: true };
      }
    }
    return { reached: last.id, events, more: raw.length === ENTRIES_MAX };
  }

  /** Returns the matches of the events that are trades; null for other events and for a match that cannot be read. */
  async function load(events: readonly OutboxEvent[]): Promise<(StoredMatch | null)[]> {
    const trades = events.filter(({ kind }) => kind === 'TRADE');
    const found = await matches.load(trades);
    return events.map((event) => {
      const match = event.kind === 'TRADE' ? found[trades.indexOf(event)] : null;
      return match instanceof Error || !match ? null : match;
    });
  }

  /** The input of write_journal. */
  async function book({ events }: Stretch) {
    const changes = createChanges();
    const entries: ScriptArgument[] = [];
    for (const { event, match } of events) {
      if (match) {
        const sides = sidesOf(match);
        for (const side of salesFirst(sides)) changes.add(sideOf(side, match.ref.tradeMs));
        const wallets = new Set(sides.map(({ order }) => order.maker));
        for (const wallet of wallets) entries.push(addressBytes(wallet), packTrade(match.ref));
        continue;
      }
      for (const [i, wallet] of event.wallets.entries()) {
        const move = event.moves[i];
        if (!move || move.reason === 'NOTHING') continue;
        entries.push(addressBytes(wallet), packMove(event.timestampMs, event.marketId, move));
        for (const [outcome, change] of (await changesOf(event.marketId, move)).entries()) {
          changes.add({ wallet, marketId: event.marketId, outcome, change, atMs: event.timestampMs });
        }
      }
    }
    return { positions: await changes.apply(positionsOf), entries };
  }

  async function positionsOf(wallet: string, markets: readonly MarketId[]): Promise<Positions[]> {
    const packed = await redis.hmgetBuffer(keys.positions(addressBytes(wallet)), ...markets);
    return packed.map((found) => (found ? unpackPositions(found) : NO_POSITIONS));
  }

  async function changesOf(marketId: MarketId, move: Move): Promise<readonly Change[]> {
    if (isDeposit(move)) return [];
    if (move.reason === 'SPLIT') return setChanges(BigInt(move.yesMicro), move.worth);
    if (move.reason === 'MERGE') return setChanges(-BigInt(move.yesMicro), move.worth);
    const tokens = [BigInt(move.yesMicro), BigInt(move.noMicro)] as const;
    if (move.reason === 'REDEEMED') return redeemedChanges(tokens, BigInt(move.collateralMicro));
    if (move.reason === 'BUY_FAILED' || move.reason === 'SELL_FAILED')
      return failedChanges(givesTokens(move), tokens, BigInt(move.collateralMicro));
    return payoutChanges(await resolutionOf(marketId), tokens, BigInt(move.collateralMicro));
  }

  /** A market ends only once, so its result can be cached. */
  async function resolutionOf(id: MarketId): Promise<Ending> {
    const known = resolutions.get(id);
    if (known) return known;
    const at = doubts();
    const packed = await redis.hgetBuffer(keys.market(id), 'r');
    if (!packed) throw new Error(`market ${id} was paid out and has not ended`);
    const resolution = decodeResolution(packed);
    resolutions.keep(id, resolution, at);
    return resolution;
  }

  const catchUp = coalesce(async (): Promise<void> => {
    const [latest] = await redis.xrevrangeBuffer(keys.outbox, '+', '-', 'COUNT', 1);
    if (!latest) return;
    const target = latest[0].toString();
    for (let step = 0; isBefore(await mark(), target) && (await extend()); step++) {
      if (step === STEPS_MAX) throw new Refusal('UNAVAILABLE', 'the journal is catching up; retry shortly');
    }
  });

  return { extend, catchUp, checkWhole, gap, changesOf };
}

/** The last entry that the journal of this shard contains. */
async function markOf({ redis, run, keys }: Pick<JournalOptions, 'redis' | 'run' | 'keys'>): Promise<string> {
  const noted = await redis.hget(keys.readers, JOURNAL);
  return noted ?? (await run('start_reader', [keys.readers, keys.outbox, keys.sums], [JOURNAL])).toString();
}

export const gapOf = ({ redis, keys }: Pick<JournalOptions, 'redis' | 'keys'>): Promise<string | null> =>
  redis.hget(keys.sums, GAP);

/** Whether the index of the holders has every position (lua/write_journal.lua). */
export const hasHolders = async ({ redis, keys }: Pick<JournalOptions, 'redis' | 'keys'>): Promise<boolean> =>
  (await redis.hget(keys.sums, HOLDERS)) !== null;

/** Notes that every wallet's positions are among the holders. */
export const noteHolders = async ({ redis, keys }: Pick<JournalOptions, 'redis' | 'keys'>): Promise<void> => {
  await redis.hset(keys.sums, HOLDERS, '1');
};

/** Ends a gap, unless there is another one. */
export async function endGap(options: Pick<JournalOptions, 'redis' | 'keys'>, gap: string): Promise<void> {
  if ((await gapOf(options)) === gap) await options.redis.hdel(options.keys.sums, GAP);
}

const sideOf = (side: OwnSide, atMs: number): MarketChange => ({
  atMs,
  wallet: side.order.maker,
  marketId: side.order.marketId,
  outcome: side.order.outcome,
  change: changeOf(side),
});
