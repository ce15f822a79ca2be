import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/processes';

/** Compares docs/inside/paths.md with the code: its files and its functions. */
const PAGE = readFileSync(path.join(ROOT, 'docs/inside/paths.md'), 'utf8');
/** A file, and after it in brackets the functions to look for. */
const NAMED = /`((?:src|lua)\/[\w./-]+\.(?:tsx?|lua))`(?: \(((?:`\w+`(?:, )?)+)\))?/g;

interface Stop {
  readonly file: string;
  readonly functions: readonly string[];
}

const stopsOf = (text: string): Stop[] =>
  [...text.matchAll(NAMED)].map(([, file = '', functions = '']) => ({
    file,
    functions: [...functions.matchAll(/\w+/g)].map(([name]) => name),
  }));

/** A function, a constant or, in Lua, a member of a module. */
const isDefined = (name: string, text: string): boolean =>
  new RegExp(
    `^\\s*(?:export )?(?:async )?(?:local )?(?:function|const)\\*? (?:\\w+\\.)?${name}\\b`,
    'm',
  ).test(text);

const readIfThere = (file: string): string =>
  existsSync(path.join(ROOT, file)) ? readFileSync(path.join(ROOT, file), 'utf8') : '';

test('the page names only functions that its files define', () => {
  const stops = stopsOf(PAGE);
  expect(stops.flatMap(({ functions }) => functions).length).toBeGreaterThan(60);
  const missing = stops.flatMap(({ file, functions }) =>
    functions.filter((name) => !isDefined(name, readIfThere(file))).map((name) => `${file} ${name}`),
  );
  expect(missing).toEqual([]);
});

test('a file of the page without a function to look for is a script', () => {
  const bare = stopsOf(PAGE).filter(({ functions }) => functions.length === 0);
  const named = new Set(stopsOf(PAGE).flatMap(({ file, functions }) => (functions.length > 0 ? file : [])));
  expect(bare.filter(({ file }) => !/^lua\/\w+\.lua$/.test(file) && !named.has(file))).toEqual([]);
});
