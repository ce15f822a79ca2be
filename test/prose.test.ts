import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { brokenLines, type Found, faultsOf, proseOf } from './support/prose';

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

test('the pages use no banned phrase', () => {
  expect(PAGES.filter((page) => page !== RULES).flatMap((page) => faulty(page, proseOf(read(page))))).toEqual(
    [],
  );
});
