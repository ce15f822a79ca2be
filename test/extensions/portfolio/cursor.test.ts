import {
  decodeCursor,
  encodeCursor,
  JOURNAL_CURSOR_MAX,
  type JournalCursor,
  placesFor,
} from '../../../src/extensions/portfolio/store/cursor';
import { SHARD_COUNTS } from '../../../src/store/redis/tags';
import { createRandom } from '../../support/random';

/** The cursors of journals over several shards. */
const random = createRandom(17);
const LINES = [0, 1, 126, 127, 128, 500, 999_999];

const drawn = (count: number, entriesMax: number): JournalCursor => ({
  places: Array.from({ length: count }, () =>
    random.chance(0.2) ? null : `${random.int(0, entriesMax)}-${random.pick(LINES)}`,
  ),
  isAscending: random.chance(0.5),
  last: random.chance(0.2) ? null : random.int(0, count - 1),
});

const refused = expect.objectContaining({ code: 'INVALID_CURSOR' });
const decoded = (text: string, count: number): unknown => {
  try {
    return decodeCursor(text, count);
  } catch (error) {
    return error;
  }
};

test('a cursor says what it was made of', () => {
  for (const count of SHARD_COUNTS) {
    for (const entriesMax of [3, 200, 2 ** 31, 999_999_999_998]) {
      for (let i = 0; i < 50; i++) {
        const cursor = drawn(count, entriesMax);
        expect(decodeCursor(encodeCursor(cursor), count)).toEqual(cursor);
      }
    }
  }
});

test('a cursor over 64 shards has fewer than 400 characters with two million lines in each', () => {
  const places = Array.from({ length: 64 }, () => '2000000-0');
  const text = encodeCursor({ places, isAscending: true, last: 63 });
  expect(text.length).toBe(344);
  expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
  const long = places.map(() => '200000000-499');
  expect(encodeCursor({ places: long, isAscending: true, last: 63 }).length).toBeLessThan(
    JOURNAL_CURSOR_MAX + 20,
  );
});

test('a cursor stays valid when the exchange grows, and one of an exchange with more shards is refused', () => {
  const cursor = drawn(4, 1_000);
  const text = encodeCursor(cursor);
  for (const count of SHARD_COUNTS) {
    const places = [...cursor.places, ...Array.from({ length: Math.max(0, count - 4) }, () => null)];
    expect(decoded(text, count)).toEqual(count < 4 ? refused : { ...cursor, places });
  }
});

test('a cursor of one shard is a place in the first of several', () => {
  for (const text of ['0-0', '12-3', '999999-999999']) {
    expect(decoded(text, 4)).toEqual({ places: [text, null, null, null], isAscending: false, last: 0 });
  }
});

test('whatever was not made by encodeCursor is refused', () => {
  const text = encodeCursor({ places: ['1-0', null, '300-2', '7-0'], isAscending: false, last: 2 });
  const bytes = Buffer.from(text, 'base64url');
  const others = [
    '',
    '12-0-0',
    '-1-0',
    `${text}A`,
    `${text}=`,
    text.slice(1),
    text.slice(0, -1),
    'a'.repeat(400),
  ];
  for (const other of others) expect(decoded(other, 4)).toEqual(refused);
  for (let i = 0; i < 2_000; i++) {
    const changed = Buffer.from(bytes);
    changed[random.int(0, changed.length - 1)] = random.int(0, 255);
    const other = changed.toString('base64url');
    const found = decoded(other, 4);
    if (found instanceof Error) expect(found).toEqual(refused);
    else expect(encodeCursor(found as JournalCursor)).toBe(other);
  }
  const endless = Buffer.concat([bytes.subarray(0, 2), Buffer.alloc(300, 0x80)]);
  expect(decoded(endless.toString('base64url'), 4)).toEqual(refused);
});

test('in the other direction the last line of all is left out, and those of other shards are in the page', () => {
  const places = ['5-2', '5-0', null, '0-0'];
  const down = { places, isAscending: false, last: 0 };
  expect(placesFor(down, false)).toEqual(places);
  expect(placesFor(down, true)).toEqual(['5-2', '4-999999', null, null]);
  const up = { places, isAscending: true, last: 1 };
  expect(placesFor(up, false)).toEqual(['5-3', '5-0', null, '0-1']);
});
