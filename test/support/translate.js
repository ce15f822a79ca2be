/** TypeScript to CommonJS with esbuild: jest's transformer, and what test/support/typescript.js uses outside jest. */
const { transformSync, version } = require('esbuild');
const { createHash } = require('node:crypto');

const OPTIONS = {
  loader: 'ts',
  format: 'cjs',
  target: 'node20',
  sourcemap: 'inline',
  // jest runs CommonJS only: import() becomes a require that is put off.
  supported: { 'dynamic-import': false },
};

const translate = (source, filename) => transformSync(source, { ...OPTIONS, sourcefile: filename }).code;

module.exports = {
  translate,
  process: (source, filename) => ({ code: translate(source, filename) }),
  getCacheKey: (source, filename) =>
    createHash('sha1')
      .update(`${version} ${JSON.stringify(OPTIONS)} ${filename}\n${source}`)
      .digest('hex'),
};
