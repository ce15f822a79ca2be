import { Refusal } from '../exchange/errors';

/** Where a list of markets goes on: after this row of this order. */
export interface MarketPosition {
  readonly sort: string;
  /** Value the list is sorted by, highest first. */
  readonly rank: number;
  readonly createdAtMs: number;
  readonly id: string;
}

/** Opaque to clients. */
export function encodePosition({ sort, rank, createdAtMs, id }: MarketPosition): string {
  return Buffer.from(JSON.stringify([sort, rank, createdAtMs, id])).toString('base64url');
}

/** INVALID_CURSOR unless it is a position in a list of this sort. */
export function decodePosition(text: string, sort: string): MarketPosition {
  const parts = read(text);
  const [itsSort, rank, createdAtMs, id] = Array.isArray(parts) ? parts : [];
  const valid =
    itsSort === sort &&
    Number.isSafeInteger(rank) &&
    Number.isSafeInteger(createdAtMs) &&
    typeof id === 'string';
  if (!valid) throw new Refusal('INVALID_CURSOR', 'cursor is not a position in this list');
  return { sort, rank, createdAtMs, id };
}

function read(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}
