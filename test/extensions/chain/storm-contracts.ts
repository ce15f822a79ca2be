import { hashMessage, Interface, type SigningKey, Wallet } from 'ethers';
import type { CheckedWallet } from './checker-api';
import { deployHostile } from './hostile-wallets';
import { deployKernel } from './kernel-wallets';
import { type Chain, RpcError } from './rpc';
import { deploySafe } from './safe-wallets';
import { addressOf, type Call, type ContractWallet, GAS_MONEY } from './wallet-parts';
import { newTrader } from './world';

/** Traders that are contracts, whose orders have signatureType 3. */
export const CONTRACT_KINDS = ['safe', 'kernel', 'fickle'] as const;
export type ContractKind = (typeof CONTRACT_KINDS)[number];

export interface ContractTrader extends Pick<ContractWallet, 'address' | 'execute'> {
  /** A signature that the wallet accepts after the newest block; null when it accepts none. */
  sign(digest: string): Promise<string | null>;
  /** Gives it to another owner, or makes it refuse every signature or none. Nothing waits for the block of it. */
  change(): Promise<void>;
  /** The transaction that does so. */
  changing(): Promise<Transaction | null>;
  /** The wallet makes this call. Nothing waits for its block. */
  send(call: Call): Promise<void>;
  /** It accepts signatures again. */
  appease(): Promise<void>;
}

const walletAbi = new Interface([
  'function isValidSignature(bytes32 digest, bytes signature) view returns (bytes4)',
  'function getOwners() view returns (address[])',
  'function ecdsaValidatorStorage(address wallet) view returns (address)',
]);
const MAGIC = '0x1626ba7e';
const GAS = '0xf4240';
const NO_DIGEST = `0x${'0'.repeat(64)}`;

interface Transaction extends Call {
  readonly from: string;
}

/** A wallet of one kind, and how to sign and send with it. */
interface Kind {
  readonly wallet: Pick<ContractWallet, 'address' | 'execute'>;
  /** The signatures of all that ever were its owners. */
  signatures(digest: string): Promise<readonly string[]>;
  /** The transaction that makes the wallet send a call, or that changes it. */
  transaction(what: Call | 'change' | 'appease'): Promise<Transaction | null>;
}

export async function createContractTrader(chain: Chain, kind: ContractKind): Promise<ContractTrader> {
  const keys = [newTrader().key, newTrader().key] as const;
  const sender = newTrader().address;
  for (const address of [sender, ...keys.map(addressOf)])
    await chain.ask('anvil_setBalance', address, GAS_MONEY);
  const { wallet, signatures, transaction } = await KINDS[kind](chain, keys, sender);
  const { address, execute } = wallet;

  async function accepts(digest: string, signature: string): Promise<boolean> {
    const asked = chain.read(address, walletAbi, 'isValidSignature', digest, signature);
    return (await asked.catch(unlessRefused)) === MAGIC;
  }
  async function send(what: Call | 'change' | 'appease'): Promise<void> {
    const built = await transaction(what).catch(unlessRefused);
    if (built) await chain.ask('eth_sendTransaction', { ...built, gas: GAS }).catch(unlessRefused);
  }
  return {
    address,
    execute,
    send,
    async sign(digest) {
      for (const signature of await signatures(digest))
        if (await accepts(digest, signature)) return signature;
      return null;
    },
    change: () => send('change'),
    changing: () => transaction('change'),
    appease: () => send('appease'),
  };
}

type Make = (chain: Chain, keys: readonly [SigningKey, SigningKey], sender: string) => Promise<Kind>;
const KINDS: Readonly<Record<ContractKind, Make>> = {
  async safe(chain, keys, sender) {
    const safe = await deploySafe(chain, [keys[0]]);
    const ownerOf = async (): Promise<SigningKey> => {
      const [owner] = (await chain.read(safe.address, walletAbi, 'getOwners')) as string[];
      return addressOf(keys[0]) === owner ? keys[0] : keys[1];
    };
    return {
      wallet: safe,
      signatures: (digest) => Promise.all(keys.map((key) => safe.sign(digest, [key]))),
      async transaction(what) {
        if (what === 'appease') return null;
        const owner = await ownerOf();
        const call = what === 'change' ? safe.swapOf(owner, otherOf(keys, owner)) : what;
        return { from: sender, ...(await safe.execution(call, [owner])) };
      },
    };
  },
  async kernel(chain, keys) {
    const kernel = await deployKernel(chain, keys[0]);
    return {
      wallet: kernel,
      signatures: (digest) => Promise.all(keys.map((key) => kernel.sign(digest, key))),
      async transaction(what) {
        if (what === 'appease') return null;
        const at = await chain.read(kernel.validator, walletAbi, 'ecdsaValidatorStorage', kernel.address);
        const owner = addressOf(keys[0]) === at ? keys[0] : keys[1];
        const call = what === 'change' ? kernel.changeOf(otherOf(keys, owner)) : what;
        return { from: addressOf(owner), ...kernel.execution(call) };
      },
    };
  },
  async fickle(chain, _, sender) {
    const hostile = await deployHostile(chain, 'fickle');
    const isRefusing = async (): Promise<boolean> => {
      const asked = chain.read(hostile.address, walletAbi, 'isValidSignature', NO_DIGEST, '0x');
      return (await asked) !== MAGIC;
    };
    return {
      wallet: hostile,
      signatures: async (digest) => [await hostile.sign(digest)],
      async transaction(what) {
        if (typeof what === 'object') return { from: sender, ...hostile.execution(what) };
        return { from: sender, ...hostile.refusal(what === 'change' && !(await isRefusing())) };
      },
    };
  },
};

const otherOf = (keys: readonly [SigningKey, SigningKey], key: SigningKey): SigningKey =>
  key === keys[0] ? keys[1] : keys[0];

function unlessRefused(error: unknown): null {
  if (!(error instanceof RpcError)) throw error;
  return null;
}

/** A trader as the checker signs in with it. */
export function checkedWalletOf(trader: {
  readonly key: SigningKey;
  readonly contract?: ContractTrader | undefined;
}): CheckedWallet {
  const { key, contract } = trader;
  if (!contract) return new Wallet(key);
  return {
    address: contract.address,
    async signMessage(message) {
      const signature = await contract.sign(hashMessage(message));
      if (signature === null) throw new Error(`${contract.address} accepts no signature`);
      return signature;
    },
  };
}
