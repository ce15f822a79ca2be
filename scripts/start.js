/** Installs and builds what is missing or outdated, then continues in src/local/start.ts. */
const { spawn } = require('node:child_process');
const { accessSync, constants, existsSync, mkdirSync } = require('node:fs');
const path = require('node:path');
const { parseArgs } = require('node:util');

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

/** Throws where the folder cannot be written, before anything fails halfway. */
function checkWritable() {
  const cache = path.join(ROOT, '.cache');
  try {
    mkdirSync(cache, { recursive: true });
    for (const folder of [cache, ...(isStale() ? [ROOT] : [])]) accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Error(
      `${ROOT} cannot be written (${error.code}): npm start installs and builds there what is missing, and keeps its logs in .cache; copy the project to a folder of your own`,
    );
  }
}

/** The number behind `--replicas`; null without it. */
function replicasOf(args) {
  const { replicas } = parseArgs({ args, options: { replicas: { type: 'string' } } }).values;
  if (replicas === undefined) return null;
  if (!/^[1-8]$/.test(replicas)) throw new Error(`--replicas must be 1 to 8, not ${replicas}`);
  return Number(replicas);
}

/** An older Node may do, and a failure behind this line has an explanation. */
function reportOldNode() {
  const wanted = /\d+/.exec(require('../package.json').engines.node)[0];
  if (Number.parseInt(process.versions.node, 10) < Number(wanted))
    say(`Node ${wanted} or newer is needed, and this is ${process.version}: what follows may fail`);
}

async function main() {
  const replicas = replicasOf(process.argv.slice(2));
  reportOldNode();
  checkWritable();
  if (!existsSync(path.join(ROOT, 'node_modules')) && existsSync(path.join(ROOT, 'src'))) {
    say('installing the packages (npm ci, once)');
    await step('installing', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  }
  if (isStale()) {
    say('building (a few seconds)');
    await step('building', process.execPath, [path.join(__dirname, 'build.js'), '--unchecked']);
  }
  await require('../dist/local/start.js').start(undefined, replicas);
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
