import { createRequire } from 'node:module';
import type { Candle } from '../../exchange/facts';
import { encodePng } from './png';

/** The picture that a shared link shows: question, chance, and the chance over time. */

export const CARD_WIDTH = 1_200;
export const CARD_HEIGHT = 630;

export interface CardFacts {
  readonly question: string;
  /** "62%", "Resolved: Yes". */
  readonly standing: string;
  /** "chance of Lakers"; empty for a market that has ended. */
  readonly meaning: string;
  /** Oldest first, prices of the first outcome. */
  readonly candles: readonly Pick<Candle, 'startMs' | 'close'>[];
  readonly nowMs: number;
}

export type DrawCard = (facts: CardFacts) => Promise<Buffer>;

/** The part of the drawing library that is used here. */
interface Drawing {
  renderAsync(
    svg: string,
    options: {
      readonly font: {
        readonly loadSystemFonts: boolean;
        readonly fontFiles: readonly string[];
        readonly defaultFontFamily: string;
      };
    },
  ): Promise<{ readonly width: number; readonly height: number; readonly pixels: Buffer }>;
}

const LIBRARY = '@resvg/resvg-js';
const packages = createRequire(__filename);

/** Null on a machine for which the library has no program: links have no picture there. */
export function createCardDrawing(fontFile: string): DrawCard | null {
  try {
    packages.resolve(LIBRARY);
  } catch {
    return null;
  }
  const font = { loadSystemFonts: false, fontFiles: [fontFile], defaultFontFamily: 'Inter' };
  return async (facts) => {
    const { renderAsync } = packages(LIBRARY) as Drawing;
    const { width, height, pixels } = await renderAsync(svgOf(facts), { font });
    return encodePng(width, height, pixels);
  };
}

const MARGIN = 72;
const QUESTION_SIZE = 56;
const LINES_MAX = 3;
const LINE_HEIGHT = 70;
const CURVE = { x: 560, y: 330, width: CARD_WIDTH - MARGIN - 560, height: 210 } as const;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (plain: string): string => plain.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);

const text = (x: number, y: number, size: number, fill: string, words: string): string =>
  `<text x="${x}" y="${y}" font-family="Inter" font-weight="600" font-size="${size}" fill="${fill}">${escaped(words)}</text>`;

export function svgOf({ question, standing, meaning, candles, nowMs }: CardFacts): string {
  const lines = linesOf(question).map((line, at) =>
    text(MARGIN, 170 + at * LINE_HEIGHT, QUESTION_SIZE, '#10151f', line),
  );
  const isShort = standing.length <= 6;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CARD_WIDTH}" height="${CARD_HEIGHT}" viewBox="0 0 ${CARD_WIDTH} ${CARD_HEIGHT}">`,
    `<rect width="${CARD_WIDTH}" height="${CARD_HEIGHT}" fill="#ffffff"/>`,
    `<rect width="${CARD_WIDTH}" height="12" fill="#3457d5"/>`,
    text(MARGIN, 84, 30, '#3457d5', 'Exchange'),
    ...lines,
    text(MARGIN, 500, isShort ? 150 : 72, '#10151f', standing),
    text(MARGIN, 560, 34, '#566072', meaning),
    curveOf(candles, nowMs),
    '</svg>',
  ].join('');
}

/** The font has no other letters; a question in them is left to the words beside the picture. */
const DRAWABLE = /^[ -~ ¢£©°·×–—‘’“”…€−≈≤≥→←↑↓✓ÄÖÜäöüßéèêëáàâãåçíîïñóôõúûøæÉÅÑÇ]*$/u;

/** Broken between words, so that no line leaves the picture; what does not fit ends with three dots. */
function linesOf(question: string): string[] {
  if (!DRAWABLE.test(question)) return [];
  const lines: string[] = [];
  for (const word of question.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && widthOf(longer) <= CARD_WIDTH - 2 * MARGIN) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const shown = lines.slice(0, LINES_MAX).map((line) => cut(line, CARD_WIDTH - 2 * MARGIN));
  if (lines.length > LINES_MAX) shown[LINES_MAX - 1] = `${shown[LINES_MAX - 1]}…`;
  return shown;
}

function cut(line: string, most: number): string {
  if (widthOf(line) <= most) return line;
  let end = line.length;
  while (end > 1 && widthOf(line.slice(0, end)) > most) end--;
  return `${line.slice(0, end - 1)}…`;
}

/** Parts of the font's size, on the safe side. */
const widthOf = (line: string): number =>
  [...line].reduce((sum, letter) => sum + partOf(letter), 0) * QUESTION_SIZE;

function partOf(letter: string): number {
  if (/[ ijl.,:;'|!]/.test(letter)) return 0.3;
  if (/[mwMW@%—]/.test(letter)) return 0.95;
  return /[A-Z0-9$?]/.test(letter) ? 0.72 : 0.62;
}

/** The chance over time; nothing where nothing was traded. */
function curveOf(candles: CardFacts['candles'], nowMs: number): string {
  const [first, last] = [candles[0], candles.at(-1)];
  if (!first || !last || nowMs <= first.startMs) return '';
  const prices = candles.map(({ close }) => close);
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  const range = Math.max(most - least, 400);
  const floor = (least + most - range) / 2;
  const x = (ms: number): string =>
    (CURVE.x + ((ms - first.startMs) / (nowMs - first.startMs)) * CURVE.width).toFixed(1);
  const y = (pips: number): string =>
    (CURVE.y + CURVE.height - ((pips - floor) / range) * CURVE.height).toFixed(1);
  const points = [
    ...candles.map(({ startMs, close }) => `${x(startMs)},${y(close)}`),
    `${x(nowMs)},${y(last.close)}`,
  ].join(' ');
  const end = CURVE.y + CURVE.height;
  return [
    `<polygon points="${CURVE.x},${end} ${points} ${CURVE.x + CURVE.width},${end}" fill="#3457d5" fill-opacity="0.1"/>`,
    `<polyline points="${points}" fill="none" stroke="#3457d5" stroke-width="5" stroke-linejoin="round"/>`,
    `<circle cx="${x(nowMs)}" cy="${y(last.close)}" r="10" fill="#3457d5"/>`,
  ].join('');
}
