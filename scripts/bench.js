/** Runs bench/main.ts, the scripts and the modules from the sources, without a build. */
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const hook = path.join(ROOT, 'test/support/typescript.js');
const args = ['-r', hook, path.join(ROOT, 'bench/main.ts'), ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
process.exitCode = status ?? 1;
