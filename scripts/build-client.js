/**
 * packages/client/src into packages/client/dist: one module for `import` (dist/esm), one for `require` (dist/cjs), each with
 * its declarations. `--unchecked` leaves the declarations out. `npm pack` runs it, too.
 */
const { spawnSync } = require('node:child_process');
const { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const PACKAGE = path.join(ROOT, 'packages/client');
const ESM = path.join(PACKAGE, 'dist/esm');
const CJS = path.join(PACKAGE, 'dist/cjs');
/** Node runs it as it is; a page's bundler lowers it further. */
const TARGET = 'es2022';

function bundle(format, outdir) {
  require('esbuild').buildSync({
    absWorkingDir: PACKAGE,
    entryPoints: ['src/index.ts'],
    bundle: true,
    packages: 'external',
    platform: 'neutral',
    target: TARGET,
    format,
    outdir,
    sourcemap: true,
    logLevel: 'warning',
  });
}

/** An ECMAScript module names the file it imports, with its ending; the sources leave it out. */
function declare() {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', PACKAGE], { stdio: 'inherit' });
  if (status !== 0) throw new Error("the client's types do not fit: see above");
  for (const name of readdirSync(ESM).filter((file) => file.endsWith('.d.ts'))) {
    const file = path.join(ESM, name);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/((?:from |import\()['"]\.\/[\w-]+)/g, '$1.js'));
    cpSync(file, path.join(CJS, name));
  }
}

function buildClient({ checked = true } = {}) {
  rmSync(path.join(PACKAGE, 'dist'), { recursive: true, force: true });
  bundle('esm', ESM);
  bundle('cjs', CJS);
  // The package's own does not say so, because its sources are read as CommonJS by the tests.
  writeFileSync(path.join(ESM, 'package.json'), '{ "type": "module" }\n');
  if (checked) declare();
}

module.exports = { buildClient };

if (require.main === module) {
  try {
    buildClient({ checked: !process.argv.includes('--unchecked') });
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
