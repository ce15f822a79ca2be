/**
 * Sources into dist: TypeScript through tsc, Lua through the bundler the store brings, the page through esbuild.
 * Incremental: tsc keeps its notes in dist. `--if-stale` does nothing when no source is newer than the last build;
 * `--unchecked` translates without looking at the types, in a tenth of the time: whoever starts the exchange has not
 * changed it.
 */
const { spawnSync } = require('node:child_process');
const { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const DIST = path.join(ROOT, 'dist');
const STAMP = path.join(DIST, '.built');
const CHECKED = path.join(DIST, '.checked');
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

/** Without sources (an image has none) what is built is what there is. `checked`: with its types looked at. */
function isStale({ checked = false } = {}) {
  const stamp = checked ? CHECKED : STAMP;
  if (!existsSync(path.join(ROOT, 'src'))) return false;
  if (!existsSync(stamp)) return true;
  const builtAtMs = statSync(stamp).mtimeMs;
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

/** The same files as tsc makes, each for itself. */
function translate() {
  const sources = filesUnder(path.join(ROOT, 'src')).filter((file) => file.endsWith('.ts'));
  require('esbuild').buildSync({
    entryPoints: sources.filter((file) => !file.startsWith(path.join(ROOT, 'src/page') + path.sep)),
    outbase: path.join(ROOT, 'src'),
    outdir: DIST,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    logLevel: 'warning',
  });
}

function stamp(file, at) {
  writeFileSync(file, '');
  // A source saved while the build ran must count as newer.
  utimesSync(file, at, at);
}

function build({ checked = true } = {}) {
  const startedAt = new Date();
  if (checked) {
    compile('tsconfig.json', '.tsbuildinfo');
    // Only checks: esbuild asks no types.
    compile('tsconfig.page.json', '.tsbuildinfo-page');
  } else translate();
  removeOrphans();
  // Needs what an installation for production has not.
  require('./build-page.js').buildPage();
  const scripts = path.join(DIST, 'lua');
  rmSync(scripts, { recursive: true, force: true });
  require(path.join(DIST, 'store/bundle.js')).writeBundles(path.join(ROOT, 'lua'), scripts);
  stamp(STAMP, startedAt);
  if (checked) stamp(CHECKED, startedAt);
}

module.exports = { build, isStale };

if (require.main === module) {
  try {
    const checked = !process.argv.includes('--unchecked');
    if (!process.argv.includes('--if-stale') || isStale({ checked })) build({ checked });
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
