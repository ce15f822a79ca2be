import type { DifferenceKind } from '../../../exchange/audit';
import type { ChainScale } from '../../../exchange/order';
import { createFindings, type DifferenceOf, type Findings } from '../../../store/audit/report';
import type { ArchivedReads } from '../../../store/lists/archived-reads';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Archive } from '../archive';
import { createArchivedReads } from '../store/archived-reads';
import { verifyLines } from './lines';
import { verifyMatches } from './matches';
import { verifyOrders } from './orders';

/** Those of an audit, a fault in the archived part of a journal, and rows that are missing. */
export type VerifyKind = DifferenceKind | 'JOURNAL_LINE' | 'ARCHIVE_ROWS';
export type VerifyFindings = Pick<Findings<VerifyKind>, 'add' | 'compare'>;

export interface VerifyReport {
  /** The rows that were read. */
  readonly orders: number;
  readonly matches: number;
  readonly settlements: number;
  readonly lines: number;
  readonly problems: readonly DifferenceOf<VerifyKind>[];
}

export interface VerifyOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly archive: Archive;
  readonly scale: ChainScale;
}

export interface Verifying extends VerifyOptions {
  readonly archivedReads: ArchivedReads;
  readonly findings: VerifyFindings;
  /** Rows of earlier months were dropped for their age; 0 while nothing was dropped. */
  readonly droppedMs: number;
}

const EMPTY: VerifyReport = { orders: 0, matches: 0, settlements: 0, lines: 0, problems: [] };
const COUNTED = ['orders', 'matches', 'lines'] as const;

/** All shards, one after the other. */
export async function verifyShards(shards: readonly VerifyOptions[]): Promise<VerifyReport> {
  const all = { orders: 0, matches: 0, settlements: 0, lines: 0 };
  const problems: DifferenceOf<VerifyKind>[] = [];
  for (const shard of shards) {
    const report = await verifyArchive(shard);
    for (const kind of ['orders', 'matches', 'settlements', 'lines'] as const) all[kind] += report[kind];
    problems.push(...report.problems);
  }
  return { ...all, problems };
}

/**
 * Reads the whole archive and what of it Redis knows, in steps, while the exchange trades. Each market's matches of both stores are
 * added up in their order, and compared with the sums of what left, with the orders and with the settlements. Each order is filed
 * in its place, no journal has a hole, and nothing is missing of what left Redis.
 */
export async function verifyArchive(options: VerifyOptions): Promise<VerifyReport> {
  const { redis, keys, archive } = options;
  const findings = createFindings<VerifyKind>();
  const left = await redis.hmget(keys.archive, ...COUNTED);
  const state = await archive.state();
  // No worker has begun to archive: there are no tables.
  if (state === null && (await redis.hexists(keys.archive, 'id')) === 0) return EMPTY;
  const verifying = {
    ...options,
    archivedReads: createArchivedReads(options),
    findings,
    droppedMs: state?.droppedMs ?? 0,
  };
  let [matches, settlements] = [0, 0];
  for (const id of await redis.hkeys(keys.markets)) {
    const read = await verifyMatches(verifying, id);
    matches += read.matches;
    settlements += read.settlements;
  }
  const orders = await verifyOrders(verifying);
  const lines = await verifyLines(verifying);
  await verifyRows(verifying, left);
  return { orders, matches, settlements, lines, problems: findings.list() };
}

/** Compares the numbers of rows with those of what left Redis. Rows that were added and whose records have not left yet are more. */
async function verifyRows({ archive, findings }: Verifying, left: readonly (string | null)[]): Promise<void> {
  const [size, state] = [await archive.size(), await archive.state()];
  for (const [i, kind] of COUNTED.entries()) {
    const [wanted, found] = [Number(left[i] ?? 0), size[kind] + (state?.dropped[kind] ?? 0)];
    if (found >= wanted) continue;
    findings.add({
      kind: 'ARCHIVE_ROWS',
      name: kind,
      expected: String(wanted),
      found: String(found),
      detail: `${kind} in the archive, with those that it dropped, against those that left Redis`,
    });
  }
}
