import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'luaparse';
import { ROOT } from './support/processes';

interface Measured {
  readonly name: string;
  readonly ownLines: number;
}

/** Lines of code of a function's own. The statements of a script outside its functions count as one function. */
const LUA_LINES_MAX = 70;
/** The two most frequent paths of an order; docs/decisions/026-straight-lines.md has the reason. */
const STRAIGHT_LINES_MAX = 100;
const STRAIGHT = ['place_order.lua', 'lib/straight.lua match_one'];

interface LuaNode {
  readonly type: string;
  readonly loc: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
  readonly identifier?: { readonly name?: string; readonly identifier?: { readonly name: string } } | null;
}

function luaFunctionsOf(name: string, source: string): Measured[] {
  const text = source.replace(/^#!.*/, '');
  const isCode = text.split('\n').map((line) => /\S/.test(line) && !/^\s*--/.test(line));
  const found: Measured[] = [];

  /** Counts the lines of code from `first` to `last`, without those of the functions in `inner`. */
  function count(called: string, first: number, last: number, inner: readonly LuaNode[]): void {
    const isInner = (line: number): boolean =>
      inner.some(({ loc }) => line > loc.start.line && line <= loc.end.line);
    const own = isCode.filter((code, i) => code && i + 1 >= first && i + 1 <= last && !isInner(i + 1));
    found.push({ name: called, ownLines: own.length });
  }
  function functionsIn(node: unknown): LuaNode[] {
    if (typeof node !== 'object' || node === null) return [];
    const isFunction = (node as LuaNode).type === 'FunctionDeclaration';
    const inner = Object.entries(node).flatMap(([member, value]) =>
      member === 'loc' ? [] : functionsIn(value),
    );
    if (!isFunction) return inner;
    const { identifier, loc } = node as LuaNode;
    const called = identifier?.name ?? identifier?.identifier?.name ?? 'an unnamed function';
    count(`${name} ${called}`, loc.start.line, loc.end.line, inner);
    return [node as LuaNode];
  }
  count(name, 1, isCode.length, functionsIn(parse(text, { locations: true, luaVersion: '5.1' }).body));
  return found;
}

test('a Lua function and the statements of its script are measured apart', () => {
  const text =
    '#!lua\n-- a comment\nlocal function f()\n  -- another\n  return 1\nend\n\nlocal a = f()\nreturn a\n';
  expect(luaFunctionsOf('a.lua', text)).toEqual([
    { name: 'a.lua f', ownLines: 3 },
    { name: 'a.lua', ownLines: 3 },
  ]);
});

test(`no Lua function and no script has more than ${LUA_LINES_MAX} lines of its own, the straight lines no more than ${STRAIGHT_LINES_MAX}`, () => {
  const files = (readdirSync(path.join(ROOT, 'lua'), { recursive: true }) as string[]).filter((name) =>
    name.endsWith('.lua'),
  );
  const measured = files.flatMap((file) =>
    luaFunctionsOf(file, readFileSync(path.join(ROOT, 'lua', file), 'utf8')),
  );
  expect(measured.length).toBeGreaterThan(200);
  const most = ({ name }: Measured): number => (STRAIGHT.includes(name) ? STRAIGHT_LINES_MAX : LUA_LINES_MAX);
  expect(measured.filter((one) => one.ownLines > most(one))).toEqual([]);
  expect(STRAIGHT.filter((name) => !measured.some((one) => one.name === name))).toEqual([]);
});
