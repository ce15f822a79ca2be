import {
  type Balances,
  type Client,
  callsOf,
  type ExchangeConfig,
  sendCalls,
  type WalletCall,
} from 'ctf-exchange-client';
import type { Wallet } from 'ethers';
import { pause } from './loop';

/** A bot with funds on a chain sends its own transactions. */
export interface OnChain {
  /**
   * Runs a request, and sends the transactions that the exchange asks for instead. Resolves with the newest block of the node,
   * which is theirs or a later one; null when it does not answer.
   */
  carryOut(request: () => Promise<unknown>): Promise<number | null>;
}

export const POLL_MS = 500;
/** 60 s. */
export const POLLS_MAX = 120;
const REQUEST_MS_MAX = 10_000;
/** The least that BSC's validators take. */
const GAS_PRICE_WEI = 50_000_000n;

/** Gets test funds and approves the exchange contract. Null with paper funds. */
export async function prepareOnChain(
  client: Client,
  signer: Wallet,
  say: (line: string) => void,
): Promise<OnChain | null> {
  const { chain, chainId } = await client.config();
  if (!chain) return null;
  const rpcUrl = rpcUrlOf(chain);
  const options = { rpcUrl, chainId, signer, gasPriceWei: GAS_PRICE_WEI };
  await client.faucet();
  await until(client, ({ collateral }) => Number(collateral.total) > 0);
  await sendCalls(options, chain.approvals);
  await until(client, ({ approvals }) => approvals?.collateral.enough === true);
  const send = (calls: readonly WalletCall[]): Promise<unknown> =>
    sendCalls(options, calls).catch((failure: Error) => say(failure.message));
  let last: Promise<unknown> = Promise.resolve();
  return {
    async carryOut(request) {
      try {
        await request();
      } catch (error) {
        const calls = callsOf(error);
        if (calls === null) throw error;
        // Two at once would use the same nonce, and each other's approval.
        last = last.then(() => send(calls));
        await last;
      }
      return headOf(rpcUrl).catch(() => null);
    },
  };
}

async function headOf(rpcUrl: string): Promise<number> {
  const answer = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
    signal: AbortSignal.timeout(REQUEST_MS_MAX),
  });
  const { result } = (await answer.json()) as { result?: unknown };
  if (typeof result !== 'string') throw new Error('the node did not answer with its newest block');
  return Number(result);
}

function rpcUrlOf({ rpcUrl }: NonNullable<ExchangeConfig['chain']>): string {
  if (rpcUrl === null) throw new Error('the bots need a node: set CHAIN_PUBLIC_RPC_URL');
  return rpcUrl;
}

/** The exchange sees a wallet's own transactions once they are final. */
async function until(client: Client, isThere: (balances: Balances) => boolean): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    if (isThere(await client.balances())) return;
    await pause(POLL_MS, new AbortController().signal);
  }
  throw new Error('the funds of a bot did not arrive: does a worker with ORACLE_KEY run?');
}
