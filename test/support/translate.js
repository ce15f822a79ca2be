/** TypeScript to CommonJS with esbuild: jest's transformer, and what test/support/typescript.js uses outside jest. */
const { createHash } = require('node:crypto');
const { version } = require('esbuild/package.json');

const OPTIONS = {
  loader: 'ts',
  format: 'cjs',
  target: 'node20',
  sourcemap: 'inline',
  // jest runs only CommonJS: import() becomes a deferred require.
  supported: { 'dynamic-import': false },
};

/** esbuild is loaded by the first source that needs it. */
const translate = (source, filename) =>
  require('esbuild').transformSync(source, { ...OPTIONS, sourcefile: filename }).code;

module.exports = {
  translate,
  process: (source, filename) => ({ code: translate(source, filename) }),
  getCacheKey: (source, filename) =>
    createHash('sha1')
      .update(`${version} ${JSON.stringify(OPTIONS)} ${filename}\n${source}`)
      .digest('hex'),
};
