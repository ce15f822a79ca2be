const CELL_MAX = 72;
const GAP = '  ';

/** Formats columns of text; the first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((cell, i) => shown(cell, i === row.length - 1)));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/** Makes one line of any text: control characters become question marks. */
function shown(text: string, isLast: boolean): string {
  const line = text.replace(/\p{C}/gu, '?');
  return line.length > CELL_MAX && !isLast ? `${line.slice(0, CELL_MAX - 1)}…` : line;
}
