import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AbiCoder, computeAddress, concat, getBytes, Signature, type SigningKey, toBeHex } from 'ethers';
import type { Artifact } from '../../src/chain/artifacts';
import type { Chain } from './rpc';

const { compileSources } = require('../../scripts/contracts.js') as {
  readonly compileSources: (sources: object, names: readonly string[]) => ReadonlyMap<string, Artifact>;
};

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

const artifacts = new Map<string, Artifact>();
/** A contract in the file of its name beside this one; to compile it takes seconds. */
export function compiled(name: string): Artifact {
  const content = readFileSync(path.join(__dirname, `${name}.sol`), 'utf8');
  const artifact = artifacts.get(name) ?? compileSources({ [`${name}.sol`]: { content } }, [name]).get(name);
  if (!artifact) throw new Error(`${name}.sol has no contract ${name}`);
  artifacts.set(name, artifact);
  return artifact;
}
