import { concat, Interface, type SigningKey, TypedDataEncoder, toBeHex, ZeroAddress, ZeroHash } from 'ethers';
import type { Chain } from './rpc';
import {
  addressOf,
  CALL_GAS,
  type Call,
  type ContractWallet,
  compiled,
  nextSalt,
  once,
  payerOf,
  sendAs,
  signedBy,
  wrapped,
} from './wallet-parts';

const kernelAbi = new Interface([
  'function initialize(bytes21 rootValidator, address hook, bytes validatorData, bytes hookData, bytes[] initConfig)',
  'function execute(bytes32 mode, bytes call)',
  'function onInstall(bytes owner)',
  'function validator() view returns (address)',
  'function createAccount(bytes data, bytes32 salt) returns (address)',
  'function getAddress(bytes data, bytes32 salt) view returns (address)',
]);

const kernelFactory = once(async (chain) => {
  const factory = await chain.deploy(await payerOf(chain), await compiled('KernelFactory'));
  return { factory, validator: String(await chain.read(factory, kernelAbi, 'validator')) };
});

/** A wallet that signs as Kernel 3.1 does. */
export interface Kernel extends ContractWallet {
  /** The contract that knows its owner. */
  readonly validator: string;
  sign(digest: string, by?: SigningKey): Promise<string>;
  /** The transaction of its owner that makes the wallet send this call. */
  execution(call: Call): Call;
  /** The call of its own that gives it to another owner. */
  changeOf(next: SigningKey): Call;
  /** Gives the wallet to another owner. */
  changeOwner(next: SigningKey): Promise<void>;
  deploy(): Promise<void>;
}

export async function deployKernel(chain: Chain, owner: SigningKey): Promise<Kernel> {
  const kernel = await futureKernel(chain, owner);
  await kernel.deploy();
  return kernel;
}

/** A Kernel before its deployment, at the address that it will have. */
export async function futureKernel(chain: Chain, owner: SigningKey): Promise<Kernel> {
  const { factory, validator } = await kernelFactory(chain);
  const chainId = BigInt(await chain.ask<string>('eth_chainId'));
  const install = [concat(['0x01', validator]), ZeroAddress, addressOf(owner), '0x', []];
  const data = kernelAbi.encodeFunctionData('initialize', install);
  const args = [data, toBeHex(nextSalt(), 32)];
  const create = kernelAbi.encodeFunctionData('createAccount', args);
  const address = String(await chain.read(factory, kernelAbi, 'getAddress', ...args));
  const domain = { name: 'Kernel', version: '0.3.1', chainId, verifyingContract: address };
  let current = owner;
  let isDeployed = false;

  const execution = ({ to, data: sent }: Call): Call => ({
    to: address,
    data: kernelAbi.encodeFunctionData('execute', [ZeroHash, concat([to, ZeroHash, sent])]),
  });
  async function execute(calls: readonly Call[]): Promise<void> {
    for (const call of calls) await sendAs(chain, addressOf(current), execution(call));
  }
  const changeOf = (next: SigningKey): Call => ({
    to: validator,
    data: kernelAbi.encodeFunctionData('onInstall', [addressOf(next)]),
  });

  return {
    address,
    validator,
    execute,
    execution,
    changeOf,
    async sign(digest, by = current) {
      const types = { Kernel: [{ name: 'hash', type: 'bytes32' }] };
      const hash = TypedDataEncoder.hash(domain, types, { hash: digest });
      const signature = concat(['0x01', validator, signedBy(by, hash)]);
      return isDeployed ? signature : wrapped(factory, create, signature);
    },
    async changeOwner(next) {
      await execute([changeOf(next)]);
      current = next;
    },
    async deploy() {
      await chain.send(await payerOf(chain), factory, create, CALL_GAS);
      isDeployed = true;
    },
  };
}
