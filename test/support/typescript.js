/** Lets a plain node process that a test starts require the TypeScript sources: `node -r test/support/typescript.js`. */
const { readFileSync } = require('node:fs');
const { translate } = require('./translate.js');

require.extensions['.ts'] = (module, filename) => {
  module._compile(translate(readFileSync(filename, 'utf8'), filename), filename);
};
