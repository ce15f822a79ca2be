import type { ArchiveRows, ArchiveSize } from '../archive';
import type { Connection } from './connection';
import { TABLE_NAMES } from './schema';

/** A walk over the whole archive may wait for a busy disk; no request makes one. */
export const WALK_MAX_MS = 60_000;

/** The table of each kind. The rows of archive_fills belong to those of archive_matches. */
const COUNTED: Readonly<Record<keyof ArchiveRows, string>> = {
  orders: 'archive_orders',
  matches: 'archive_matches',
  settlements: 'archive_settlements',
  lines: 'archive_journal',
  parts: 'archive_parts',
};
export const KINDS = Object.keys(COUNTED) as (keyof ArchiveRows)[];
export const tableOf = (kind: keyof ArchiveRows): string => COUNTED[kind];

type SizeRow = Readonly<Record<keyof ArchiveSize, string>>;

/** Counts every row. */
export async function sizeOf(rows: Connection['rows']): Promise<ArchiveSize> {
  const counts = KINDS.map((kind) => `(select count(*) from ${tableOf(kind)}) as ${kind}`);
  const [found] = await rows<SizeRow>({
    text: `select ${counts.join(', ')},
        (select coalesce(sum(pg_total_relation_size(inhrelid)), 0) from pg_inherits
         where inhparent = any($1::text[]::regclass[])) as bytes`,
    values: [TABLE_NAMES],
    query_timeout: WALK_MAX_MS,
    mayBeMissing: true,
  });
  const size = [...KINDS, 'bytes' as const].map((name) => [name, Number(found?.[name] ?? 0)]);
  return Object.fromEntries(size);
}
