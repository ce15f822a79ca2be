/** Lets a plain node process that a test starts require the TypeScript sources: `node -r test/support/typescript.js`. */
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { getCacheKey, translate } = require('./translate.js');

/** Caches translated sources: a process requires hundreds of them, and most have not changed. */
const CACHE = path.join(__dirname, '../../.cache/typescript');

function translated(filename) {
  const source = readFileSync(filename, 'utf8');
  const kept = path.join(CACHE, `${getCacheKey(source, filename)}.js`);
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    const code = translate(source, filename);
    mkdirSync(CACHE, { recursive: true });
    // Other processes may do the same: a file appears whole.
    const unfinished = `${kept}.${process.pid}`;
    writeFileSync(unfinished, code);
    renameSync(unfinished, kept);
    return code;
  }
}

require.extensions['.ts'] = (module, filename) => {
  module._compile(translated(filename), filename);
};
