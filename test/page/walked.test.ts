import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/processes';

/** The table of docs/inside/page.md and the pictures: what says that the walk is whole is itself looked at. */
const IMPROVEMENTS = 20;
const PICTURE_BYTES_MAX = 200_000;
const WORDS_MIN = 5;

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

interface Step {
  readonly number: number;
  readonly name: string;
  readonly file: string;
}

const steps = [
  ...read('docs/inside/page.md').matchAll(/^\| (\d+) \|[^|]*\| (.+) \| `(test\/\S+)` \|$/gm),
].map(([, number, name = '', file = '']): Step => ({ number: Number(number), name, file }));

test(`each of ${IMPROVEMENTS} improvements has a step, and each step is in its file`, () => {
  const numbers = [...new Set(steps.map(({ number }) => number))];
  expect(numbers).toEqual(Array.from({ length: IMPROVEMENTS }, (_, at) => at + 1));
  const lost = steps.filter(({ name, file }) => !read(file).includes(name));
  expect(lost).toEqual([]);
});

test('the README and the page of the trading page show it in both themes, on a phone and to an operator, in pictures that are small and described', () => {
  for (const [page, folder] of [
    ['README.md', '.'],
    ['docs/inside/page.md', 'docs/inside'],
  ] as const) {
    const shown = [...read(page).matchAll(/!\[([^\]]*)\]\(([^)]+\.png)\)/g)].map(
      ([, words = '', file = '']) => ({ words, file: path.join(folder, file) }),
    );
    const files = shown.map(({ file }) => file);
    for (const name of ['page-market', 'page-dark', 'page-phone', 'console'])
      expect([page, files]).toEqual([page, expect.arrayContaining([`docs/${name}.png`])]);
    for (const { words, file } of shown) {
      expect([file, words.split(' ').length >= WORDS_MIN]).toEqual([file, true]);
      expect([file, statSync(path.join(ROOT, file)).size < PICTURE_BYTES_MAX]).toEqual([file, true]);
    }
  }
});
