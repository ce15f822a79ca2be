import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, startProgram } from '../support/processes';

/** Runs the commands of the documents that start a benchmark, with --small: the figures mean nothing then, but the lines have their shape. */
const PAGES = ['README.md', 'CONTRIBUTING.md', 'bench/README.md'];
const read = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');
const NAMED = /npm run (?:-s )?bench\b(?: -- [\w-]+(?: --\w+(?: \.\.\/\w+)?)*)?/g;
const COMMANDS = [...new Set(PAGES.flatMap((page) => read(page).match(NAMED) ?? []))];
/** A command that only names a suite runs a part of the first one. */
const ALONE = /^npm run bench -- ([\w-]+)$/;
/** A line of the table: what, figure, unit, then ratio, of, target and met, and the command. */
const LINE =
  /^\S.*? {2,}(?:-?[\d.,]+|unknown) {2}\S.* {2}npm run bench -- ([\w-]+)(?: --[\w-]+(?: FOLDER)?)?$/;
const HEADS = /^what +figure +unit +ratio +of +target +met +command$/;

/** All suites, one after the other, on a machine that does other work, too. */
jest.setTimeout(1_200_000);

/** The other tree is this one: a test has no other. */
async function run(command: string) {
  const [, ...words] = command.replace('../before', '.').split(' ');
  const started = startProgram('npm', [...words, ...(words.includes('--') ? [] : ['--']), '--small']);
  return { exit: await started.exited, stdout: started.stdout(), stderr: started.stderr() };
}

/** The suites of the lines of the table, which all have their shape. */
function suitesOf(stdout: string): Set<string> {
  const lines = stdout.trim().split('\n');
  const table = lines.slice(lines.findIndex((line) => HEADS.test(line)) + 1);
  expect(table.length).toBeLessThan(lines.length);
  expect(table.filter((line) => !LINE.test(line))).toEqual([]);
  return new Set(table.map((line) => LINE.exec(line)?.[1] ?? ''));
}

/** Suites that need a program or another tree say so. */
const leftOut = (stderr: string): string[] =>
  [...stderr.matchAll(/^([\w-]+): left out; it needs/gm)].map(([, name = '']) => name);

test('a suite that does not exist is refused with the names of all suites, which are those of the page', async () => {
  const { exit, stderr } = await run('npm run bench -- nonsense');
  expect(exit).toBe(1);
  const known = /\[([\w|-]+)\.\.\.\]/.exec(stderr)?.[1]?.split('|') ?? [];
  const described = [...read('bench/README.md').matchAll(/^- `([\w-]+)` /gm)].map(([, name]) => name);
  expect(described.sort()).toEqual(known.sort());
});

test('every suite runs and prints its lines, and no document names another', async () => {
  const { exit, stdout, stderr } = await run('npm run bench');
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.any(String) });
  const described = [...read('bench/README.md').matchAll(/^- `([\w-]+)` /gm)].map(([, name = '']) => name);
  const ran = [...suitesOf(stdout), ...leftOut(stderr)].sort();
  expect([...new Set(ran)]).toEqual(described.sort());
  const named = COMMANDS.flatMap((command) => ALONE.exec(command)?.[1] ?? []);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !described.includes(name))).toEqual([]);
});

test.each(COMMANDS.filter((command) => command.includes(' --') && !ALONE.test(command)))(
  '%s prints its lines',
  async (command) => {
    const { exit, stdout, stderr } = await run(command);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.any(String) });
    const [, suite = ''] = / -- ([\w-]+)/.exec(command) ?? [];
    if (command.includes('--json')) {
      const [machine, ...rows] = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(machine).toMatchObject({
        kind: 'machine',
        cores: expect.any(Number),
        redis: expect.any(String),
      });
      const lines = rows.filter(({ kind }) => kind === 'line');
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) {
        expect(line).toMatchObject({
          suite,
          figure: expect.any(Number),
          unit: expect.any(String),
          met: null,
        });
      }
    } else if (!leftOut(stderr).includes(suite)) {
      expect([...suitesOf(stdout)]).toEqual([suite]);
    }
  },
);
