import { Interface, type SigningKey, Wallet, ZeroAddress } from 'ethers';
import type { Chain } from './rpc';
import { CALL_GAS, type Call, type ContractWallet, compiled, GAS_MONEY, payerOf } from './wallet-parts';

/** In the order of `HostileWallet.Kind`, where each is explained. */
const HOSTILE_KINDS = [
  'yes',
  'burner',
  'parity',
  'fickle',
  'two-faced',
  'extra',
  'short',
  'loud',
  'long',
] as const;
export type HostileKind = (typeof HOSTILE_KINDS)[number];

const hostileAbi = new Interface([
  'function execute(address to, bytes data)',
  'function refuse(bool refuses)',
]);
/** It has the length of a key's signature and is none. */
const NO_SIGNATURE = `0x${'ee'.repeat(65)}`;

/** A wallet that answers as badly as its kind says. */
export interface Hostile extends ContractWallet {
  /** The transaction, which anyone may send, that makes the wallet send this call. */
  execution(call: Call): Call;
  /** The transaction, which anyone may send, after which a fickle wallet refuses every signature, or none. */
  refusal(refuses: boolean): Call;
  /** From now on a fickle wallet refuses every signature, or none. */
  refuse(refuses: boolean): Promise<void>;
  /** It loses its code, as by a self-destruction before Cancun. */
  destroy(): Promise<void>;
}

const hostileOf = (chain: Chain, address: string): Omit<Hostile, 'destroy'> => {
  const callOf = (method: string, ...args: readonly unknown[]): Call => ({
    to: address,
    data: hostileAbi.encodeFunctionData(method, args),
  });
  const send = async ({ data }: Call): Promise<void> =>
    void (await chain.send(await payerOf(chain), address, data, CALL_GAS));
  const execution = ({ to, data }: Call): Call => callOf('execute', to, data);
  const refusal = (refuses: boolean): Call => callOf('refuse', refuses);
  return {
    address,
    execution,
    refusal,
    sign: async () => NO_SIGNATURE,
    async execute(calls) {
      for (const call of calls) await send(execution(call));
    },
    refuse: (refuses) => send(refusal(refuses)),
  };
};

export async function deployHostile(chain: Chain, kind: HostileKind): Promise<Hostile> {
  const args = [HOSTILE_KINDS.indexOf(kind)];
  const address = await chain.deploy(await payerOf(chain), await compiled('HostileWallet'), args);
  return {
    ...hostileOf(chain, address),
    destroy: async () => void (await chain.ask('anvil_setCode', address, '0x')),
  };
}

/** An account with a key that has lent itself a hostile wallet's code (EIP-7702); `destroy` takes the code away again. */
export async function delegateHostile(chain: Chain, key: SigningKey, kind: HostileKind): Promise<Hostile> {
  const wallet = new Wallet(key);
  const { address: code } = await deployHostile(chain, kind);
  const chainId = BigInt(await chain.ask<string>('eth_chainId'));
  const delegate = async (to: string): Promise<void> => {
    await chain.ask('anvil_setBalance', wallet.address, GAS_MONEY);
    const nonce = Number(await chain.ask<string>('eth_getTransactionCount', wallet.address, 'latest'));
    const price = BigInt(await chain.ask<string>('eth_gasPrice')) * 2n;
    const signed = await wallet.signTransaction({
      type: 4,
      chainId,
      nonce,
      to: wallet.address,
      gasLimit: 200_000n,
      maxFeePerGas: price,
      maxPriorityFeePerGas: 0n,
      // The transaction itself uses the nonce before.
      authorizationList: [wallet.authorizeSync({ address: to, chainId, nonce: nonce + 1 })],
    });
    await chain.receiptOf(await chain.ask<string>('eth_sendRawTransaction', signed));
  };
  await delegate(code);
  return { ...hostileOf(chain, wallet.address), destroy: () => delegate(ZeroAddress) };
}
