/**
 * Builds the sources into dist: TypeScript and the page with esbuild, Lua with the bundler of src/lua-bundle. tsc only checks
 * the types, and keeps its notes in dist, so that it checks only changes. `--if-stale` does nothing when no source is newer
 * than the last build. `--unchecked` does not check them, which takes a tenth of the time and suits users who changed nothing.
 */
const { spawnSync } = require('node:child_process');
const { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const DIST = path.join(ROOT, 'dist');
const STAMP = path.join(DIST, '.built');
const CHECKED = path.join(DIST, '.checked');
const BOTS = path.join('src', 'demo.ts');
const SOURCES = [
  'src',
  'lua',
  'contracts/artifacts',
  'packages/client/src',
  'packages/client/package.json',
  'tsconfig.json',
  'tsconfig.page.json',
  'package-lock.json',
  'scripts/build.js',
  'scripts/build-page.js',
  'scripts/build-client.js',
];

/** The latest change of a path and everything below it; a folder is newer when a file was added or removed. */
function filesUnder(file) {
  if (!existsSync(file)) return [];
  if (!statSync(file).isDirectory()) return [file];
  return [file, ...readdirSync(file).flatMap((name) => filesUnder(path.join(file, name)))];
}

/** Without sources (as in an image) the build is never stale. `checked`: the types were checked. */
function isStale({ checked = false } = {}) {
  const stamp = checked ? CHECKED : STAMP;
  if (!existsSync(path.join(ROOT, 'src'))) return false;
  if (!existsSync(stamp)) return true;
  const builtAtMs = statSync(stamp).mtimeMs;
  return SOURCES.flatMap((name) => filesUnder(path.join(ROOT, name))).some(
    (file) => statSync(file).mtimeMs > builtAtMs,
  );
}

/** Deletes the output of deleted sources, so that no test and no require finds it. */
function removeOrphans() {
  for (const file of filesUnder(DIST)) {
    // The build deletes and recreates the pages' folders each time.
    if (['page', 'docs'].some((name) => file.startsWith(path.join(DIST, name) + path.sep))) continue;
    const source = path.join(ROOT, 'src', path.relative(DIST, file)).replace(/\.js(\.map)?$/, '.ts');
    if (/\.js(\.map)?$/.test(file) && !existsSync(source)) rmSync(file);
  }
}

/** `notes` is where tsc stores its notes. */
function check(project, notes) {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  if (!existsSync(tsc)) throw new Error('typescript is not installed: run npm ci (without --omit=dev) first');
  const args = [tsc, '-p', project, '--incremental', '--tsBuildInfoFile', path.join(DIST, notes)];
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) throw new Error('the types do not fit: see above');
}

const TRANSLATION = {
  absWorkingDir: ROOT,
  outbase: 'src',
  outdir: 'dist',
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  sourcemap: true,
  logLevel: 'warning',
};

/** Builds each source separately, except the bots, whose program includes the client. */
function translate() {
  const { buildSync } = require('esbuild');
  const sources = filesUnder(path.join(ROOT, 'src')).filter((file) => file.endsWith('.ts'));
  const entryPoints = sources
    .map((file) => path.relative(ROOT, file))
    .filter((file) => !file.startsWith(`src${path.sep}page${path.sep}`) && file !== BOTS);
  buildSync({ ...TRANSLATION, entryPoints });
  const alias = { 'ctf-exchange-client': path.join(ROOT, 'packages/client/src/index.ts') };
  buildSync({ ...TRANSLATION, entryPoints: [BOTS], bundle: true, packages: 'external', alias });
}

/** A host that builds without the repository passes the commit in SOURCE_VERSION. */
function commit() {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
  return process.env.SOURCE_VERSION || (existsSync(path.join(ROOT, '.git')) && stdout) || '';
}

function stamp(file, at) {
  writeFileSync(file, '');
  // A source that is saved during the build must count as newer.
  utimesSync(file, at, at);
}

/** A production installation lacks them, and the checks would fail first, with a page of missing types. */
function requireTools() {
  try {
    require.resolve('esbuild');
  } catch {
    throw new Error('the build needs the development dependencies: run npm ci --include=dev');
  }
}

function build({ checked = true } = {}) {
  requireTools();
  const startedAt = new Date();
  if (checked) {
    check('tsconfig.json', '.tsbuildinfo');
    check('tsconfig.page.json', '.tsbuildinfo-page');
  }
  translate();
  writeFileSync(path.join(DIST, 'commit'), commit());
  require('./build-client.js').buildClient({ checked });
  removeOrphans();
  // It needs packages that a production installation lacks.
  require('./build-page.js').buildPage();
  const { writeBundles } = require(path.join(DIST, 'lua-bundle/bundle.js'));
  for (const [funds, folder] of Object.entries({ paper: 'lua', chain: 'lua-chain' })) {
    const scripts = path.join(DIST, folder);
    rmSync(scripts, { recursive: true, force: true });
    writeBundles(ROOT, scripts, funds);
  }
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
