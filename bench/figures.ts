/** Arithmetic that the suites share. */

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** The value below which this part of all values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The slope of y over x, by least squares; NaN with too few points. */
export function slope(points: readonly Point[]): number {
  if (points.length < 2) return Number.NaN;
  const middle = (of: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [middle((point) => point.x), middle((point) => point.y)];
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return spread === 0
    ? Number.NaN
    : points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread;
}

export const round = (value: number, digits = 2): number => Math.round(value * 10 ** digits) / 10 ** digits;
