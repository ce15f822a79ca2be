import { concat, getAddress, type SigningKey, TypedDataEncoder, ZeroAddress } from 'ethers';
import { type Chain, interfaceOf } from './rpc';
import {
  addressOf,
  CALL_GAS,
  type Call,
  type ContractWallet,
  nextSalt,
  once,
  payerOf,
  signedBy,
  wrapped,
} from './wallet-parts';

// The published bytecode of Safe 1.4.1.
const BUILD = '@safe-global/safe-contracts/build/artifacts/contracts';
const SAFE = require(`${BUILD}/Safe.sol/Safe.json`);
const FACTORY = require(`${BUILD}/proxies/SafeProxyFactory.sol/SafeProxyFactory.json`);
const HANDLER = require(
  `${BUILD}/handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json`,
);

const safeAbi = interfaceOf(SAFE);
const factoryAbi = interfaceOf(FACTORY);

const safeContracts = once(async (chain) => {
  const payer = await payerOf(chain);
  const [singleton, factory, handler] = [
    await chain.deploy(payer, SAFE),
    await chain.deploy(payer, FACTORY),
    await chain.deploy(payer, HANDLER),
  ];
  return { singleton, factory, handler };
});

/** A Safe with its owners' signatures; `by` names which owners sign, by default the first ones up to the threshold. */
export interface Safe extends ContractWallet {
  sign(digest: string, by?: readonly SigningKey[]): Promise<string>;
  /** The transaction, which anyone may send, that makes the Safe send this call. */
  execution(call: Call, by?: readonly SigningKey[]): Promise<Call>;
  /** The call of its own that takes an owner out for another one. */
  swapOf(owner: SigningKey, next: SigningKey): Call;
  /** Takes an owner out for another one. */
  swapOwner(owner: SigningKey, next: SigningKey): Promise<void>;
  /** Whether it was made already; a signature before that contains the call that makes it. */
  deploy(): Promise<void>;
}

/** A Safe 1.4.1 behind its proxy. */
export async function deploySafe(
  chain: Chain,
  owners: readonly SigningKey[],
  threshold = owners.length,
): Promise<Safe> {
  const safe = await futureSafe(chain, owners, threshold);
  await safe.deploy();
  return safe;
}

/** A Safe before its deployment, at the address that it will have. */
export async function futureSafe(
  chain: Chain,
  owners: readonly SigningKey[],
  threshold = owners.length,
): Promise<Safe> {
  const { singleton, factory, handler } = await safeContracts(chain);
  const payer = await payerOf(chain);
  const chainId = BigInt(await chain.ask<string>('eth_chainId'));
  const setup = safeAbi.encodeFunctionData('setup', [
    ...[owners.map(addressOf), threshold, ZeroAddress, '0x', handler],
    ...[ZeroAddress, 0, ZeroAddress],
  ]);
  const create = factoryAbi.encodeFunctionData('createProxyWithNonce', [singleton, setup, nextSalt()]);
  // The factory says the address when it is asked to make the proxy.
  const made = await chain.ask<string>('eth_call', { to: factory, data: create }, 'latest');
  const address = getAddress(`0x${made.slice(-40)}`);
  const domain = { chainId, verifyingContract: address };
  let current = [...owners];
  let isDeployed = false;

  /** The signatures that the contract wants: in the order of the owners' addresses. */
  function signatures(hash: string, by: readonly SigningKey[] = current.slice(0, threshold)): string {
    const sorted = [...by].sort((a, b) => (BigInt(addressOf(a)) < BigInt(addressOf(b)) ? -1 : 1));
    return concat(sorted.map((key) => signedBy(key, hash)));
  }

  async function execution({ to, data }: Call, by?: readonly SigningKey[]): Promise<Call> {
    const nonce = await chain.read(address, safeAbi, 'nonce');
    const free = [0n, 0n, 0n, ZeroAddress, ZeroAddress] as const;
    const hash = await chain.read(
      address,
      safeAbi,
      'getTransactionHash',
      ...[to, 0n, data, 0, ...free, nonce],
    );
    const args = [to, 0n, data, 0, ...free, signatures(String(hash), by)];
    return { to: address, data: safeAbi.encodeFunctionData('execTransaction', args) };
  }

  async function execute(calls: readonly Call[]): Promise<void> {
    for (const call of calls) await chain.send(payer, address, (await execution(call)).data, CALL_GAS);
  }

  function swapOf(owner: SigningKey, next: SigningKey): Call {
    const before = current[current.indexOf(owner) - 1];
    // The contract's list of owners begins with this address.
    const previous = before ? addressOf(before) : '0x0000000000000000000000000000000000000001';
    const args = [previous, addressOf(owner), addressOf(next)];
    return { to: address, data: safeAbi.encodeFunctionData('swapOwner', args) };
  }

  return {
    address,
    execute,
    execution,
    swapOf,
    async sign(digest, by) {
      const hash = TypedDataEncoder.hash(
        domain,
        { SafeMessage: [{ name: 'message', type: 'bytes' }] },
        { message: digest },
      );
      const signature = signatures(hash, by);
      return isDeployed ? signature : wrapped(factory, create, signature);
    },
    async swapOwner(owner, next) {
      await execute([swapOf(owner, next)]);
      current = current.map((key) => (key === owner ? next : key));
    },
    async deploy() {
      await chain.send(payer, factory, create, CALL_GAS);
      isDeployed = true;
    },
  };
}
