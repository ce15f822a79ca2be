import { inflateSync } from 'node:zlib';
import type { BookFacts } from '../../../src/exchange/facts';
import { lots, pips } from '../../../src/exchange/units';
import { CARD_WIDTH, type CardFacts, svgOf } from '../../../src/extensions/site/card-drawing';
import { encodePng } from '../../../src/extensions/site/png';
import { formatChance } from '../../../src/wire/prices';

const FACTS: CardFacts = {
  question: 'Will it rain?',
  standing: '62%',
  meaning: 'chance',
  candles: [
    { startMs: 1_000, close: pips(6_000) },
    { startMs: 2_000, close: pips(6_200) },
  ],
  nowMs: 4_000,
};
const QUESTION_SIZE = 56;
/** The lines of the question as they are drawn. */
const linesOf = (question: string): string[] =>
  [...svgOf({ ...FACTS, question }).matchAll(/font-size="(\d+)"[^>]*>([^<]*)</g)]
    .filter(([, size]) => Number(size) === QUESTION_SIZE)
    .map(([, , words]) => words ?? '');

test('a long question is broken between words into three lines at most and ends with dots', () => {
  const lines = linesOf('Will the council of the city decide before the end of the year '.repeat(5));
  expect(lines).toHaveLength(3);
  expect(lines[2]).toMatch(/…$/);
  for (const line of lines) expect(line.length).toBeLessThan(45);
});

test('a word that is wider than the picture is cut', () => {
  const [line = ''] = linesOf('W'.repeat(500));
  expect(line).toMatch(/^W+…$/);
  expect(line.length * 0.9 * QUESTION_SIZE).toBeLessThan(CARD_WIDTH);
});

test('a question in letters that the font lacks is left out, and signs of markup are escaped', () => {
  expect(linesOf('Пойдёт ли дождь?')).toEqual([]);
  expect(linesOf('Is 1 < 2 & "so" on?')).toEqual(['Is 1 &lt; 2 &amp; &quot;so&quot; on?']);
});

test('the curve begins at the first candle and ends now; a market without trades has none', () => {
  expect(svgOf(FACTS)).toMatch(/<polyline points="560\.0,[\d.]+ [^"]*1128\.0,[\d.]+"/);
  expect(svgOf({ ...FACTS, candles: [] })).not.toContain('polyline');
});

test('a picture is a file with the same pixels', async () => {
  const pixels = Buffer.from(Array.from({ length: 3 * 2 * 4 }, (_, i) => i));
  const file = await encodePng(3, 2, pixels);
  const size = file.readUInt32BE(33);
  const rows = inflateSync(file.subarray(41, 41 + size));
  expect([rows[0], rows[13]]).toEqual([0, 0]);
  expect(Buffer.concat([rows.subarray(1, 13), rows.subarray(14, 26)])).toEqual(pixels);
  expect(file.subarray(-8).toString('hex')).toBe('49454e44ae426082');
});

test('a chance is a whole percent, with a tenth near the ends and where prices are finer than a cent', () => {
  const book = (bid: number, ask: number): BookFacts => ({
    bids: [{ pricePips: pips(bid), sizeLots: lots(1), orders: 1 }],
    asks: [{ pricePips: pips(ask), sizeLots: lots(1), orders: 1 }],
    lastPips: null,
    sequence: 1,
  });
  expect(formatChance(book(4_400, 4_500), 100)).toBe('45%');
  expect(formatChance(book(4_400, 4_500), 10)).toBe('44.5%');
  expect(formatChance(book(400, 500), 100)).toBe('4.5%');
  expect(formatChance(book(9_500, 9_600), 100)).toBe('95.5%');
  expect(formatChance({ bids: [], asks: [], lastPips: null, sequence: 0 }, 100)).toBeNull();
});
