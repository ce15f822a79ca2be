/**
 * Builds packages/client/src into packages/client/dist: one module for `import` (esm), one for `require` (cjs), each with
 * its declarations. `--unchecked` accepts types that do not fit. `npm pack -w ctf-exchange-client` runs it, too.
 */
const { spawnSync } = require('node:child_process');
const { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const PACKAGE = path.join(ROOT, 'packages/client');
/** Node runs this level unchanged; a page's bundler lowers it further. */
const TARGET = 'es2022';

/** A file for each source, so that the bundler of a program that needs no sockets leaves Socket.IO out. */
function translate(format, outdir) {
  require('esbuild').buildSync({
    absWorkingDir: PACKAGE,
    entryPoints: readdirSync(path.join(PACKAGE, 'src')).map((name) => `src/${name}`),
    platform: 'neutral',
    target: TARGET,
    format,
    outdir,
    sourcemap: true,
    logLevel: 'warning',
  });
}

/** An ECMAScript module imports files with their extension, which the sources omit. */
function addExtensions(folder, ending) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(ending))) {
    const file = path.join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/((?:from |import\()['"]\.\/[\w-]+)/g, '$1.js'));
  }
}

function declare(esm, cjs, checked) {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', PACKAGE, '--outDir', esm], { stdio: 'inherit' });
  if (checked && status !== 0) throw new Error("the client's types do not fit: see above");
  addExtensions(esm, '.d.ts');
  for (const name of readdirSync(esm).filter((file) => file.endsWith('.d.ts')))
    cpSync(path.join(esm, name), path.join(cjs, name));
}

function buildClient({ checked = true, output = path.join(PACKAGE, 'dist') } = {}) {
  const [esm, cjs] = [path.join(output, 'esm'), path.join(output, 'cjs')];
  rmSync(output, { recursive: true, force: true });
  translate('esm', esm);
  addExtensions(esm, '.js');
  translate('cjs', cjs);
  // The package itself says "commonjs", because the tests read its sources that way.
  writeFileSync(path.join(esm, 'package.json'), '{ "type": "module", "sideEffects": false }\n');
  declare(esm, cjs, checked);
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
