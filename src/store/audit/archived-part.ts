import type { MarketId } from '../../exchange/market';
import { entryId } from '../lists/places';
import { LEFT } from '../records/layout';
import { isBefore } from '../redis/entry-id';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Findings } from './report';

/** The matches of a market that have left Redis, which are all up to a place: this place and their sums. */
export type Left = Parameters<typeof LEFT.pack>[0];
const NOTHING_LEFT: Left = LEFT.read(Buffer.alloc(LEFT.bytes));

type Entry = [id: Buffer, fields: Buffer[]];

export interface MatchStep {
  /** Those that had left when the entries were read. */
  readonly left: Left;
  readonly entries: readonly Entry[];
  /** The last entry read; null when there are no more. */
  readonly next: string | null;
}

interface LeftOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly findings: Findings;
}

/** Reads the next matches of a market, and what had left at that moment; null when the market itself has left. */
export async function readMatches(
  { redis, keys, findings }: LeftOptions,
  id: MarketId,
  behind: string | null,
  most: number,
): Promise<MatchStep | null> {
  const reply = await redis
    .multi()
    .hmgetBuffer(keys.market(id), 's', 'f')
    .xrangeBuffer(keys.trades(id), behind === null ? '-' : `(${behind}`, '+', 'COUNT', most)
    .exec();
  for (const [error] of reply ?? []) if (error) throw error;
  const [[, fields], [, entries]] = reply as unknown as [[null, (Buffer | null)[]], [null, Entry[]]];
  const [state, packed] = fields;
  if (!state) return null;
  const next = entries.length < most ? null : (entries.at(-1)?.[0].toString() ?? null);
  if (!packed) return { left: NOTHING_LEFT, entries, next };
  if (packed.length !== LEFT.bytes) {
    const detail = `what has left of the matches of the market is noted in ${packed.length} bytes`;
    findings.add({ kind: 'MARKET_STATE', marketId: id, detail });
    return { left: NOTHING_LEFT, entries, next };
  }
  const left = LEFT.read(packed);
  return { left, entries: entries.filter((entry) => !isDouble(id, left, entry, findings)), next };
}

/** Whether a match is in Redis that is counted among those that have left. */
function isDouble(marketId: MarketId, left: Left, [entry]: Entry, findings: Findings): boolean {
  const found = entry.toString();
  if (isBefore(entryId(left), found)) return false;
  const sequence = Number(found.split('-')[1]);
  const detail = 'the match is in Redis, and counted among those that have left';
  findings.add({ kind: 'MATCH', marketId, sequence, expected: `after ${entryId(left)}`, found, detail });
  return true;
}
