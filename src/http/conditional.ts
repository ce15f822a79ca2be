import type { Standing } from '../store/health/standing';

/**
 * The ETag of a book: its sequence. In another epoch the same number may stand for another book, so from the data's second
 * epoch on the epoch stands behind it: no tag of one epoch is a tag of another.
 */
export const bookTag = (sequence: number, standing: Standing | null): string =>
  !standing || standing.isFirst ? `"${sequence}"` : `"${sequence}-${standing.epoch}"`;

/** Whether If-None-Match names this version; by weak comparison, as RFC 9110 wants it here. */
export function names(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((part) => part.trim() === '*' || part.trim().replace(/^W\//, '') === etag);
}
