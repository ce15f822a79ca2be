import type { MarketState } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { type ArchivedMatches, createMatchesByPlace } from '../lists/matches';
import { MARKET_STATE, readUInt } from '../records/layout';
import { decodeState } from '../records/market';
import { decodeFills, type Fill } from '../records/order';
import type { Keys } from '../redis/keys';
import type { RedisClient, RunScript } from '../redis/scripts';
import { type BookUpdate, type MatchId, packUpdate, unpackUpdate } from './book-update';
import { createLease, type Lease } from './lease';
import type { CoreReader } from './outbox';

/** Its name among the readers of the outbox. */
const READER: CoreReader = 'broadcast';
/** The most updates in one call of publish_updates (UPDATES_MAX there). */
const PUBLISH_MAX = 100;
/** Matches or logs read in one call. */
const READ_MAX = 200;

export interface Publication {
  readonly marketId: MarketId;
  readonly update: BookUpdate;
  /** The log starts again, without a connection to its former content. */
  readonly restart: boolean;
}

/** A market's present book, and its last broadcast update. */
export interface BookAndTail {
  readonly state: MarketState;
  readonly tail: BookUpdate | null;
}

/** The books of markets, and the updates of them that were broadcast. */
export interface BroadcastReads {
  /** The last broadcast update of a market. */
  tail(id: MarketId): Promise<BookUpdate | null>;
  /** The same for many markets: null for one without a broadcast, undefined for one whose partition does not answer. */
  tails(ids: readonly MarketId[]): Promise<(BookUpdate | null | undefined)[]>;
  /** The updates of the log from `sequence` on, oldest first. */
  since(id: MarketId, sequence: number): Promise<BookUpdate[]>;
  /** The market's own sequence; 0 when the market does not exist. */
  sequence(id: MarketId): Promise<number>;
  load(id: MarketId): Promise<BookAndTail>;
  book(id: MarketId): Promise<MarketState>;
  /** The fills of some matches of a market, in their order. */
  fills(id: MarketId, matches: readonly MatchId[]): Promise<Fill[]>;
}

/** The outbox of a partition, as it is broadcast. */
export interface Broadcasts extends BroadcastReads {
  readonly lease: Lease;
  /**
   * Appends to the logs, PUBLISH_MAX at a time, and stores `at` with the last of them. Throws when the lease is lost or a
   * log does not end where an update begins: then the caller must start again.
   */
  publish(
    token: string,
    lifeMs: number,
    reached: { before: string; at: string },
    publications: readonly Publication[],
  ): Promise<void>;
}

type Entry = [Buffer, [Buffer, Buffer]];

/**
 * The broadcaster's lease, and the published updates. Every script that writes for the holder checks the lease: a process
 * that lost it without noticing changes nothing.
 */
export function createBroadcasts({
  redis,
  run,
  keys,
  archivedReads = { matches: async () => new Map() },
}: {
  redis: RedisClient;
  run: RunScript;
  keys: Keys;
  /** Without it nothing has left Redis. */
  archivedReads?: Pick<ArchivedMatches, 'matches'>;
}): Broadcasts {
  const byPlace = createMatchesByPlace({ redis, keys, archivedReads });

  async function publish(
    token: string,
    lifeMs: number,
    { before, at }: { before: string; at: string },
    publications: readonly Publication[],
  ): Promise<void> {
    for (let from = 0; from < publications.length; from += PUBLISH_MAX) {
      const part = publications.slice(from, from + PUBLISH_MAX);
      const isLast = from + PUBLISH_MAX >= publications.length;
      const reply = await run(
        'publish_updates',
        [keys.lease, keys.readers, ...part.map(({ marketId }) => keys.updates(marketId))],
        [
          token,
          lifeMs,
          READER,
          isLast ? at : before,
          ...part.flatMap(({ update, restart }) => [
            update.previousSequence,
            update.sequence,
            Number(restart),
            packUpdate(update),
          ]),
        ],
      );
      if (reply.toString() !== 'OK') throw new Error(`updates were not published: ${reply.toString()}`);
    }
  }

  async function tail(id: MarketId): Promise<BookUpdate | null> {
    const [entry] = await redis.xrevrangeBuffer(keys.updates(id), '+', '-', 'COUNT', 1);
    return entry ? decode(entry as unknown as Entry) : null;
  }

  async function tails(ids: readonly MarketId[]): Promise<(BookUpdate | null)[]> {
    const found: (BookUpdate | null)[] = [];
    for (let from = 0; from < ids.length; from += READ_MAX) {
      found.push(...(await Promise.all(ids.slice(from, from + READ_MAX).map(tail))));
    }
    return found;
  }

  async function since(id: MarketId, sequence: number): Promise<BookUpdate[]> {
    const entries = await redis.xrangeBuffer(keys.updates(id), `${sequence}-0`, '+');
    return (entries as unknown as Entry[]).map(decode);
  }

  async function sequence(id: MarketId): Promise<number> {
    const state = await redis.hgetBuffer(keys.market(id), 's');
    return state ? readUInt(state, MARKET_STATE.at.sequence, 6) : 0;
  }

  async function load(id: MarketId): Promise<BookAndTail> {
    const [last, state] = await Promise.all([tail(id), book(id)]);
    return { tail: last, state };
  }

  async function book(id: MarketId): Promise<MarketState> {
    return decodeState(Object.entries(await redis.hgetallBuffer(keys.market(id))).flatMap(pair));
  }

  /** A late reader of the outbox may ask for matches that have left Redis. */
  async function fills(id: MarketId, matches: readonly MatchId[]): Promise<Fill[]> {
    const found: Fill[] = [];
    for (let from = 0; from < matches.length; from += READ_MAX) {
      const refs = matches.slice(from, from + READ_MAX).map((match) => ({ ...match, marketId: id }));
      const packed = await byPlace(refs);
      for (const [i, { tradeMs, sequence: number }] of refs.entries()) {
        const match = packed[i];
        if (match) found.push(...decodeFills(tradeMs, number, match));
      }
    }
    return found;
  }

  return {
    lease: createLease({ redis, run, keys }, READER, keys.lease),
    publish,
    tail,
    tails,
    since,
    sequence,
    load,
    book,
    fills,
  };
}

const decode = ([id, [, packed]]: Entry): BookUpdate =>
  unpackUpdate(Number(id.toString('latin1').split('-')[0]), packed);

const pair = ([name, value]: [string, Buffer]): [Buffer, Buffer] => [Buffer.from(name, 'latin1'), value];
