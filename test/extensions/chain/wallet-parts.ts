import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { AbiCoder, computeAddress, concat, getBytes, Signature, type SigningKey, toBeHex } from 'ethers';
import type { Artifact } from '../../../src/chain/artifacts';
import { ROOT } from '../../support/processes';
import type { Chain } from './rpc';

/** A transaction that a wallet sends. */
export interface Call {
  readonly to: string;
  readonly data: string;
}

/** A wallet that is a contract. */
export interface ContractWallet {
  readonly address: string;
  /** A signature over a digest that the wallet accepts (ERC-1271), or would if it were no hostile one. */
  sign(digest: string): Promise<string>;
  /** Sends these calls from the wallet, one after the other. */
  execute(calls: readonly Call[]): Promise<void>;
}

export const GAS_MONEY = toBeHex(10n ** 18n);
export const CALL_GAS = 3_000_000n;
/** The end of a signature of a wallet that may not be deployed (ERC-6492). */
const WRAPPED = `0x${'6492'.repeat(16)}`;

/** A signature with the call that deploys its wallet (ERC-6492). */
export const wrapped = (factory: string, data: string, signature: string): string =>
  concat([
    AbiCoder.defaultAbiCoder().encode(['address', 'bytes', 'bytes'], [factory, data, signature]),
    WRAPPED,
  ]);

export const signedBy = (key: SigningKey, digest: string): string =>
  Signature.from(key.sign(getBytes(digest))).serialized;
export const addressOf = (key: SigningKey): string => computeAddress(key.publicKey);

let salt = 0n;
/** Makes the address of a wallet its own. */
export const nextSalt = (): bigint => ++salt;

/** Does a thing once for each chain. */
export function once<T>(act: (chain: Chain) => Promise<T>): (chain: Chain) => Promise<T> {
  const done = new WeakMap<Chain, Promise<T>>();
  return (chain) => {
    const before = done.get(chain) ?? act(chain);
    done.set(chain, before);
    return before;
  };
}

/** An account of the node, which pays for what anyone may send. */
export const payerOf = once(async (chain) => (await chain.ask<string[]>('eth_accounts'))[0] ?? '');

/** Sends as `from`, whose key the node does not have. */
export async function sendAs(chain: Chain, from: string, call: Call): Promise<void> {
  await chain.ask('anvil_setBalance', from, GAS_MONEY);
  await chain.ask('anvil_impersonateAccount', from);
  await chain.send(from, call.to, call.data, CALL_GAS);
}

const COMPILE = `
const { readFileSync } = require('node:fs');
const { compileSources } = require('./scripts/contracts.js');
const [name] = process.argv.slice(1);
const content = readFileSync('test/extensions/chain/' + name + '.sol', 'utf8');
const compiled = compileSources({ [name + '.sol']: { content } }, [name]);
process.stdout.write(JSON.stringify(compiled.get(name)));`;
const artifacts = new Map<string, Promise<Artifact>>();

/**
 * A contract in the file of its name beside this one. Another process compiles it, because an exchange may run in this one and
 * would not answer for seconds.
 */
export function compiled(name: string): Promise<Artifact> {
  const artifact = artifacts.get(name) ?? compile(name);
  artifacts.set(name, artifact);
  return artifact;
}

async function compile(name: string): Promise<Artifact> {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', COMPILE, name], {
    cwd: ROOT,
    maxBuffer: 2 ** 24,
  });
  return JSON.parse(stdout);
}
