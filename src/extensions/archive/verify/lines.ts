import type { ArchivedLine } from '../../../store/lists/archived-reads';
import { FORGOTTEN } from '../../../store/records/layout';
import { hashHex } from '../../../store/records/order';
import { unpackEntry } from '../../portfolio/store/records';
import { lineMs } from '../store/leaving';
import type { Verifying } from './verify';

const STEP = 1_000;
const WALLETS_STEP = 200;

/** Each line that left a journal is there under its number, from 0 on or behind those that were dropped. Returns how many are. */
export async function verifyLines(options: Verifying): Promise<number> {
  const { redis, keys } = options;
  let [cursor, lines] = ['0', 0];
  do {
    const [next, flat] = await redis.hscanBuffer(keys.forgotten, cursor, 'COUNT', WALLETS_STEP);
    for (let i = 0; i + 1 < flat.length; i += 2)
      lines += await verifyJournal(options, flat[i] as Buffer, FORGOTTEN.get.lines(flat[i + 1] as Buffer));
    cursor = next.toString();
  } while (cursor !== '0');
  return lines;
}

async function verifyJournal(
  { archive, findings, droppedMs }: Verifying,
  wallet: Buffer,
  left: number,
): Promise<number> {
  const address = hashHex(wallet);
  let [lines, isDropped] = [0, droppedMs > 0];
  for (let from = 0; from < left; from += STEP) {
    const to = Math.min(left, from + STEP) - 1;
    const rows = new Map((await archive.lines(wallet, from, to)).map((row) => [row.entry, row]));
    lines += rows.size;
    for (let entry = from; entry <= to; entry++) {
      const row = rows.get(entry);
      isDropped &&= !row;
      const detail = row
        ? problemOf(row)
        : isDropped
          ? null
          : 'the line left Redis and is not in the archive';
      if (detail) findings.add({ kind: 'JOURNAL_LINE', wallet: address, sequence: entry, detail });
    }
  }
  return lines;
}

function problemOf({ line, atMs }: ArchivedLine): string | null {
  try {
    unpackEntry(line);
    return lineMs(line) === atMs ? null : 'the line is filed under another time';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
