import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../../support/processes';
import { LAZY, OPERATORS, recordOf } from './values';

/**
 * Turns the definitions of the Quint modules into JavaScript functions: a search that calls them is a hundred times as fast
 * as Quint's own simulator. Quint parses the files, and the tests compare the steps of both.
 */
type Expression =
  | { readonly kind: 'int' | 'str' | 'bool'; readonly value: number | string | boolean }
  | { readonly kind: 'name'; readonly name: string }
  | {
      readonly kind: 'lambda';
      readonly params: readonly { readonly name: string }[];
      readonly expr: Expression;
    }
  | { readonly kind: 'app'; readonly opcode: string; readonly args: readonly Expression[] }
  | { readonly kind: 'let'; readonly opdef: Definition; readonly expr: Expression };
interface Definition {
  readonly kind: string;
  readonly name: string;
  readonly qualifier?: string;
  readonly expr: Expression;
}

const QUINT = path.join(ROOT, 'node_modules/@informalsystems/quint/dist/src/cli.js');
const MODEL = path.join(ROOT, 'test/model/transfers/checks.qnt');

/** Runs a command of Quint and returns the files that it wrote: `args` gets the path of a new folder. */
function written(args: (folder: string) => readonly string[], names: (folder: string) => readonly string[]) {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-model-'));
  try {
    execFileSync(process.execPath, [QUINT, ...args(folder), MODEL], { stdio: 'pipe' });
    return names(folder).map((name) => JSON.parse(readFileSync(name, 'utf8')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Traces of Quint's simulator, in its own format. */
export function simulate(
  traces: number,
  stepsMax: number,
  seed: string,
): { states: Record<string, unknown>[] }[] {
  const numbers = Array.from({ length: traces }, (_, index) => index);
  return written(
    (folder) => [
      ...['run', '--backend', 'typescript', '--invariant', 'holds', '--verbosity', '0', '--seed', seed],
      ...['--max-samples', `${traces}`, '--max-steps', `${stepsMax}`, '--n-traces', `${traces}`],
      ...['--out-itf', path.join(folder, 'trace{seq}.json')],
    ],
    (folder) => numbers.map((number) => path.join(folder, `trace${number}.json`)),
  );
}

function parsed(): readonly Definition[] {
  const file = (folder: string): string => path.join(folder, 'parsed.json');
  const [answer] = written(
    (folder) => ['parse', '--out', file(folder)],
    (folder) => [file(folder)],
  );
  return answer.modules.flatMap(({ declarations }: { declarations: Definition[] }) => declarations);
}

const mangled = (name: string): string => `$${name.replace(/\W/g, '_')}`;

function bodyOf(expression: Expression): string {
  if (expression.kind !== 'let') return `return ${codeOf(expression)};`;
  const { name, expr } = expression.opdef;
  return `const ${mangled(name)} = ${codeOf(expr)};\n${bodyOf(expression.expr)}`;
}

function codeOf(expression: Expression): string {
  switch (expression.kind) {
    case 'name':
      return mangled(expression.name);
    case 'lambda':
      return `((${expression.params.map(({ name }) => mangled(name)).join(', ')}) => {\n${bodyOf(expression.expr)}\n})`;
    case 'let':
      return `(() => {\n${bodyOf(expression)}\n})()`;
    case 'app':
      return applied(expression.opcode, expression.args);
    default:
      return JSON.stringify(expression.value);
  }
}

function applied(opcode: string, args: readonly Expression[]): string {
  const codes = args.map(codeOf);
  const lazy = LAZY[opcode];
  if (lazy !== undefined) return lazy(codes);
  if (opcode === 'Rec') return recordOf(codes);
  return `${Object.hasOwn(OPERATORS, opcode) ? `op.${opcode}` : mangled(opcode)}(${codes.join(', ')})`;
}

/** The pure definitions of these names; actions and what reads a variable are for Quint's simulator alone. */
export function definitionsOf(names: readonly string[]) {
  const pure = parsed().filter(({ kind, qualifier = '' }) => kind === 'def' && qualifier.startsWith('pure'));
  const lines = pure.map(({ name, expr }) => `const ${mangled(name)} = ${codeOf(expr)};`);
  const wanted = names.map((name) => `${name}: ${mangled(name)}`).join(', ');
  return new Function('op', `'use strict';\n${lines.join('\n')}\nreturn { ${wanted} };`)(OPERATORS);
}
