import { parse } from 'luaparse';

/** A node of luaparse's syntax tree, with the fields that the bundler uses. */
export interface Node {
  readonly type: string;
  readonly range: readonly [number, number];
  readonly [member: string]: unknown;
}

/**
 * A parsed Lua file. The sources keep these rules:
 *
 *   local book = require('lib.book')     the local has the module's name
 *   local book = {} ... return book      a module is one table of functions and constants, without any state
 *   book.OPEN, book.PAUSED = 1, 2        capital letters, numbers or strings: the bundler inlines their values
 *   local ONE_PIPS = 10000               the same, within its file
 *   function book.open(...) ... end      becomes the local function book_open, where it is called
 *   local function learn(b) ... end      becomes book_learn
 *   function order.rank(record)          the bundler inlines a body that only returns one expression
 */
export interface LuaFile {
  readonly name: string;
  readonly text: string;
  readonly imports: Map<string, LuaFile>;
  /** By name: `OPEN` within the file, `book.OPEN` elsewhere. */
  readonly constants: Map<string, string>;
  readonly routines: Map<string, Routine>;
  /** The other statements, which are those of a verb. */
  readonly statements: Node[];
}

export interface Routine {
  readonly file: LuaFile;
  readonly name: string;
  readonly node: Node;
  readonly parameters: readonly string[];
  /** The returned expression, if the function does nothing else. */
  readonly expression: Node | null;
}

const COMMENT = /^[ \t]*--.*\n/gm;

export const isCapital = (name: string): boolean => /^[A-Z][A-Z0-9_]*$/.test(name);
export const nameOf = (node: Node): string => (node.type === 'Identifier' ? String(node.name) : '');

/** Returns `book` and `OPEN` of `book.OPEN`; null for any other node. */
export function memberOf(node: Node): readonly [string, string] | null {
  if (node.type !== 'MemberExpression' || node.indexer !== '.') return null;
  return [nameOf(node.base as Node), nameOf(node.identifier as Node)];
}

/** Returns the module that `local book = require('lib.book')` names. Throws when the local has another name. */
export function requiredBy(node: Node): string | null {
  const [variable, init] = [(node.variables as Node[])?.[0], (node.init as Node[])?.[0]];
  if (node.type !== 'LocalStatement' || init?.type !== 'CallExpression') return null;
  const [argument] = init.arguments as Node[];
  if (nameOf(init.base as Node) !== 'require' || !variable) return null;
  const name = String(argument?.raw).slice("'lib.".length, -1);
  if (name !== nameOf(variable)) throw new Error(`the module ${name} must be required as "${name}"`);
  return name;
}

/** `name` is empty for a verb; `load` returns the modules that it requires. */
export function readFile(name: string, source: string, load: (name: string) => LuaFile): LuaFile {
  const text = source.replace(COMMENT, '');
  const file = { name, text, imports: new Map(), constants: new Map(), routines: new Map(), statements: [] };
  for (const node of parse(text, { ranges: true, luaVersion: '5.1' }).body as unknown as Node[]) {
    const required = requiredBy(node);
    // A require after other statements serves the statements after it: write.ts puts the functions that they call there.
    if (required !== null && file.statements.length === 0) file.imports.set(required, load(required));
    else take(file, node);
  }
  const [left] = file.statements as Node[];
  if (name !== '' && left)
    throw new Error(`lib/${name}.lua holds more than constants and functions: ${text.slice(...left.range)}`);
  return file;
}

function take(file: LuaFile, node: Node): void {
  const { name, text } = file;
  if (name !== '' && node.type === 'FunctionDeclaration') {
    const routine = routineOf(file, node);
    file.routines.set(routine.name, routine);
  } else if (!takeConstants(file, node) && !isFrame(name, text.slice(...node.range))) {
    file.statements.push(node);
  }
}

const isFrame = (name: string, text: string): boolean =>
  text === `local ${name} = {}` || text === `return ${name}`;

function takeConstants(file: LuaFile, node: Node): boolean {
  if (node.type !== 'LocalStatement' && node.type !== 'AssignmentStatement') return false;
  const names = (node.variables as Node[]).map((variable) => memberOf(variable)?.[1] ?? nameOf(variable));
  const values = (node.init as Node[]).map((value) => file.text.slice(...value.range));
  const isLiteral = (value: string): boolean => /^(-?\d+|'[^']*')$/.test(value);
  if (!names.every(isCapital) || values.length !== names.length || !values.every(isLiteral)) return false;
  for (const [i, name] of names.entries()) file.constants.set(name, String(values[i]));
  return true;
}

function routineOf(file: LuaFile, node: Node): Routine {
  const [only, ...more] = node.body as Node[];
  const [expression, ...others] = only?.type === 'ReturnStatement' ? (only.arguments as Node[]) : [];
  const identifier = node.identifier as Node;
  const name = memberOf(identifier)?.[1] ?? nameOf(identifier);
  const parameters = (node.parameters as Node[]).map((parameter) => nameOf(parameter) || '...');
  const isShort =
    expression !== undefined && more.length + others.length === 0 && !parameters.includes('...');
  return { file, name, node, parameters, expression: isShort ? expression : null };
}
