import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './support/processes';

const { LONG_FILES, ONLY_LONG, SIZES } = require('../scripts/test-files.js') as {
  LONG_FILES: readonly string[];
  ONLY_LONG: readonly string[];
  SIZES: Readonly<Record<string, string>>;
};
const config = require('../jest.config.js') as Readonly<Record<string, unknown>>;

/** The forms of the tests that CI runs, `npm test` and `npm run test:long`, omit no test. */
const files = readdirSync(path.join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => path.join('test', name));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const isLong = (file: string): boolean => LONG_FILES.some((pattern) => new RegExp(pattern).test(file));

test('npm test or npm run test:long runs every test file, and CI runs both', () => {
  expect(files.length).toBeGreaterThan(180);
  // jest would ignore what these name.
  expect(Object.keys(config).filter((name) => /ignore/i.test(name))).toEqual([]);
  expect([config.roots, config.testMatch]).toEqual([['<rootDir>/test'], ['**/*.test.ts']]);
  const rest =
    /if \(args\.length === 0\) return \['--testPathIgnorePatterns', \.\.\.ONLY_LONG\];\n {2}return args;/;
  expect(read('scripts/test.js')).toMatch(rest);
  expect(ONLY_LONG.filter((pattern) => !LONG_FILES.includes(pattern))).toEqual([]);
  for (const command of ['npm test', 'npm run test:long']) expect(read('.ci/run')).toContain(`\n${command} `);
});

test('every test file that plays a sample in npm test plays everything in npm run test:long', () => {
  const sampling = files.filter((file) => /\b(?:sampleOf|storyOf)\(/.test(read(file)));
  expect(sampling.length).toBeGreaterThan(8);
  expect(sampling.filter((file) => !isLong(file))).toEqual([]);
  expect(SIZES.SAMPLE).toBe('all');
});

test('every size of the long form is read by a test file, and npm run test:long runs each of those files', () => {
  for (const name of Object.keys(SIZES).filter((size) => size !== 'SAMPLE')) {
    const readers = files.filter((file) => read(file).includes(`env.${name}`));
    expect([name, readers.length > 0, readers.filter((file) => !isLong(file))]).toEqual([name, true, []]);
  }
});

test('every test that a variable switches on is switched on by npm run test:long or by CI', () => {
  const switches = files.flatMap((file) => [
    ...read(file).matchAll(/process\.env\.(\w+) === '1' \? (?:test|describe|it) :/g),
  ]);
  const names = switches.map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => SIZES[name] !== '1' && !read('.ci/run').includes(`${name}=1`))).toEqual([]);
});

test('every pattern of the long form names a file', () => {
  expect(LONG_FILES.filter((pattern) => !files.some((file) => new RegExp(pattern).test(file)))).toEqual([]);
});
