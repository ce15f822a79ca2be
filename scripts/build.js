/**
 * Sources into dist: TypeScript through tsc, Lua through the bundler the store brings, the page through esbuild.
 * Incremental: tsc keeps its notes in dist. `--if-stale` does nothing when no source is newer than the last build.
 */
const { spawnSync } = require('node:child_process');
const { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const DIST = path.join(ROOT, 'dist');
const STAMP = path.join(DIST, '.built');
const SOURCES = [
  'src',
  'lua',
  'tsconfig.json',
  'tsconfig.page.json',
  'package-lock.json',
  'scripts/build.js',
  'scripts/build-page.js',
];

/** A path and all below it; a folder is newer when a file was added or removed. */
function filesUnder(file) {
  if (!existsSync(file)) return [];
  if (!statSync(file).isDirectory()) return [file];
  return [file, ...readdirSync(file).flatMap((name) => filesUnder(path.join(file, name)))];
}

/** Without sources (an image has none) what is built is what there is. */
function isStale() {
  if (!existsSync(path.join(ROOT, 'src'))) return false;
  if (!existsSync(STAMP)) return true;
  const builtAtMs = statSync(STAMP).mtimeMs;
  return SOURCES.flatMap((name) => filesUnder(path.join(ROOT, name))).some(
    (file) => statSync(file).mtimeMs > builtAtMs,
  );
}

/** tsc leaves the output of a deleted source behind; a test or a require must not find it. */
function removeOrphans() {
  for (const file of filesUnder(DIST)) {
    // The page's folder is made anew each time.
    if (file.startsWith(path.join(DIST, 'page') + path.sep)) continue;
    const source = path.join(ROOT, 'src', path.relative(DIST, file)).replace(/\.js(\.map)?$/, '.ts');
    if (/\.js(\.map)?$/.test(file) && !existsSync(source)) rmSync(file);
  }
}

/** `notes` is where tsc keeps what it knows of the last time. */
function compile(project, notes) {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  if (!existsSync(tsc)) throw new Error('typescript is not installed: run npm ci (without --omit=dev) first');
  const args = [tsc, '-p', project, '--incremental', '--tsBuildInfoFile', path.join(DIST, notes)];
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('the build failed');
}

function build() {
  const startedAt = new Date();
  compile('tsconfig.json', '.tsbuildinfo');
  // Only checks: esbuild asks no types.
  compile('tsconfig.page.json', '.tsbuildinfo-page');
  removeOrphans();
  // Needs what an installation for production has not.
  require('./build-page.js').buildPage();
  const scripts = path.join(DIST, 'lua');
  rmSync(scripts, { recursive: true, force: true });
  require(path.join(DIST, 'store/bundle.js')).writeBundles(path.join(ROOT, 'lua'), scripts);
  writeFileSync(STAMP, '');
  // A source saved while tsc ran must count as newer.
  utimesSync(STAMP, startedAt, startedAt);
}

module.exports = { build, isStale };

if (require.main === module) {
  try {
    if (!process.argv.includes('--if-stale') || isStale()) build();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
