/**
 * jest-circus, loaded outside jest's sandbox as the test files are: in the sandbox each file would load it and `expect` again,
 * which takes as long as many tests. One of its modules has the state of a file, and is loaded for each file.
 */
const { default: circus } = require('jest-circus/runner');

/** Where that module stores a file's tests and what follows their events. */
const STATE = ['JEST_STATE_SYMBOL', 'EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'];
/** `jest.setTimeout` writes here. */
const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

function forgetFile() {
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (STATE.includes(symbol.description)) delete globalThis[symbol];
  // Otherwise every instance of it would be kept in memory.
  module.children = [];
}

module.exports = (globalConfig, config, environment, runtime, ...more) => {
  forgetFile();
  Object.defineProperty(environment.global, TIMEOUT, {
    configurable: true,
    set: (timeoutMs) => {
      globalThis[TIMEOUT] = timeoutMs;
    },
  });
  runtime.requireInternalModule = (file) => {
    delete require.cache[file];
    return require(file);
  };
  return circus(globalConfig, config, environment, runtime, ...more);
};
