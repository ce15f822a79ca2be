/**
 * Test files run outside jest's sandbox, in which every file would load all packages and sources again: that took longer
 * than most tests. Jest compiles one line for each file (test/support/shim.js), which calls `load`. Sources and packages are
 * loaded once in each of jest's processes, and the modules of test once for each file.
 */
const Module = require('node:module');
const path = require('node:path');
require('./typescript.js');
process.setSourceMapsEnabled(true);

const TEST = path.join(__dirname, '../');
/** Packages that the tests replace, wherever they are required but in the replacement itself. */
const REPLACED = {
  // Its sources: what is tested needs no build.
  'ctf-exchange-client': path.join(TEST, '../packages/client/src/index.ts'),
  'ctf-exchange-client/safe': path.join(TEST, '../packages/client/src/safe.ts'),
  'socket.io-client': path.join(__dirname, 'socket-client.ts'),
};

const { _resolveFilename: resolve } = Module;
Module._resolveFilename = function (name, from, ...more) {
  return REPLACED[name] ?? resolve.call(this, name, from, ...more);
};

/** What wraps functions of Node or of a package, and what takes a second: the documents with their schemas, and patched scripts. */
const KEPT = [
  ...['api.ts', 'contract.ts', 'schemas.ts', 'socket-client.ts', 'watch.ts'],
  '../store/fuzzing/scripts.ts',
].map((name) => path.join(__dirname, name));

/**
 * Modules of test keep their state during one file only, so that no file depends on those that ran before it. `jest --watch`
 * keeps its processes while sources change.
 */
function startFile(isWatching) {
  // Otherwise the modules of every file would be kept in memory.
  module.children = [];
  for (const file of Object.keys(require.cache)) {
    const isOld = isWatching || (file.startsWith(TEST) && !KEPT.includes(file));
    if (isOld && file.endsWith('.ts')) delete require.cache[file];
  }
}

/** Stacks name the lines of the sources, as jest's do, which knows of translated files in its sandbox only. */
function formatStack(error, frames) {
  const lines = frames.map((frame) => {
    const [file, line, column] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()];
    const entry = file?.endsWith('.ts') && Module.findSourceMap(file)?.findEntry(line - 1, column - 1);
    if (!Number.isInteger(entry?.originalLine)) return `    at ${frame}`;
    const place = `${entry.originalLine + 1}:${entry.originalColumn + 1}`;
    return `    at ${frame}`.replace(`:${line}:${column}`, `:${place}`);
  });
  return `${error.name}: ${error.message}\n${lines.join('\n')}`;
}

/** Runs a file of the tests with the functions of jest that belong to this run of it. */
function load(file, jestGlobals) {
  Error.prepareStackTrace = formatStack;
  Object.assign(globalThis, jestGlobals);
  delete require.cache[file];
  require(file);
}

module.exports = { load, startFile };
