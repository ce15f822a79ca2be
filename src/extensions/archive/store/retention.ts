import type { Archive } from '../archive';

/** The first moment of the oldest month that is kept: the months before the present one, and the present one. */
export function keptFrom(nowMs: number, months: number): number {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months);
}

/** Drops whole months of the archive for their age; with null none. Returns how many rows that were. */
export async function dropOldMonths(
  archive: Pick<Archive, 'dropBefore'>,
  months: number | null,
  nowMs: number,
): Promise<number> {
  return months === null ? 0 : archive.dropBefore(keptFrom(nowMs, months));
}
