/** Whether If-None-Match names this version; by weak comparison, as RFC 9110 wants it here. */
export function names(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((part) => part.trim() === '*' || part.trim().replace(/^W\//, '') === etag);
}
