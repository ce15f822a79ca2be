import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleScripts, bundleSources } from '../../src/lua-bundle/bundle';

/** The bundle of the verb `verb` over modules given by name. */
function bundle(verb: string, modules: Readonly<Record<string, string>> = {}): string {
  const sources = new Map([['verb.lua', `#!lua\n${verb}`]]);
  for (const [name, body] of Object.entries(modules))
    sources.set(`lib/${name}.lua`, `local ${name} = {}\n${body}return ${name}\n`);
  return bundleSources(sources).get('verb') ?? '';
}

const needs = (...names: string[]) =>
  names.map((name) => `local ${name} = require('lib.${name}')\n`).join('');

test('constants and functions of one expression are inlined', () => {
  const a = "a.TWO, a.NAME = 2, 'x'\nlocal TEN = 10\nfunction a.grow(n)\n  return n * TEN\nend\n";
  expect(bundle(`${needs('a')}return { a.grow(b + a.TWO), a.NAME }\n`, { a })).toBe(
    "#!lua\nreturn { ((b + 2) * 10), 'x' }\n",
  );
});

test('unused functions are left out, with the functions that only they call', () => {
  const a =
    'local function help(n)\n  n = n + 1\n  return n\nend\nfunction a.used(n)\n  n = n + 2\n  return n\nend\n' +
    'function a.unused(n)\n  n = 3\n  return help(n)\nend\n';
  const text = bundle(`${needs('a')}return a.used(1)\n`, { a });
  expect(text).toContain('local function a_used(n)');
  expect(text).not.toMatch(/unused|help/);
});

test('local functions of two modules may have the same name, and come before their callers', () => {
  const module = (name: string, n: number) =>
    `function ${name}.run(n)\n  n = n + ${n}\n  return ${name}.step(n)\nend\n` +
    `function ${name}.step(n)\n  n = n + ${n}\n  return n\nend\nlocal function go(n)\n  n = 1\n  return n\nend\n`;
  const text = bundle(`${needs('a', 'b')}return a.run(1) + b.run(2)\n`, {
    a: module('a', 1),
    b: module('b', 2),
  });
  expect(text.indexOf('function a_step')).toBeLessThan(text.indexOf('function a_run'));
});

test('a late require creates its functions where it is', () => {
  const a = 'function a.run(n)\n  n = n + 1\n  return n\nend\n';
  const text = bundle(`if KEYS[1] then\n  ${needs('a')}  return a.run(1)\nend\nreturn 0\n`, { a });
  expect(text.indexOf('if KEYS')).toBeLessThan(text.indexOf('function a_run'));
});

test('an argument with an effect is evaluated once, because its function is called and not inlined', () => {
  const a = 'function a.twice(n)\n  return n + n\nend\n';
  const text = bundle(`${needs('a')}return a.twice(redis.call('INCR', KEYS[1])) + a.twice(b + 1)\n`, { a });
  expect(text).toContain("a_twice(redis.call('INCR', KEYS[1]))");
  expect(text).toContain('((b + 1) + (b + 1))');
});

test('a string does not change when a parameter has the same name', () => {
  const a = "function a.tell(n)\n  return 'go to n now' .. n\nend\n";
  expect(bundle(`${needs('a')}return a.tell(KEYS[1])\n`, { a })).toContain("'go to n now' .. KEYS[1]");
});

test('an inlined call returns all values of its function, also as a statement', () => {
  const a = "function a.parts(s)\n  return struct.unpack('>BB', s)\nend\n";
  const text = bundle(`${needs('a')}local x, y = a.parts(s)\na.parts(t)\nreturn x\n`, { a });
  expect(text).toContain("local x, y = struct_unpack('>BB', s)\nstruct_unpack('>BB', t)\n");
});

test('a library function that a piece names twice or in a loop gets a local there', () => {
  const a =
    "function a.fill(n)\n  for i = 1, n do\n    redis.call('SET', i, struct.pack('B', i))\n  end\n  return 1\nend\n";
  const text = bundle(`${needs('a')}local x = struct.unpack('B', s)\nreturn a.fill(x)\n`, { a });
  expect(text).toContain(
    "local function a_fill(n)\n  local redis_call, struct_pack = redis.call, struct.pack\n\n  for i = 1, n do\n    redis_call('SET', i, struct_pack('B', i))",
  );
  expect(text).toContain("local x = struct.unpack('B', s)");
});

test('the keys and arguments of a script get a local in a piece that names them twice', () => {
  const a = 'function a.run(n)\n  n = n + #KEYS[2] + #KEYS[3]\n  return n + #ARGV[1]\nend\n';
  const text = bundle(`${needs('a')}local x = ARGV[1] .. ARGV[2]\nreturn a.run(KEYS[1])\n`, { a });
  expect(text).toContain(
    'local function a_run(n)\n  local KEYS = KEYS\n\n  n = n + #KEYS[2] + #KEYS[3]\n  return n + #ARGV[1]',
  );
  expect(text).toContain('local ARGV = ARGV\nlocal x = ARGV[1] .. ARGV[2]\nreturn a_run(KEYS[1])');
});

test('a function whose module two blocks require is created in both', () => {
  const a = 'function a.run(n)\n  n = n + 1\n  return n\nend\n';
  const block = `if KEYS[1] then\n  ${needs('a')}  return a.run(1)\nend\n`;
  expect(
    bundle(`local m = 0\n${block}${block}return m\n`, { a }).match(/local function a_run/g),
  ).toHaveLength(2);
});

test('a module that requires another one in a block creates it only in that block', () => {
  const a = `function a.run(n)\n  if n then\n    ${needs('b')}    n = b.grow(n)\n  end\n  return n\nend\n`;
  const b = 'function b.grow(n)\n  n = n * 2\n  return n\nend\n';
  const text = bundle(`${needs('a')}return a.run(1)\n`, { a, b });
  expect(text.indexOf('local function a_run')).toBeLessThan(text.indexOf('local function b_grow'));
});

test.each([
  ['a missing module', needs('a'), {}, 'no module'],
  ['modules that require each other', needs('a'), { a: needs('b'), b: needs('a') }, 'require each other'],
  ['another name', "local b = require('lib.a')\n", { a: '' }, 'must be required as'],
  ['a constant that is not there', `${needs('a')}return a.NONE\n`, { a: '' }, 'no constant'],
  [
    'a function that is not called',
    `${needs('a')}local f = a.run\n`,
    { a: 'function a.run(n)\n  return n\nend\n' },
    'without being called',
  ],
  [
    'a module with state',
    `${needs('a')}return a.run(1)\n`,
    { a: 'local known = {}\n' },
    'more than constants',
  ],
])('%s is an error', (_what, verb, modules, message) => {
  expect(() => bundle(verb, modules)).toThrow(message);
});

test('a file of an extension replaces the one of its name, or is added', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'bundle-'));
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  };
  const extension = (name: string): string => `src/extensions/${name}/lua`;
  for (const [folder, kind] of [
    ['lua', 'paper'],
    [extension('chain'), 'chain'],
  ])
    write(`${folder}/lib/a.lua`, `local a = {}\na.KIND = '${kind}'\nreturn a\n`);
  write('lua/kind.lua', `#!lua\n${needs('a')}return a.KIND\n`);
  write(`${extension('chain')}/more.lua`, `#!lua\n${needs('a')}return { a.KIND }\n`);
  write(`${extension('people')}/comment.lua`, '#!lua\nreturn 2\n');
  // An exchange with funds on a chain has one shard, and pays no faucet.
  write(`${extension('shards')}/send.lua`, '#!lua\nreturn 3\n');
  write('lua/credit_account.lua', '#!lua\nreturn 1\n');
  try {
    expect(Object.fromEntries(bundleScripts(root))).toEqual({
      credit_account: '#!lua\nreturn 1\n',
      kind: "#!lua\nreturn 'paper'\n",
      comment: '#!lua\nreturn 2\n',
      send: '#!lua\nreturn 3\n',
    });
    expect(Object.fromEntries(bundleScripts(root, 'chain'))).toEqual({
      more: "#!lua\nreturn { 'chain' }\n",
      kind: "#!lua\nreturn 'chain'\n",
      comment: '#!lua\nreturn 2\n',
    });
  } finally {
    rmSync(root, { recursive: true });
  }
});
