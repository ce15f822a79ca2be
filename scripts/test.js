/**
 * `npm test`: builds, sees to a Redis, then linter, type checker, luacheck (where it is installed) and jest.
 * All of them run whatever fails; the last line is `N passed, N failed`. With arguments, only jest runs, with those.
 */
const { spawnSync } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { build, isStale } = require('./build.js');

const ROOT = path.join(__dirname, '..');
const NODE_MODULES = path.join(ROOT, 'node_modules');
const JEST = path.join(NODE_MODULES, 'jest/bin/jest.js');
const count = { passed: 0, failed: 0 };

const say = (line) => process.stdout.write(`${line}\n`);

function record(name, passed, output = '') {
  count[passed ? 'passed' : 'failed']++;
  say(`${passed ? 'PASS' : 'FAIL'} ${name}`);
  if (!passed && output !== '') say(output);
}

/** A command that counts as one test. Its output matters only when it fails. */
function check(name, command, args) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error?.code === 'ENOENT')
    say(`SKIP ${name}: ${command} is not installed (Debian: apt-get install lua-check)`);
  else record(name, status === 0, `${stdout}${stderr}`);
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

/** Before jest's workers would all look for one, or unpack one, at the same time. */
async function findRedis() {
  const { startRedis } = require('../dist/local/redis.js');
  await (await startRedis({ onProgress: say })).stop();
}

function runJest(args) {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-jest-'));
  const report = path.join(folder, 'report.json');
  try {
    spawnSync(process.execPath, [JEST, '--ci', '--json', '--outputFile', report, ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, success } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    count.passed += numPassedTests;
    count.failed += numFailedTests + numRuntimeErrorTestSuites;
    if (!success && numFailedTests + numRuntimeErrorTestSuites === 0) record('jest', false);
  } catch (error) {
    record('jest', false, error.message);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  const args = process.argv.slice(2);
  const built = await step('build', () => isStale({ checked: true }) && build());
  const ready = built && (await step('a Redis to test with', findRedis));
  if (args.length === 0) {
    check('biome', process.execPath, [path.join(NODE_MODULES, '@biomejs/biome/bin/biome'), 'check', '.']);
    check('types', process.execPath, [
      path.join(NODE_MODULES, 'typescript/bin/tsc'),
      '-p',
      'tsconfig.test.json',
      '--incremental',
      '--tsBuildInfoFile',
      path.join(ROOT, '.cache/tsc-test.json'),
    ]);
    check('luacheck', 'luacheck', ['--quiet', 'lua']);
  }
  if (ready) runJest(args);
  say(`${count.passed} passed, ${count.failed} failed`);
  process.exitCode = count.failed === 0 ? 0 : 1;
}

main();
