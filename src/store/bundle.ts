import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes one chunk of a Lua script and the modules it requires. Redis builds a script's functions again at every call,
 * so unused functions are left out and constants are written into their uses; measured, this takes an insert from 18
 * floors to the figure in bench/README.md. The rules the sources keep, so that it can be this small:
 *
 *   local book = require('lib.book')     at the start of a line; the local has the module's name
 *   local book = {} ... return book      a module is one table of functions and constants, without any state
 *   function book.open(...) ... end      at the start of a line: becomes the local function book_open
 *   book.OPEN, book.PAUSED = 1, 2        capital letters, numbers or strings: written into their uses
 *   local ONE_PIPS = 10000               the same, within its file
 *   local function learn(b) ... end      becomes book_learn
 *   function order.rank(record)          one `return` and nothing else: written into its calls
 */
const REQUIRE = /^local (\w+) = require\('lib\.(\w+)'\)\n/gm;
/** A require inside a block of a verb: what the verb calls of the module is built there, by the runs that come by. */
const LAZY = /^[ \t]+local (\w+) = require\('lib\.(\w+)'\)\n/gm;
const SHEBANG = /^#!lua.*\n/;
const COMMENT = /^[ \t]*--.*\n/gm;
const LITERAL = String.raw`(?:-?\d+|'[^',\n]*')`;
const LOCAL_CONSTANTS = new RegExp(
  String.raw`^local ([A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*) = (${LITERAL}(?:, ${LITERAL})*)\n`,
  'gm',
);
const ONE_EXPRESSION = /^function (\w+)\(([^)]*)\)\n {2}return (.+(?:\n {4,}.+)*)\nend\n/gm;
const GLOBALS = new Set('math string struct table unpack error redis and or not nil true false'.split(' '));
/** Functions of one script and its modules. */
const FUNCTIONS_MAX = 1_000;
const FUNCTION = /^(?:local )?function (\w+)\([\s\S]*?^end\n/gm;

/** The sources of every verb under `folder`, by name, with their modules inlined. Throws on a missing module. */
export const bundleScripts = (folder: string): Map<string, string> => bundleSources(luaSources(folder));

/** The files below `folder` by their paths: `place_order.lua`, `lib/book.lua`. */
export function luaSources(folder: string): Map<string, string> {
  const files = [...luaFiles(folder), ...luaFiles(join(folder, 'lib')).map((file) => `lib/${file}`)];
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

export function bundleSources(sources: ReadonlyMap<string, string>): Map<string, string> {
  const named = [...sources].map(([file, source]) => [file.slice(0, -4), source] as const);
  const isModule = ([name]: readonly [string, string]): boolean => name.startsWith('lib/');
  const modules = new Map(named.filter(isModule).map(([name, source]) => [name.slice(4), source]));
  const verbs = named.filter((one) => !isModule(one));
  return new Map(verbs.map(([name, source]) => [name, bundle(source, modules)]));
}

/** Writes every bundle to `target`; returns the names of the verbs. */
export function writeBundles(folder: string, target: string): string[] {
  mkdirSync(target, { recursive: true });
  const bundles = bundleScripts(folder);
  for (const [name, source] of bundles) writeFileSync(join(target, `${name}.lua`), source);
  return [...bundles.keys()];
}

function luaFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .sort();
}

function bundle(verb: string, modules: ReadonlyMap<string, string>): string {
  const shebang = SHEBANG.exec(verb)?.[0];
  if (!shebang) throw new Error('a script must start with #!lua');
  const names: string[] = [];
  visit(verb, REQUIRE, modules, names, []);
  visit(verb, LAZY, modules, names, []);
  const constants = new Map<string, string>();
  let bodies = names.map((name) => nameLocals(name, moduleBody(name, modules.get(name) ?? '', constants)));
  bodies.push(inlineLocals(verb.slice(shebang.length).replace(COMMENT, '').replace(REQUIRE, '')));
  bodies = withoutUnused(inlineCalls(bodies.map((body) => flatten(body, names, constants))));
  const main = bodies.pop() ?? '';
  const functions = functionsOf(names, bodies);
  const placed = new Set<string>();
  // A verb calls the functions of a module that it requires late only after that line.
  const late = [...main.matchAll(LAZY)].map(([, name = '']) => name);
  const early = place(
    late.reduce((text, name) => text.replaceAll(`${name}_`, ''), main),
    functions,
    placed,
  );
  const whole = withShortcuts(main).replace(LAZY, (_line, name: string) => {
    const calls = [...main.matchAll(new RegExp(`\\b${name}_\\w+`, 'g'))].join(' ');
    return place(calls, functions, placed);
  });
  return shebang + early + whole;
}

const SHORTCUT_USES_MIN = 3;
const SHORTCUTS = [
  ['redis.call', 'redis_call'],
  ['struct.pack', 'struct_pack'],
  ['struct.unpack', 'struct_unpack'],
] as const;

/**
 * Locals for what the verb's own code calls at every turn. Not for the functions it requires: each would have to bind
 * them again at every run, which takes longer than looking them up.
 */
function withShortcuts(main: string): string {
  const used = SHORTCUTS.filter(([name]) => main.split(`${name}(`).length > SHORTCUT_USES_MIN);
  const lines = used.map(([name, short]) => `local ${short} = ${name}\n`);
  const text = used.reduce((code, [name, short]) => code.replaceAll(`${name}(`, `${short}(`), main);
  return lines.join('') + text;
}

/** Every function of the modules by its name. A module that holds anything else would lose it, so that is an error. */
function functionsOf(names: readonly string[], bodies: readonly string[]): Map<string, string> {
  const functions = new Map<string, string>();
  for (const [i, body] of bodies.entries()) {
    const rest = body.replace(FUNCTION, (text, name: string) => {
      if (functions.has(name)) throw new Error(`two functions are called ${name}`);
      functions.set(name, text.replace(/^(local )?/, 'local '));
      return '';
    });
    if (rest.trim())
      throw new Error(`lib/${names[i]}.lua holds more than constants and functions: ${rest.trim()}`);
  }
  return functions;
}

/** The functions that `code` calls, directly or through each other, callees first, without those placed before. */
function place(code: string, functions: ReadonlyMap<string, string>, placed: Set<string>): string {
  let out = '';
  for (const word of code.match(/(?<![\w.:])[a-z]\w*/g) ?? []) {
    const text = functions.get(word);
    if (text === undefined || placed.has(word)) continue;
    placed.add(word);
    out += place(text, functions, placed) + text;
  }
  return out;
}

function visit(
  source: string,
  pattern: RegExp,
  modules: ReadonlyMap<string, string>,
  names: string[],
  path: string[],
): void {
  for (const [, local = '', name = ''] of source.matchAll(pattern)) {
    const module = modules.get(name);
    if (module === undefined) throw new Error(`no module lua/lib/${name}.lua`);
    if (local !== name) throw new Error(`the module ${name} must be required as "${name}"`);
    if (path.includes(name)) throw new Error(`modules require each other: ${[...path, name].join(' -> ')}`);
    if (names.includes(name)) continue;
    visit(module, REQUIRE, modules, names, [...path, name]);
    names.push(name);
  }
}

/** A module without its frame; its public constants go into `constants` as `name.CONSTANT`. */
function moduleBody(name: string, source: string, constants: Map<string, string>): string {
  const target = `${name}\\.[A-Z][A-Z0-9_]*`;
  const assignment = new RegExp(`^(${target}(?:, ${target})*) = (${LITERAL}(?:, ${LITERAL})*)\n`, 'gm');
  const body = source
    .replace(COMMENT, '')
    .replace(REQUIRE, '')
    .replace(`local ${name} = {}\n`, '')
    .replace(`return ${name}\n`, '')
    .replace(assignment, (_line, left: string, right: string) => {
      const values = right.split(', ');
      for (const [i, key] of left.split(', ').entries()) constants.set(key, values[i] ?? 'nil');
      return '';
    });
  return inlineLocals(body);
}

function inlineLocals(body: string): string {
  const found = new Map<string, string>();
  const rest = body.replace(LOCAL_CONSTANTS, (_line, left: string, right: string) => {
    const values = right.split(', ');
    for (const [i, key] of left.split(', ').entries()) found.set(key, values[i] ?? 'nil');
    return '';
  });
  return rest.replace(/(?<![\w.'])[A-Z][A-Z0-9_]*\b(?!')/g, (word) => found.get(word) ?? word);
}

/** A module's own local functions get its name, too: `local function learn` becomes `book_learn`. */
function nameLocals(module: string, body: string): string {
  const locals = [...body.matchAll(/^local function (\w+)\(/gm)].map(([, name]) => name);
  if (locals.length === 0) return body;
  return body.replace(new RegExp(`(?<![\\w.:'])(${locals.join('|')})\\b(?!')`, 'g'), `${module}_$1`);
}

/** `book.open(` becomes `book_open(`, `book.OPEN` its value. Throws where a function is named without a call. */
function flatten(body: string, names: readonly string[], constants: ReadonlyMap<string, string>): string {
  const member = new RegExp(`(?<![\\w.])(${names.join('|') || '(?!)'})\\.(\\w+)`, 'g');
  return body.replace(member, (whole, module: string, name: string, at: number) => {
    if (!/^[A-Z]/.test(name)) {
      if (body[at + whole.length] !== '(') throw new Error(`${whole} is named without being called`);
      return `${module}_${name}`;
    }
    const value = constants.get(whole);
    if (value === undefined) throw new Error(`no constant ${whole}`);
    return value;
  });
}

/**
 * Writes functions that only return one expression into their calls. An expression may use its parameters, globals and
 * other modules' functions; one that uses a local of its module stays a function.
 */
function inlineCalls(bodies: readonly string[]): string[] {
  let current = [...bodies];
  for (let step = 0; step < FUNCTIONS_MAX; step++) {
    const next = [...current.join('\n').matchAll(ONE_EXPRESSION)].find(
      ([, , parameters = '', expression = '']) => isOpen(expression, parameters.split(', ')),
    );
    if (!next) return current;
    const [whole, name = '', parameters = '', expression = ''] = next;
    const names = parameters.split(', ');
    current = current.map((body) =>
      replaceCalls(body.replace(whole, ''), name, (args) => substitute(expression, names, args)),
    );
  }
  throw new Error('functions of one expression call each other without an end');
}

function isOpen(expression: string, names: readonly string[]): boolean {
  const words = expression.replace(/'[^']*'|\b\w+ = /g, '').match(/(?<![\w.:])[a-zA-Z_]\w*/g) ?? [];
  return words.every((word) => names.includes(word) || GLOBALS.has(word) || /^[a-z]+_\w+$/.test(word));
}

function replaceCalls(body: string, name: string, write: (args: string[]) => string): string {
  const call = new RegExp(`(?<![\\w.])${name}\\(`, 'g');
  let out = '';
  let from = 0;
  for (let match = call.exec(body); match; match = call.exec(body)) {
    const { args, end } = readArguments(body, call.lastIndex);
    out += body.slice(from, match.index) + write(args.map((arg) => replaceCalls(arg, name, write)));
    from = end;
    call.lastIndex = end;
  }
  return out + body.slice(from);
}

/** The arguments of a call whose opening parenthesis ends at `start`. */
function readArguments(body: string, start: number): { args: string[]; end: number } {
  const args: string[] = [];
  let depth = 0;
  let from = start;
  for (let at = start; at < body.length; at++) {
    const char = body[at] ?? '';
    if ('([{'.includes(char)) depth++;
    if (char === ',' && depth === 0) {
      args.push(body.slice(from, at).trim());
      from = at + 1;
    }
    if (')]}'.includes(char) && depth-- === 0)
      return { args: [...args, body.slice(from, at).trim()], end: at + 1 };
  }
  throw new Error(`a call without an end: ${body.slice(start, start + 40)}`);
}

function substitute(expression: string, names: readonly string[], args: readonly string[]): string {
  const parameter = new RegExp(`(?<![\\w.'])(?:${names.join('|')})\\b(?!')`, 'g');
  const written = expression.replace(parameter, (name) => {
    const arg = args[names.indexOf(name)] ?? 'nil';
    return /^\w+$/.test(arg) ? arg : `(${arg})`;
  });
  return `(${written})`;
}

/** Leaves out functions that nothing calls, until all that are left are called. */
function withoutUnused(bodies: readonly string[]): string[] {
  let current = [...bodies];
  for (let step = 0; step < FUNCTIONS_MAX; step++) {
    const text = current.join('\n');
    const unused = [...text.matchAll(FUNCTION)]
      .map((match) => match[1] ?? '')
      .filter((name) => (text.match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length === 1);
    if (unused.length === 0) return current;
    current = current.map((body) =>
      body.replace(FUNCTION, (whole, name: string) => (unused.includes(name) ? '' : whole)),
    );
  }
  throw new Error(`a script has more than ${FUNCTIONS_MAX} functions`);
}
