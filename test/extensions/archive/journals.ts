import type { Archive } from '../../../src/extensions/archive/archive';
import { NOTHING } from '../../../src/extensions/archive/archive';
import { createArchivedReads } from '../../../src/extensions/archive/store/archived-reads';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import {
  createJournalReads,
  type JournalReads,
  type JournalRow,
} from '../../../src/extensions/portfolio/store/reads';
import { createJournalRebuild } from '../../../src/extensions/portfolio/store/rebuild';
import { unpackEntry } from '../../../src/extensions/portfolio/store/records';
import { createStoredLines } from '../../../src/extensions/portfolio/store/stored';
import { FORGOTTEN } from '../../../src/store/records/layout';
import { addressBytes } from '../../../src/store/records/order';
import type { RunScript } from '../../../src/store/redis/scripts';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';
import type { Auditing } from '../../store/audit/auditing';

/** Takes the first lines of a wallet's journal out of Redis by hand, once the archive has them. */
export async function leaveLines(
  { redis, keys }: Auditing,
  archive: Archive,
  address: string,
  count: number,
): Promise<void> {
  const wallet = addressBytes(address);
  const [lines, noted] = await Promise.all([
    redis.lrangeBuffer(keys.journal(wallet), 0, count - 1),
    redis.hgetBuffer(keys.forgotten, wallet),
  ]);
  if (lines.length === 0) return;
  const gone = noted ? FORGOTTEN.read(noted) : { orders: 0, firstMs: 0, lines: 0 };
  const rows = lines.map((line, i) => ({ wallet, entry: gone.lines + i, atMs: timeOf(line), line }));
  const state = await archive.open();
  expect(await archive.append(state.batch + 1, { ...NOTHING, lines: rows })).toBe(true);
  await redis
    .multi()
    .hset(keys.archive, 'id', state.id, 'n', state.batch + 1)
    .ltrim(keys.journal(wallet), lines.length, -1)
    .hset(keys.forgotten, wallet, FORGOTTEN.pack({ ...gone, lines: gone.lines + lines.length }))
    .exec();
}

function timeOf(line: Buffer): number {
  const entry = unpackEntry(line);
  return entry.type === 'TRADE' ? entry.ref.tradeMs : entry.atMs;
}

export function openJournals({ redis, run, keys }: Auditing, archive: Archive) {
  const archivedReads = createArchivedReads({ redis, keys, archive });
  const settlements = createSettlements({ redis, run, keys, archivedReads });
  const matches = createMatches({ redis, run, keys, settlements, archivedReads });
  const journal = createJournal({ redis, run, keys, matches, doubts: () => 0 });
  const readsBy = (script: RunScript) =>
    createJournalReads({
      redis,
      keys,
      journal,
      matches,
      settlements,
      lines: createStoredLines({ run: script, keys, archivedReads }),
    });
  const rebuild = createJournalRebuild({ redis, run, keys, matches, journal, archivedReads });
  return { journal, archivedReads, readsBy, reads: readsBy(run), rebuild };
}

export type Query = Parameters<JournalReads['rows']>[1] & Omit<Parameters<JournalReads['rows']>[2], 'cursor'>;

/** Every page of a query, each with its cursor. */
export async function pagesOf(reads: JournalReads, address: string, query: Query) {
  const pages: { rows: JournalRow[]; next: string | null }[] = [];
  for (let cursor: string | null = null; ; ) {
    // How many lines were looked at may change when some leave.
    const { rows, next }: { rows: JournalRow[]; next: string | null } = await reads.rows(address, query, {
      ...query,
      cursor,
    });
    pages.push({ rows, next });
    if (next === null) return pages;
    cursor = next;
  }
}
