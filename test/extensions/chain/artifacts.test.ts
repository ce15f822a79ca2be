import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Interface } from 'ethers';
import { MARKET_EXCHANGE } from '../../../src/chain/artifacts';
import { interfaceOf } from './rpc';

const { CONTRACTS, fileOf, sourcesHash } = require('../../../scripts/contracts.js') as {
  readonly CONTRACTS: readonly string[];
  readonly fileOf: (name: string) => string;
  readonly sourcesHash: () => string;
};

/** The limit of the chain for the code of a contract (EIP-170), and for the code that creates it (EIP-3860). */
const CREATION_MAX_BYTES = 49_152;

interface Kept {
  readonly sourcesHash: string;
  readonly bytecode: string;
}
const kept = CONTRACTS.map((name) => JSON.parse(readFileSync(fileOf(name), 'utf8')) as Kept);

test('contracts/artifacts has the artifact of every contract, and no other file', () => {
  const files = readdirSync(path.dirname(fileOf('')));
  expect(files.sort()).toEqual(CONTRACTS.map((name) => `${name}.json`).sort());
});

test('the artifacts are compiled from the sources, the library, the compiler and the settings of this tree', () => {
  // Otherwise: npm run contracts. The long form of the tests compiles again and compares every byte.
  expect(kept.map((artifact) => artifact.sourcesHash)).toEqual(CONTRACTS.map(() => sourcesHash()));
});

test('the code that creates a contract fits a transaction', () => {
  const bytes = kept.map(({ bytecode }) => bytecode.length / 2 - 1);
  expect(bytes.filter((count) => count < 500 || count > CREATION_MAX_BYTES)).toEqual([]);
});

test('functions, events and errors of the CTF exchange have the same signature here, but for those of other wallets', () => {
  const sdk = path.join(__dirname, '../../../node_modules/@predictdotfun/sdk/dist/abis/CTFExchange.json');
  const signaturesOf = (abi: Interface): string[] =>
    abi.fragments.flatMap((fragment) =>
      fragment.type === 'constructor' ? [] : [`${fragment.type} ${fragment.format('sighash')}`],
    );
  const own = new Set(signaturesOf(interfaceOf(MARKET_EXCHANGE)));
  const theirs = signaturesOf(new Interface(JSON.parse(readFileSync(sdk, 'utf8'))));
  const missing = theirs.filter((signature) => !own.has(signature));
  // Here a cancel or a raise takes effect after a delay, and its events say whether it was requested or is in force.
  expect(missing.filter((signature) => !/proxy|safe|fillOrder/i.test(signature))).toEqual([
    'event NonceIncremented(address,uint256)',
    'event OrderCancelled(bytes32)',
  ]);
  expect(theirs.length - missing.length).toBeGreaterThan(60);
});
