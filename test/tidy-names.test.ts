import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './support/processes';

/** Rules for the names that files give each other. */
const sources = (readdirSync(path.join(ROOT, 'src'), { recursive: true }) as string[])
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => path.join('src', name));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const filesWith = (pattern: RegExp): string[] => sources.filter((file) => pattern.test(read(file)));

test('a name is imported from the file that declares it: no file of the exchange passes on the names of another', () => {
  expect(sources.length).toBeGreaterThan(200);
  expect(filesWith(/^export (?:type )?(?:\{|\* from)/m)).toEqual([]);
});

test('a part begins with an interface: its type is not derived from the function that creates it', () => {
  const derived = filesWith(/^export type \w+ = (?:Awaited<)?ReturnType<typeof (?!present)/m);
  expect(derived).toEqual([]);
});
