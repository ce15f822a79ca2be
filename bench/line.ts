/** One line of the table: a figure, its baseline, and its target. */
export interface Line {
  readonly suite: string;
  readonly what: string;
  readonly figure: number;
  readonly unit: string;
  /** The figure that `ratio` compares with; empty for a figure without a baseline. */
  readonly baseline: string;
  readonly ratio: number | null;
  readonly target: string;
  /** Null where there is no target. */
  readonly met: boolean | null;
  readonly command: string;
}

export interface Target {
  readonly of: 'figure' | 'ratio';
  readonly at: 'least' | 'most';
  readonly bound: number;
}

export interface Finding {
  readonly suite: string;
  readonly what: string;
  readonly figure: number;
  readonly unit: string;
  readonly baseline?: string;
  readonly ratio?: number | null;
  readonly target?: Target;
  /** The part of the command after the suite's name that takes the row again. */
  readonly options?: string;
}

export const atLeast = (bound: number, of: Target['of'] = 'figure'): Target => ({ of, at: 'least', bound });
export const atMost = (bound: number, of: Target['of'] = 'figure'): Target => ({ of, at: 'most', bound });

/** A figure that could not be measured (NaN) meets no target. */
export function lineOf(finding: Finding): Line {
  const { suite, what, figure, unit, baseline = '', ratio = null, target, options = '' } = finding;
  const judged = target?.of === 'ratio' ? (ratio ?? Number.NaN) : figure;
  return {
    suite,
    what,
    figure,
    unit,
    baseline,
    ratio,
    target: target
      ? `${target.of === 'ratio' ? 'ratio ' : ''}${target.at === 'least' ? '>=' : '<='} ${target.bound}`
      : '',
    met: target ? (target.at === 'least' ? judged >= target.bound : judged <= target.bound) : null,
    command: `npm run bench -- ${suite}${options && ` ${options}`}`,
  };
}

const HEADS = ['what', 'figure', 'unit', 'ratio', 'of', 'target', 'met', 'command'];

/** The table for people, a line each, without the machine. */
export function tableOf(lines: readonly Line[]): string {
  return aligned([
    HEADS,
    ...lines.map(({ what, figure, unit, ratio, baseline, target, met, command }) => [
      what,
      shortened(figure),
      unit,
      ratio === null ? '' : shortened(ratio),
      baseline,
      target,
      met === null ? '' : met ? 'yes' : 'NO',
      command,
    ]),
  ]);
}

/** Three figures are as exact as a run of seconds; whole numbers stay whole. */
export function shortened(value: number): string {
  if (!Number.isFinite(value)) return 'unknown';
  if (Number.isInteger(value) || Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** Columns of numbers are aligned right, columns of words left. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const cells = (column: number): string[] => rows.map((row) => row[column] ?? '');
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...cells(i).map((cell) => cell.length)));
  const isNumbers = Array.from({ length: columns }, (_, i) =>
    cells(i)
      .slice(1)
      .every((cell) => /^(-?[\d.,]+|unknown)?$/.test(cell)),
  );
  const lines = rows.map((row) =>
    widths
      .map((width, i) => (isNumbers[i] ? (row[i] ?? '').padStart(width) : (row[i] ?? '').padEnd(width)))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}
