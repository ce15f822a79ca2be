import { spawn } from 'node:child_process';
import path from 'node:path';
import { SUITES } from '../../bench/suites';

/** Each suite of bench/ runs as its README says, for two seconds: its figures mean nothing then, but its lines have their shape. */
const ROOT = path.join(__dirname, '../..');
/** Not bounded by BENCH_SECONDS; these need another tree; and callgrind, which is a hundred times slower. */
const LEFT_OUT = ['abuse', 'web-against', 'instructions'];

async function run(args: readonly string[]) {
  const child = spawn(process.execPath, ['scripts/bench.js', ...args], {
    cwd: ROOT,
    env: { ...process.env, BENCH_SECONDS: '2' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return { stdout, stderr };
}

test.each(Object.keys(SUITES).filter((name) => !LEFT_OUT.includes(name)))('%s', async (name) => {
  const { stdout, stderr } = await run([name, '--json']);
  // A suite that fails says so in a line with its name.
  expect(stderr).not.toMatch(new RegExp(`^${name}: `, 'm'));
  const objects = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(objects[0]).toMatchObject({ kind: 'machine', cores: expect.any(Number), redis: expect.any(String) });
  const lines = objects.filter(({ kind }) => kind === 'line');
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines)
    expect(line).toMatchObject({ suite: name, what: expect.any(String), unit: expect.any(String) });
});

test('an unknown suite is an error that names all of them', async () => {
  const { stderr } = await run(['nonsense']);
  expect(stderr).toContain('no suite "nonsense"');
  for (const name of Object.keys(SUITES)) expect(stderr).toContain(name);
});
