import { Refusal } from '../exchange/errors';

/**
 * A walk over a list whose order changes during the walk, as that of markets by volume does. The cursor contains one bit for
 * each row that was shown, by places that never change. So every row that was there at the beginning is shown, and none
 * twice, wherever they move meanwhile.
 */
export interface Walk {
  /** Names the history of the data, because in another history a place may be another row's. */
  readonly epoch: string;
  /** The value by which the list is sorted. */
  readonly sort: string;
  /** The number of rows at the beginning: places from 0. */
  readonly count: number;
  readonly shown: ReadonlySet<number>;
}

const COUNT_BYTES = 4;
const TEXT = /^([A-Za-z0-9]+)\.([0-9a-f]*)\.([A-Za-z0-9_-]+)$/;
/** The longest cursor: enough for a walk over 60,000 rows, and short enough for a request line. */
export const WALK_MAX = 10_100;

/** Opaque to clients. */
export function encodeWalk({ epoch, sort, count, shown }: Walk): string {
  const bytes = Buffer.alloc(COUNT_BYTES + Math.ceil((Math.max(-1, ...shown) + 1) / 8));
  bytes.writeUInt32BE(count);
  for (const place of shown) {
    const at = COUNT_BYTES + (place >> 3);
    bytes[at] = (bytes[at] ?? 0) | (1 << (place & 7));
  }
  return `${sort}.${epoch}.${bytes.toString('base64url')}`;
}

/** Throws INVALID_CURSOR unless it is a walk over a list of this epoch and sort that has had as many rows. */
export function decodeWalk(text: string, epoch: string, sort: string, rows: number): Walk {
  const head = sort.length + epoch.length + 2;
  const most = Math.ceil(((COUNT_BYTES + Math.ceil(rows / 8)) * 4) / 3);
  const [, itsSort, itsEpoch, packed = ''] = text.length <= head + most ? (TEXT.exec(text) ?? []) : [];
  const bytes = Buffer.from(packed, 'base64url');
  const count = bytes.length > COUNT_BYTES ? bytes.readUInt32BE(0) : rows + 1;
  const shown = new Set<number>();
  for (let place = 0; place < (bytes.length - COUNT_BYTES) * 8; place++) {
    if ((bytes[COUNT_BYTES + (place >> 3)] ?? 0) & (1 << (place & 7))) shown.add(place);
  }
  const isPossible =
    itsEpoch === epoch &&
    itsSort === sort &&
    count <= rows &&
    shown.size > 0 &&
    [...shown].every((place) => place < count);
  if (!isPossible)
    throw new Refusal('INVALID_CURSOR', 'cursor does not belong to this list; pass nextCursor unchanged');
  return { epoch, sort, count, shown };
}
