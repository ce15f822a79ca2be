import { getBytes, hashMessage, TypedDataEncoder } from 'ethers';
import type { Page } from 'playwright-core';
import type { Chain } from '../extensions/chain/rpc';
import type { Call, ContractWallet } from '../extensions/chain/wallets';

interface Options {
  readonly chain: Chain;
  readonly wallet: ContractWallet;
  /** Takes several calls as one request (EIP-5792). */
  readonly isTogether: boolean;
}

/** A contract wallet as a page sees it: EIP-1193 in front, the contract and the keys of its owners behind. */
export function createContractProvider({ chain, wallet, isTogether }: Options) {
  const address = wallet.address.toLowerCase();
  const asked: string[] = [];
  const orders: { readonly signatureType: number; readonly maker: string }[] = [];
  const underway: { status: number }[] = [];
  /** The methods that the person declines. */
  const declined = new Set<string>();

  /** The transaction that had the wallet make its latest call. */
  async function latestHash(): Promise<string> {
    let block = await chain.ask<Block>('eth_getBlockByNumber', 'latest', true);
    for (;;) {
      const found = block.transactions.find(({ to }) => to === address);
      if (found) return found.hash;
      block = await chain.ask<Block>('eth_getBlockByHash', block.parentHash, true);
    }
  }

  function sendTogether({ from, calls, atomicRequired }: SendCalls): unknown {
    if (from !== wallet.address || !atomicRequired) throw new Error('these calls are not for this wallet');
    const sent = { status: 100 };
    underway.push(sent);
    wallet.execute(calls).then(
      () => {
        sent.status = 200;
      },
      () => {
        sent.status = 500;
      },
    );
    return { id: String(underway.length - 1) };
  }

  async function work(method: string, params: readonly unknown[]): Promise<unknown> {
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return [address];
      case 'eth_chainId':
      case 'eth_getCode':
      case 'eth_getTransactionReceipt':
        return chain.ask(method, ...params);
      case 'personal_sign':
        return wallet.sign(hashMessage(getBytes(String(params[0]))));
      case 'eth_signTypedData_v4': {
        const { domain, types, message } = JSON.parse(String(params[1]));
        const { EIP712Domain: _, ...rest } = types;
        orders.push(message);
        return wallet.sign(TypedDataEncoder.hash(domain, rest, message));
      }
      case 'eth_sendTransaction':
        await wallet.execute([params[0] as Call]);
        return latestHash();
      case 'wallet_getCapabilities':
        return { [await chain.ask<string>('eth_chainId')]: { atomic: { status: 'supported' } } };
      case 'wallet_sendCalls':
        return sendTogether(params[0] as SendCalls);
      case 'wallet_getCallsStatus':
        return { status: underway[Number(params[0])]?.status };
      default:
        throw new Error(`unsupported: ${method}`);
    }
  }

  async function answer(method: string, params: readonly unknown[]): Promise<unknown> {
    asked.push(method);
    if (declined.has(method)) return { error: { code: 4001, message: 'User rejected the request.' } };
    const isUnknown = method.startsWith('wallet_') && !isTogether;
    if (isUnknown) return { error: { code: 4200, message: 'The method is not supported.' } };
    return work(method, params).then(
      (result) => ({ result }),
      (error: Error) => ({ error: { code: -32_000, message: error.message } }),
    );
  }

  return {
    asked,
    orders,
    declined,
    inject: async (page: Page): Promise<void> => {
      await page.exposeFunction('walletAnswer', answer);
      await page.addInitScript(`window.ethereum = {
        request: async ({ method, params }) => {
          const { result, error } = await window.walletAnswer(method, params ?? []);
          if (error) throw Object.assign(new Error(error.message), error);
          return result;
        },
      };`);
    },
  };
}

interface SendCalls {
  readonly from: string;
  readonly calls: readonly Call[];
  readonly atomicRequired: boolean;
}

interface Block {
  readonly parentHash: string;
  readonly transactions: readonly { readonly hash: string; readonly to: string | null }[];
}
