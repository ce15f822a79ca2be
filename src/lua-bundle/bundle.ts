import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Funds } from '../exchange/chain';
import { type LuaFile, readFile } from './module';
import { writeVerb } from './write';

/**
 * Makes one chunk of a Lua script and the modules that it requires. Redis creates every function of a script again at each
 * call, so a bundle contains only the functions that it calls, and inlines short ones (module.ts has the rules).
 * docs/decisions/025-lua-bundler.md has the gain of each step.
 */

/** Funds are handed out by the exchange or are on a chain, and an exchange with funds on a chain has one shard. */
const LEFT_OUT: Readonly<Record<Funds, readonly string[]>> = { paper: ['chain'], chain: ['shards'] };

/** The verbs of the core that hand out, convert or number the funds of wallets, which only the chain does with its own. */
const PAPER_ONLY = ['credit_account', 'convert_sets', 'join_wallet', 'raise_nonce'];

/** Returns the sources of the verbs of the program in the folder `root`, by name, with their modules inlined. Throws on a missing module. */
export const bundleScripts = (root: string, funds: Funds = 'paper'): Map<string, string> =>
  bundleSources(luaSources(root, funds));

/**
 * Returns the files below `lua/` by their paths there: `place_order.lua`, `lib/book.lua`. The files below
 * `src/extensions/<name>/lua/` replace or join them.
 */
export function luaSources(root: string, funds: Funds = 'paper'): Map<string, string> {
  const sources = filesOf(join(root, 'lua'));
  if (funds === 'chain') for (const name of PAPER_ONLY) sources.delete(`${name}.lua`);
  const extensions = join(root, 'src/extensions');
  const names = existsSync(extensions) ? readdirSync(extensions).sort() : [];
  const chosen = names.filter((name) => !LEFT_OUT[funds].includes(name));
  return new Map([...sources, ...chosen.flatMap((name) => [...filesOf(join(extensions, name, 'lua'))])]);
}

function filesOf(folder: string): Map<string, string> {
  const files = [...luaFiles(folder), ...luaFiles(join(folder, 'lib')).map((file) => `lib/${file}`)];
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

const luaFiles = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith('.lua'))
        .sort()
    : [];

export function bundleSources(sources: ReadonlyMap<string, string>): Map<string, string> {
  const modules = new Map<string, LuaFile>();
  const load = (name: string, path: readonly string[] = []): LuaFile => {
    if (path.includes(name)) throw new Error(`modules require each other: ${[...path, name].join(' -> ')}`);
    const source = sources.get(`lib/${name}.lua`);
    if (source === undefined) throw new Error(`no module lib/${name}.lua`);
    const module = modules.get(name) ?? readFile(name, source, (other) => load(other, [...path, name]));
    modules.set(name, module);
    return module;
  };
  const verbs = [...sources].filter(([file]) => !file.startsWith('lib/'));
  return new Map(verbs.map(([file, source]) => [file.slice(0, -'.lua'.length), bundle(source, load)]));
}

/** A script begins with a line for Redis that names its language and flags, and is not Lua. */
function bundle(source: string, load: (name: string) => LuaFile): string {
  const shebang = /^#!lua.*\n/.exec(source)?.[0];
  if (!shebang) throw new Error('a script must start with #!lua');
  return shebang + writeVerb(readFile('', source.slice(shebang.length), load), load);
}

/** Writes every bundle to `target`; returns the names of the verbs. */
export function writeBundles(root: string, target: string, funds: Funds = 'paper'): string[] {
  mkdirSync(target, { recursive: true });
  const bundles = bundleScripts(root, funds);
  for (const [name, source] of bundles) writeFileSync(join(target, `${name}.lua`), source);
  return [...bundles.keys()];
}
