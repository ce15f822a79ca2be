import type { MarketId } from '../../exchange/market';
import { isBefore, NO_ENTRY } from '../redis/entry-id';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import { isCommand } from './book-update';
import { decodeEvent } from './outbox';
import { readStreamRange } from './stream-range';
import type { Broadcasts } from './update-log';

export interface ReaderLag {
  readonly reader: string;
  /** The number of entries that the reader has not processed; at most one check's worth below the true number, never above it. */
  readonly unprocessed: number;
  /** Age of the oldest unprocessed entry; 0 when there is none. */
  readonly seconds: number;
}

export interface OutboxLag {
  readonly length: number;
  /** Entries ever added. */
  readonly added: number;
  readonly readers: readonly ReaderLag[];
}

/** The stream at one moment: how many entries were ever added, up to and with this id. */
interface Anchor {
  readonly id: string;
  readonly added: number;
}

/** The most anchors kept; beyond that every second one of the older half is dropped. */
const ANCHORS_MAX = 600;
/** Entries counted in one call when no anchor is old enough. */
const COUNT_STEP = 5_000;
/** A larger backlog need not be exact. */
const COUNT_MAX = 200_000;
/** The number of markets, those of the latest commands, that are compared with their broadcasts. */
const COMMANDS_LOOKED_AT = 100;

interface Options {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** The readers of this exchange. */
  readonly readers: readonly string[];
  readonly now: () => number;
}

export interface LagGauge {
  look(): Promise<OutboxLag>;
}

/**
 * Measures how far the readers of the outbox are behind. Redis shows how many entries were ever added to a stream, but not
 * how many follow an id. So each check is kept as an anchor, and a reader's position is placed between two anchors.
 */
export function createOutboxLag({ redis, keys, readers: names, now }: Options): LagGauge {
  let anchors: Anchor[] = [];

  async function look(): Promise<OutboxLag> {
    const [info, positions] = await Promise.all([readStreamRange(redis, keys), redis.hgetall(keys.readers)]);
    if (!info)
      return {
        length: 0,
        added: 0,
        readers: names.map((reader) => ({ reader, unprocessed: 0, seconds: 0 })),
      };
    note({ id: info.lastId, added: info.added });
    const readers: ReaderLag[] = [];
    for (const reader of names) {
      const position = positions[reader] ?? NO_ENTRY;
      const isDone = !isBefore(position, info.lastId);
      const unprocessed = isDone ? 0 : await behind(position, info.added, info.length);
      const oldestMs = msOf(isBefore(position, info.firstId) ? info.firstId : position);
      readers.push({ reader, unprocessed, seconds: isDone ? 0 : Math.max(0, now() - oldestMs) / 1_000 });
    }
    return { length: info.length, added: info.added, readers };
  }

  function note(anchor: Anchor): void {
    const last = anchors.at(-1);
    // Fewer entries than before: this Redis has lost its tail, or is another one.
    if (last && (anchor.added < last.added || isBefore(anchor.id, last.id))) anchors = [];
    if (last?.id !== anchor.id) anchors.push(anchor);
    if (anchors.length > ANCHORS_MAX) {
      anchors = anchors.filter((_, i) => i % 2 === 0 || i > ANCHORS_MAX / 2);
    }
  }

  /** All entries from the first anchor at or after the position on are certainly unprocessed. */
  async function behind(position: string, added: number, length: number): Promise<number> {
    const oldest = anchors[0];
    if (oldest && isBefore(position, oldest.id) && added - oldest.added < COUNT_MAX) {
      const between = await count(position, oldest.id, length);
      anchors.unshift({ id: position, added: oldest.added - between });
    }
    const next = anchors.find(({ id }) => !isBefore(id, position));
    return Math.min(length, next ? added - next.added : 0);
  }

  async function count(after: string, upTo: string, most: number): Promise<number> {
    let found = 0;
    for (let from = `(${after}`; found < Math.min(most, COUNT_MAX); ) {
      const entries = await redis.xrangeBuffer(keys.outbox, from, upTo, 'COUNT', COUNT_STEP);
      found += entries.length;
      const last = entries.at(-1);
      if (!last || entries.length < COUNT_STEP) break;
      from = `(${last[0].toString()}`;
    }
    return found;
  }

  return { look };
}

/** Returns the largest number of sequences, in one of the markets with the latest commands, that were not broadcast yet. */
export async function broadcastLag(
  { redis, keys }: Pick<Options, 'redis' | 'keys'>,
  broadcasts: Pick<Broadcasts, 'tails' | 'sequence'>,
): Promise<number> {
  const entries = await redis.xrevrangeBuffer(keys.outbox, '+', '-', 'COUNT', COMMANDS_LOOKED_AT);
  const ids = new Set<MarketId>();
  for (const [, fields] of entries) {
    const event = decodeEvent(fields[1] as Buffer);
    if (isCommand(event)) ids.add(event.marketId);
  }
  const markets = [...ids];
  const [tails, ...sequences] = await Promise.all([
    broadcasts.tails(markets),
    ...markets.map((id) => broadcasts.sequence(id)),
  ]);
  return sequences.reduce((most, sequence, i) => Math.max(most, sequence - (tails[i]?.sequence ?? 0)), 0);
}

const msOf = (id: string): number => Number(id.split('-')[0]);
