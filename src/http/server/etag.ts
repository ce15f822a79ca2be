import type { DurabilityState } from '../../store/health/durability';

/**
 * The ETag of a book: its sequence. In another epoch the same number may belong to another book. So from the second epoch of
 * the data on, the tag also contains the epoch: no tag of one epoch equals a tag of another.
 */
export const bookTag = (sequence: number, standing: DurabilityState | null): string =>
  !standing || standing.isFirst ? `"${sequence}"` : `"${sequence}-${standing.epoch}"`;

/** The most tags of a request that are compared; a client has one or two copies. A missed tag costs it a full answer. */
const TAGS_MAX = 20;

/** Whether If-None-Match names this version, by weak comparison as in RFC 9110. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag) return true;
  const tags = header.split(',', TAGS_MAX).map((part) => part.trim());
  return tags.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag);
}
