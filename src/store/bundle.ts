import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Inlines the modules a Lua script requires, so that Redis gets one chunk: each module becomes a local that holds
 * what its file returns, in the order in which they are first required. Plain `require('lib.x')` at the start of a
 * line is understood, nothing else; editors and luacheck understand it too.
 */
const REQUIRE = /^local (\w+) = require\('lib\.(\w+)'\)$/gm;
const SHEBANG = /^#!lua.*\n/;

/** The sources of every verb under `folder`, by name, with their modules inlined. Throws on a missing module. */
export function bundleScripts(folder: string): Map<string, string> {
  const modules = new Map<string, string>();
  for (const file of luaFiles(join(folder, 'lib'))) {
    modules.set(file.slice(0, -4), readFileSync(join(folder, 'lib', file), 'utf8'));
  }
  const bundles = new Map<string, string>();
  for (const file of luaFiles(folder)) {
    bundles.set(file.slice(0, -4), bundle(readFileSync(join(folder, file), 'utf8'), modules));
  }
  return bundles;
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

function bundle(source: string, modules: ReadonlyMap<string, string>): string {
  const shebang = SHEBANG.exec(source)?.[0];
  if (!shebang) throw new Error('a script must start with #!lua');
  const order: string[] = [];
  visit(source, modules, order, []);
  const inlined = order.map((name) => {
    const body = withoutRequires(modules.get(name) ?? '');
    return `local M_${name} = (function()\n${body}end)()\n`;
  });
  return strip(shebang + inlined.join('') + withoutRequires(source.slice(shebang.length)));
}

function visit(source: string, modules: ReadonlyMap<string, string>, order: string[], path: string[]): void {
  for (const match of source.matchAll(REQUIRE)) {
    const name = match[2] ?? '';
    const module = modules.get(name);
    if (module === undefined) throw new Error(`no module lua/lib/${name}.lua`);
    if (path.includes(name)) throw new Error(`modules require each other: ${[...path, name].join(' -> ')}`);
    if (order.includes(name)) continue;
    visit(module, modules, order, [...path, name]);
    order.push(name);
  }
}

const withoutRequires = (source: string): string => source.replace(REQUIRE, 'local $1 = M_$2');

/** Comments cost nothing at run time but are sent and hashed: full-line ones go. */
const strip = (source: string): string => source.replace(/^\s*--.*\n/gm, '');
