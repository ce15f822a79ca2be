/**
 * `npm run dev`: runs the exchange as `npm start` does, and rebuilds and restarts it after a change of a source. The
 * session's Redis survives the restarts, with its markets, orders and sign-ins. Ctrl-C ends everything.
 */
const { spawn, spawnSync } = require('node:child_process');
const { randomBytes } = require('node:crypto');
const { watch } = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const WATCHED = ['src', 'lua', 'packages/client/src'];
/** Waits for further files of the same save. */
const SETTLE_MS = 200;
const STOP_MS_MAX = 6_000;

const say = (line) => process.stdout.write(`${line}\n`);
const build = () =>
  spawnSync(process.execPath, [path.join(__dirname, 'build.js'), '--unchecked'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  }).status === 0;

async function main() {
  if (!build()) process.exit(1);
  const { startRedis } = require('../dist/local/redis.js');
  const redis = process.env.REDIS_URL ? null : await startRedis();
  const env = {
    JWT_SECRET: randomBytes(32).toString('hex'),
    ADMIN_TOKEN: randomBytes(24).toString('hex'),
    ...process.env,
    REDIS_URL: process.env.REDIS_URL ?? redis.url,
  };
  let exchange = null;
  let timer;
  let busy = false;
  let again = false;

  const start = () => {
    exchange = spawn(
      process.execPath,
      ['--enable-source-maps', '-e', 'require("./dist/local/start.js").start()'],
      {
        cwd: ROOT,
        env,
        stdio: 'inherit',
      },
    );
  };
  const stop = () =>
    new Promise((resolve) => {
      if (!exchange || exchange.exitCode !== null) return resolve();
      const force = setTimeout(() => exchange.kill('SIGKILL'), STOP_MS_MAX);
      exchange.once('exit', () => {
        clearTimeout(force);
        resolve();
      });
      exchange.kill('SIGINT');
    });

  async function restart() {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    say('a source changed: building');
    // A source that does not build leaves the running exchange unchanged.
    if (build()) {
      await stop();
      start();
    }
    busy = false;
    if (again) {
      again = false;
      restart();
    }
  }

  start();
  for (const folder of WATCHED) {
    watch(path.join(ROOT, folder), { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(restart, SETTLE_MS);
    });
  }
  const end = async () => {
    await stop();
    await redis?.stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end);
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
