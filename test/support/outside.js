/**
 * Modules that every test file would load and warm up again for itself, since jest gives each a sandbox: these are loaded
 * once in each of jest's processes, outside the sandbox. They keep nothing between two calls, take and give nothing whose
 * class matters (the sandbox has its own Error, RegExp and Map), and are not what the tests replace.
 */
const { statSync } = require('node:fs');
require('./typescript.js');

const MODULES = {
  // The documents with their compiled schemas, and what is compared with them.
  contract: './contract.ts',
  ethers: 'ethers',
};

let loadedAtMs = 0;

/** `jest --watch` keeps its process: sources that were changed since are loaded again. */
function forgetOldSources() {
  const sources = Object.keys(require.cache).filter((file) => file.endsWith('.ts'));
  if (!sources.some((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs > loadedAtMs)) return;
  for (const file of sources) delete require.cache[file];
  loadedAtMs = Date.now();
}

/** For one test file, which sees the same of a module from its first to its last use. */
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
