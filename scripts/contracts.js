/**
 * `npm run contracts`: compiles contracts/*.sol and writes contracts/artifacts, which are committed: the exchange runs
 * without the compiler. A test compiles them again and compares.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');
const SOURCES = path.join(ROOT, 'contracts');
const ARTIFACTS = path.join(SOURCES, 'artifacts');

/** The contracts of which an artifact is kept, each in the file of its name. */
const CONTRACTS = ['MarketExchange', 'TestCollateral', 'WalletReader', 'SignatureProbe'];

const SETTINGS = {
  optimizer: { enabled: true, runs: 1_000_000 },
  viaIR: true,
  // BNB Chain runs it since June 2024. Newer opcodes are not needed.
  evmVersion: 'cancun',
  // Without it a change of a comment would change the bytecode.
  metadata: { bytecodeHash: 'none', appendCBOR: false },
};

/** A warning of the compiler about any use of transient storage: what is kept there is meant to last for the transaction. */
const TRANSIENT_STORAGE = '2394';

const read = (file) => readFileSync(file, 'utf8');
const sourceNames = () =>
  readdirSync(SOURCES)
    .filter((name) => name.endsWith('.sol'))
    .sort();

/** The hash of all sources, of the library's version and of the settings: it says whether the artifacts are of them. */
function sourcesHash() {
  const hash = createHash('sha256');
  for (const name of sourceNames()) hash.update(`${name}\n${read(path.join(SOURCES, name))}\n`);
  hash.update(JSON.stringify([SETTINGS, ...['@openzeppelin/contracts', 'solc'].map(digestOf)]));
  return hash.digest('hex');
}

/** The digest of a locked package. */
const digestOf = (name) => require('../package-lock.json').packages[`node_modules/${name}`].integrity;

function importLibrary(name) {
  try {
    return { contents: read(require.resolve(name)) };
  } catch (error) {
    return { error: error.message };
  }
}

/**
 * Returns the artifacts of these contracts, each in the source of its name, by name. Throws with the compiler's messages,
 * warnings included.
 */
function compileSources(sources, names) {
  // It takes a second to load, and only a compilation needs it.
  const solc = require('solc');
  const input = {
    language: 'Solidity',
    sources,
    settings: { ...SETTINGS, outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
  };
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (name) => (name.startsWith('@') ? importLibrary(name) : { error: 'not found' }),
    }),
  );
  const messages = (output.errors ?? [])
    .filter(({ errorCode }) => errorCode !== TRANSIENT_STORAGE)
    .map(({ formattedMessage }) => formattedMessage);
  if (messages.length > 0) throw new Error(`the contracts do not compile cleanly:\n${messages.join('\n')}`);
  const about = { compiler: solc.version(), settings: SETTINGS, sourcesHash: sourcesHash() };
  return new Map(
    names.map((name) => {
      const { abi, evm } = output.contracts[`${name}.sol`][name];
      return [name, { contractName: name, ...about, abi, bytecode: `0x${evm.bytecode.object}` }];
    }),
  );
}

/** Returns the artifacts of contracts/ as they would be written now. */
function compile() {
  const sources = sourceNames().map((name) => [name, { content: read(path.join(SOURCES, name)) }]);
  return compileSources(Object.fromEntries(sources), CONTRACTS);
}

const fileOf = (name) => path.join(ARTIFACTS, `${name}.json`);
const textOf = (artifact) => `${JSON.stringify(artifact, null, 1)}\n`;

function write() {
  const compiled = compile();
  rmSync(ARTIFACTS, { recursive: true, force: true });
  mkdirSync(ARTIFACTS, { recursive: true });
  for (const [name, artifact] of compiled) {
    writeFileSync(fileOf(name), textOf(artifact));
    process.stdout.write(`${name}: ${artifact.bytecode.length / 2 - 1} bytes\n`);
  }
}

module.exports = { CONTRACTS, compile, compileSources, fileOf, sourcesHash, textOf };

if (require.main === module) {
  try {
    write();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
