/**
 * `npm test`: builds, finds a Redis, then runs linter, type checker and luacheck (if installed) and every `*.test.ts` but the `*.long.test.ts`.
 * All of them run even if one fails; the last line is `N passed, N failed`. With arguments, only jest runs, with those.
 *
 * `npm run check`: linter, types, luacheck and the house rules, without a Redis.
 * `npm run test:long`: the `*.long.test.ts`; CI runs it after `npm test`. What fails beside others is run once more alone,
 * and named at the end even if it then passes: it needs a repair, or the machine was too busy.
 * `npm run test:store`: the tests whose result may depend on the store, with the redis-server or valkey-server of STORE, a file, or
 * the one that is installed: the engine, slots that move, connections, failovers.
 * `npm run mutants`: plants bugs, in copies of the scripts, the build, a contract and the model, and proves that the tests catch each.
 * `npm run test:random`: as `npm test`, with seeds and samples that are drawn; it prints them.
 * Figures and seeds that the tests print are shown at once, and lines with a seed again at the end.
 */
const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const { createInterface } = require('node:readline');
const { mkdtempSync, readFileSync, rmSync, symlinkSync } = require('node:fs');
const { availableParallelism, tmpdir } = require('node:os');
const path = require('node:path');
const { build, isStale } = require('./build.js');

const ROOT = path.join(__dirname, '..');
const NODE_MODULES = path.join(ROOT, 'node_modules');
const JEST = path.join(NODE_MODULES, 'jest/bin/jest.js');
const count = { passed: 0, failed: 0 };
/** The lines in which the tests of this run printed how to repeat them. */
const seeds = [];
/** What failed, for the end of a long output. */
const failures = [];
/** The results of each test file: how many tests passed, and the names of those that failed. */
const files = new Map();

const RULES = ['test/tidy.test.ts', 'test/tidy-names.test.ts'];
const LONG = '\\.long\\.test\\.ts$';
const LONG_TEST_MS = '600000';
const OF_THE_STORE = [
  'test/store/(engine/[^.]+|redis/.+|fuzz)\\.test',
  'test/faults/(moving-slot|failover-reads|moved-name|epoch|sentinel|replicated)\\.',
];

/** More memory for young objects, in jest's processes too: a test makes many, and half of the collections are saved. */
const YOUNG = '--max-semi-space-size=64';

const say = (line) => process.stdout.write(`${line}\n`);

function record(name, passed, output = '') {
  count[passed ? 'passed' : 'failed']++;
  if (!passed) failures.push(name);
  say(`${passed ? 'PASS' : 'FAIL'} ${name}`);
  if (!passed && output !== '') say(output);
}

/** A command that counts as one test. Its output is shown only when it fails. */
async function check(name, command, args) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  try {
    const [status] = await once(child, 'close');
    record(name, status === 0, output);
  } catch (error) {
    if (error.code === 'ENOENT')
      say(`SKIP ${name}: ${command} is not installed (Debian: apt-get install lua-check)`);
    else record(name, false, error.message);
  }
}

async function step(name, run) {
  try {
    await run();
    record(name, true);
    return true;
  } catch (error) {
    record(name, false, error.message);
    return false;
  }
}

/** Before jest starts, because all its workers would search for a Redis, or unpack one, at the same time. */
async function findRedis() {
  const { startRedis } = require('../dist/local/redis.js');
  await (await startRedis({ onProgress: say })).stop();
}

/** Tests start the redis-server that is on PATH. Returns the folder in which that of STORE has this name. */
function putStoreOnPath(store) {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-store-'));
  symlinkSync(path.resolve(store), path.join(folder, 'redis-server'));
  process.env.PATH = `${folder}${path.delimiter}${process.env.PATH}`;
  say(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).trim());
  return folder;
}

async function runJest(args) {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-jest-'));
  const report = path.join(folder, 'report.json');
  try {
    // Open handles of a failed test must not keep jest's processes running.
    const fixed = ['--ci', '--forceExit', '--json', '--outputFile', report];
    const jest = spawn(process.execPath, [YOUNG, JEST, ...fixed, ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: jest.stdout }).on('line', (line) => {
      say(line);
      if (/\bseeds?\b|SEED=/i.test(line)) seeds.push(line);
    });
    await once(jest, 'close');
    const { success, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    for (const { name, status, assertionResults } of testResults) {
      const file = path.relative(ROOT, name);
      const named = (wanted) => assertionResults.filter((result) => result.status === wanted);
      const failed = named('failed').map(({ fullName }) => `${file}: ${fullName}`);
      if (status === 'failed' && failed.length === 0) failed.push(file);
      files.set(file, { passed: named('passed').length, failed });
    }
    if (!success && failedFiles().length === 0) record('jest', false);
  } catch (error) {
    record('jest', false, error.message);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const failedFiles = () => [...files.keys()].filter((file) => files.get(file).failed.length > 0);

/** The stories of the long form start many processes each, and may be too slow beside one another. */
async function repeatAlone() {
  const again = failedFiles();
  if (again.length === 0) return;
  const names = again.flatMap((file) => files.get(file).failed);
  say(`Once more, alone:\n  ${names.join('\n  ')}`);
  await runJest(jestArguments('--long', ['--runTestsByPath', ...again], 1));
  const passed = again.filter((file) => files.get(file).failed.length === 0);
  if (passed.length > 0) say(`Failed beside others, passed alone:\n  ${passed.join('\n  ')}`);
}

/** One thread: each of several threads would check the shared types again, for twice the processor time. */
const types = (name, ...args) =>
  check(name, process.execPath, [path.join(NODE_MODULES, 'typescript/bin/tsc'), '--singleThreaded', ...args]);

const startChecks = () => [
  check('biome', process.execPath, [path.join(NODE_MODULES, '@biomejs/biome/bin/biome'), 'check', '.']),
  types('types', '-p', 'tsconfig.test.json'),
  types('types of the page', '-p', 'tsconfig.page.json'),
  types('types of the client', '-p', 'packages/client', '--outDir', '.cache/typecheck/client'),
  check('luacheck', 'luacheck', ['--quiet', 'lua', 'src/extensions']),
];

/** The arguments of jest for each form of the command. */
function jestArguments(form, args, workers = availableParallelism()) {
  if (form === '--check') return RULES;
  // Their stories start up to ten processes each: one worker for each processor, or they would fail as too slow.
  const patient = ['--testTimeout', LONG_TEST_MS, '--maxWorkers', String(workers)];
  if (form === '--long') return ['--testMatch', '**/*.long.test.ts', ...patient, ...args];
  if (form === '--store') return [...(args.length > 0 ? args : OF_THE_STORE), ...patient];
  if (form === '--mutants') return ['--testMatch', '**/*.mutants.ts', ...patient, ...args];
  // A file that is named is run, even if it takes long.
  if (args.length === 0) return ['--testPathIgnorePatterns', LONG];
  return args;
}

async function main() {
  const [first = '', ...more] = process.argv.slice(2);
  const form = ['--check', '--long', '--mutants', '--random', '--store'].includes(first) ? first : '';
  if (form === '--random') process.env.RANDOM = '1';
  const args = form === '' ? process.argv.slice(2) : more;
  const file = process.env.STORE;
  const store = form === '--store' && file ? putStoreOnPath(file) : null;
  // The types of all sources are checked once, with those of the tests.
  const built = await step('build', () => isStale() && build({ checked: false }));
  const needsRedis = form !== '--check';
  const ready = built && (!needsRedis || (await step('a Redis to test with', findRedis)));
  const whole = ['', '--random'].includes(form) && args.length === 0;
  // Before jest: they use every processor for some seconds, and an exchange under test would answer 503 meanwhile.
  if (form === '--check' || whole) await Promise.all(startChecks());
  if (ready) await runJest(jestArguments(form, args));
  if (form === '--long') await repeatAlone();
  if (store !== null) rmSync(store, { recursive: true });
  for (const { passed, failed } of files.values()) {
    count.passed += passed;
    count.failed += failed.length;
    failures.push(...failed);
  }
  if (seeds.length > 0) say(`Seeds of this run:\n  ${seeds.join('\n  ')}`);
  if (failures.length > 0) say(`Failed:\n  ${failures.join('\n  ')}`);
  say(`${count.passed} passed, ${count.failed} failed`);
  process.exitCode = count.failed === 0 ? 0 : 1;
}

main();
