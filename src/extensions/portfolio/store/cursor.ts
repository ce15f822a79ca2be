import { Refusal } from '../../../exchange/errors';
import { LINE_CURSOR, LINE_MAX, linePlace } from './reads';

/** The longest cursor. One over 64 shards in which each journal has two million lines has 344 characters. */
export const JOURNAL_CURSOR_MAX = 500;

/**
 * A cursor over the journals of several shards: one place for each shard, as the cursor of that shard (`entry-line`); null is the place
 * before every line.
 */
export interface JournalCursor {
  readonly places: readonly (string | null)[];
  /** The direction of the page that made it. */
  readonly isAscending: boolean;
  /** The shard of the last line that was shown; null when none was. */
  readonly last: number | null;
}

/** The first bits of a cursor, which distinguish it from one of a single shard. The others are the number of shards. */
const FORM = 0xa0;
const NONE = 64;
const ENTRY_MAX = 999_999_999_999;
const BASE = 128;

export function encodeCursor({ places, isAscending, last }: JournalCursor): string {
  const bytes = [FORM | Math.log2(places.length), (isAscending ? BASE : 0) + (last ?? NONE)];
  for (const text of places) {
    if (text === null) {
      bytes.push(0);
      continue;
    }
    const { entry, line } = linePlace(text);
    write(bytes, entry + 1);
    write(bytes, line === LINE_MAX ? 0 : line + 1);
  }
  return Buffer.from(bytes).toString('base64url');
}

/**
 * Reads a cursor that this exchange made with this number of shards or with fewer. Shards that were added later have the place before
 * every line, because growth moves no line and each of their lines came after it. Throws INVALID_CURSOR.
 */
export function decodeCursor(text: string, count: number): JournalCursor {
  const { places, ...rest } = LINE_CURSOR.test(text)
    ? { places: [text], isAscending: false, last: 0 }
    : decodeMade(text, count);
  const added = Array.from({ length: count - places.length }, () => null);
  return { ...rest, places: [...places, ...added] };
}

function decodeMade(text: string, most: number): JournalCursor {
  const bytes = Buffer.from(text, 'base64url');
  const [form = 0, head = 0] = bytes;
  const count = 2 ** (form ^ FORM);
  if (count > most) throw new Refusal('INVALID_CURSOR');
  const numbers = bytes.subarray(2).values();
  const places = Array.from({ length: count }, () => {
    const entry = read(numbers);
    if (entry === 0) return null;
    const line = read(numbers);
    return `${entry - 1}-${line === 0 ? LINE_MAX : line - 1}`;
  });
  const last = head % BASE === NONE ? null : head % BASE;
  const cursor = { places, isAscending: head >= BASE, last };
  const isWhole = places.every((place) => place === null || LINE_CURSOR.test(place)) && (last ?? 0) < count;
  // A number in another form, and anything behind the last one.
  if (!isWhole || encodeCursor(cursor) !== text) throw new Refusal('INVALID_CURSOR');
  return cursor;
}

/**
 * The places from which a page in this direction goes on. In the other direction than before, the last line of all is behind the page,
 * and the last lines of the other shards are in it.
 */
export function placesFor(
  { places, isAscending, last }: JournalCursor,
  ascending: boolean,
): (string | null)[] {
  if (ascending === isAscending) return [...places];
  return places.map((place, shard) => {
    if (place === null || shard === last) return place;
    return ascending ? justBelow(place) : justAbove(place);
  });
}

/** The place next above a line: newest first, the line itself is the next one. */
export function justAbove(text: string): string {
  const { entry, line } = linePlace(text);
  return line === LINE_MAX ? text : `${entry}-${line + 1}`;
}

function justBelow(text: string): string | null {
  const { entry, line } = linePlace(text);
  if (line > 0) return `${entry}-${line - 1}`;
  return entry === 0 ? null : `${entry - 1}-${LINE_MAX}`;
}

/** Seven bits a byte, the least first; the last byte is below BASE. */
function write(bytes: number[], value: number): void {
  let left = value;
  for (; left >= BASE; left = Math.floor(left / BASE)) bytes.push(BASE + (left % BASE));
  bytes.push(left);
}

function read(bytes: Iterator<number>): number {
  let value = 0;
  for (let factor = 1; factor <= ENTRY_MAX * BASE; factor *= BASE) {
    const { value: byte, done } = bytes.next();
    if (done) break;
    value += (byte % BASE) * factor;
    if (byte < BASE) return value;
  }
  throw new Refusal('INVALID_CURSOR');
}
