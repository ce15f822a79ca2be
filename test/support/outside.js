/**
 * Modules that every test file would load and warm up again, because jest gives each file a sandbox: these are loaded once
 * in each of jest's processes, outside the sandbox. They keep no state between calls, their arguments and results do not
 * depend on a class (the sandbox has its own Error, RegExp and Map), and no test replaces them.
 */
const { statSync } = require('node:fs');
require('./typescript.js');

const MODULES = {
  ajv: 'ajv',
  // The documents with their compiled schemas, and the data with which they are compared.
  contract: './contract.ts',
  ethers: 'ethers',
};

let loadedAtMs = 0;

/** `jest --watch` keeps its process: changed sources are loaded again. */
function forgetOldSources() {
  const sources = Object.keys(require.cache).filter((file) => file.endsWith('.ts'));
  if (!sources.some((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs > loadedAtMs)) return;
  for (const file of sources) delete require.cache[file];
  loadedAtMs = Date.now();
}

/** For one test file, which uses the same version of a module from its first to its last use. */
function createOutside() {
  const loaded = new Map();
  return (name) => {
    if (!loaded.has(name)) {
      forgetOldSources();
      loaded.set(name, require(MODULES[name]));
    }
    return loaded.get(name);
  };
}

module.exports = { createOutside };
