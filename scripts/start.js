/** Installs and builds what is missing or outdated, then continues in src/local/start.ts. */
const { spawn } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');

process.setSourceMapsEnabled(true);
const { isStale } = require('./build.js');

const ROOT = path.join(__dirname, '..');
const TELL_EVERY_MS = 1_000;

const say = (line) => process.stdout.write(`${line}\n`);

/** Runs a step to its end; a terminal shows a line that counts the seconds. An interrupt ends both. */
function step(what, command, args) {
  const startedAtMs = Date.now();
  // Errors of a step go to stderr.
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const { stdout } = process;
  const tell = () => stdout.write(`\r${what} (${Math.round((Date.now() - startedAtMs) / 1000)} s)`);
  const timer = stdout.isTTY ? setInterval(tell, TELL_EVERY_MS) : undefined;
  const interrupt = () => {
    child.kill();
    process.exit(0);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, interrupt);
  return new Promise((resolve, reject) => {
    const settle = (error) => {
      clearInterval(timer);
      if (stdout.isTTY) stdout.write('\r\u001b[K');
      for (const signal of signals) process.off(signal, interrupt);
      if (error) reject(error);
      else resolve();
    };
    child.once('error', settle);
    child.once('exit', (code) => settle(code === 0 ? null : new Error(`${what} failed`)));
  });
}

async function main() {
  if (!existsSync(path.join(ROOT, 'node_modules')) && existsSync(path.join(ROOT, 'src'))) {
    say('installing the packages (npm ci, once)');
    await step('installing', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  }
  if (isStale()) {
    say('building (a few seconds)');
    await step('building', process.execPath, [path.join(__dirname, 'build.js'), '--unchecked']);
  }
  await require('../dist/local/start.js').start();
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
