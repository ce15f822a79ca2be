import { Refusal } from '../../../exchange/errors';
import type { ArchivedReads } from '../../../store/lists/archived-reads';
import type { Keys } from '../../../store/redis/keys';
import type { RunScript } from '../../../store/redis/scripts';

/** The lines of one wallet's journal. Each keeps its number, from 0, also when it has left Redis for the archive. */
export interface StoredLines {
  /** How many lines had left Redis, always the oldest ones, and how many there were with these. */
  readonly left: number;
  readonly length: number;
  /** The lines from this number up to, but without, the second, at most LINES_MAX; null for one that was dropped for its age. */
  read(from: number, end: number): Promise<readonly (Buffer | null)[]>;
}

/** Opens the journal of a wallet. */
export type OpenLines = (wallet: Buffer) => Promise<StoredLines>;

interface StoredLinesOptions {
  readonly run: RunScript;
  readonly keys: Keys;
  readonly archivedReads: Pick<ArchivedReads, 'lines' | 'droppedMs'>;
}

/** LINES_MAX of src/extensions/portfolio/lua/read_journal.lua. */
export const LINES_MAX = 500;

/** Lines are read in Redis first; those that have left are then in the archive. */
export function createStoredLines({ run, keys, archivedReads }: StoredLinesOptions): OpenLines {
  const ask = (wallet: Buffer, from: number, end: number) =>
    run('read_journal', [keys.journal(wallet), keys.forgotten], [wallet, from, end]);

  async function gone(wallet: Buffer, from: number, end: number): Promise<readonly (Buffer | null)[]> {
    const found = await archivedReads.lines(wallet, from, end - 1);
    const lines = Array.from({ length: end - from }, (): Buffer | null => null);
    for (const { entry, line } of found) lines[entry - from] = line;
    // Asked after the lines: a month that went in between is noted now.
    if (found.length === lines.length || (await archivedReads.droppedMs()) > 0) return lines;
    throw new Refusal(
      'UNAVAILABLE',
      'lines of this journal are in an archive that this process does not have: set ARCHIVE_URL, and see: exchange doctor, exchange archive verify',
    );
  }

  return async (wallet) => {
    const [left, length] = await ask(wallet, 0, 0);
    return {
      left,
      length,
      async read(from, end) {
        if (end <= left) return gone(wallet, from, end);
        const [leftNow, , ...here] = await ask(wallet, from, end);
        const before = from < leftNow ? await gone(wallet, from, Math.min(end, leftNow)) : [];
        return [...before, ...here];
      },
    };
  };
}
