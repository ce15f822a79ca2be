import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  brokenLines,
  commentsOf,
  type Found,
  faultsOf,
  faultyNames,
  luaCommentsOf,
  proseOf,
  testNamesOf,
} from './support/prose';

/** docs/style.md, as far as a machine can check it. Reviewers check the rest. */
const ROOT = path.join(__dirname, '..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const inFolder = (folder: string, ending: RegExp): string[] =>
  (readdirSync(path.join(ROOT, folder), { recursive: true }) as string[])
    .filter((name) => ending.test(name) && !name.includes('node_modules'))
    .map((name) => path.join(folder, name));

const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'bench', 'test', 'examples', '.github'].flatMap((folder) => inFolder(folder, /\.md$/)),
];
/** Its rules quote what they forbid. */
const RULES = 'docs/style.md';

const CODE = ['src', 'packages', 'test', 'bench', 'scripts', 'examples'].flatMap((folder) =>
  inFolder(folder, /\.(?:tsx?|m?js)$/).filter((name) => !name.includes('dist')),
);
/** They quote what they forbid. */
const OWN = ['test/prose.test.ts', 'test/support/prose.ts'];

const told = (file: string, found: readonly Found[]): string[] =>
  found.map(({ line, text }) => `${file}:${line} ${text}`);
const faulty = (file: string, texts: readonly Found[]): string[] =>
  told(
    file,
    texts.flatMap(({ line, text }) => faultsOf(text).map((sentence) => ({ line, text: sentence }))),
  );

test('a line of Markdown is one sentence', () => {
  expect(PAGES.length).toBeGreaterThan(20);
  expect(PAGES.flatMap((page) => told(page, brokenLines(read(page))))).toEqual([]);
});

test('a merge leaves no conflict markers in the pages', () => {
  expect(PAGES.filter((page) => /<{7} |>{7} /.test(read(page)))).toEqual([]);
});

test('the pages use no banned phrase', () => {
  expect(PAGES.filter((page) => page !== RULES).flatMap((page) => faulty(page, proseOf(read(page))))).toEqual(
    [],
  );
});

test('the comments use no banned phrase', () => {
  expect(CODE.length).toBeGreaterThan(300);
  const files = CODE.filter((file) => !OWN.includes(file));
  expect(files.flatMap((file) => faulty(file, commentsOf(read(file))))).toEqual([]);
});

test('the comments of the scripts use no banned phrase', () => {
  const scripts = inFolder('lua', /\.lua$/);
  expect(scripts.length).toBeGreaterThan(30);
  expect(scripts.flatMap((file) => faulty(file, luaCommentsOf(read(file))))).toEqual([]);
});

test('the names of the tests use no banned phrase', () => {
  const files = CODE.filter((file) => file.endsWith('.test.ts'));
  expect(files.flatMap((file) => told(file, faultyNames(testNamesOf(read(file)))))).toEqual([]);
});
