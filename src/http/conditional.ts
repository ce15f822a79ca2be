import type { Standing } from '../store/health/standing';

/**
 * The ETag of a book: its sequence. In another epoch the same number may stand for another book, so from the data's second
 * epoch on the epoch stands behind it: no tag of one epoch is a tag of another.
 */
export const bookTag = (sequence: number, standing: Standing | null): string =>
  !standing || standing.isFirst ? `"${sequence}"` : `"${sequence}-${standing.epoch}"`;

/** Tags of a request that are compared; a client has a copy or two. To miss one costs it an answer in full. */
const TAGS_MAX = 20;

/** Whether If-None-Match names this version; by weak comparison, as RFC 9110 wants it here. */
export function names(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag) return true;
  const tags = header.split(',', TAGS_MAX).map((part) => part.trim());
  return tags.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag);
}
