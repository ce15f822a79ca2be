import { writeSync } from 'node:fs';

/** sysexits.h EX_CONFIG. */
export const EXIT_BAD_CONFIG = 78;
const SHOWN_LENGTH_MAX = 40;

/** One row of the table that an operator sees. */
export interface ConfigProblem {
  readonly variable: string;
  /** The given value, safe to print; secrets are hidden. */
  readonly given: string;
  readonly problem: string;
}

export class ConfigError extends Error {
  readonly rows: readonly ConfigProblem[];

  constructor(rows: readonly ConfigProblem[]) {
    super(`bad configuration: ${rows.map((row) => `${row.variable} ${row.problem}`).join('; ')}`);
    this.name = 'ConfigError';
    this.rows = rows;
  }
}

/** Returns a value as the table may show it. */
export function printable(text: string, hidden: boolean): string {
  if (text === '') return '(unset)';
  if (hidden) return '(hidden)';
  // A password in a URL is a secret in every variable.
  const shown = text.replace(/\/\/[^/]*@/g, '//***@').replace(/[^\x20-\x7e]/g, '?');
  return shown.length > SHOWN_LENGTH_MAX ? `${shown.slice(0, SHOWN_LENGTH_MAX - 3)}...` : shown;
}

/** Prints the table of a ConfigError and ends the process with 78; anything else is thrown on. */
export function reportAndExit(error: unknown): never {
  if (!(error instanceof ConfigError)) throw error;
  writeSync(2, formatProblems(error.rows));
  process.exit(EXIT_BAD_CONFIG);
}

function formatProblems(rows: readonly ConfigProblem[]): string {
  const table = [
    ['VARIABLE', 'GIVEN', 'PROBLEM'],
    ...rows.map((row) => [row.variable, row.given, row.problem]),
  ];
  const widths = [0, 1].map((column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  const lines = table.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `Bad configuration:\n${lines.join('\n')}\n`;
}
