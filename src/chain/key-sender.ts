import { Transaction, Wallet } from 'ethers';

/** One node, or several behind one call. Rejects with the node's message when it refuses. */
export interface Node {
  call(method: string, params: readonly unknown[]): Promise<unknown>;
}

/** A transaction of this exchange's own, apart from settlements. A new contract has no `to`. */
export interface Sending {
  readonly to: string | null;
  readonly data: string;
  readonly valueWei?: bigint;
  /** For a transaction whose gas cannot be estimated before those in front of it ran. */
  readonly gasLimit?: bigint;
}

export interface Receipt {
  readonly hash: string;
  readonly blockNumber: number;
  readonly contractAddress: string | null;
}

/** Sends from one key; only one process at a time may use a key. */
export interface KeySender {
  /** With a checksum. */
  readonly address: string;
  /** Resolves when all are in blocks, in this order; rejects with the first that the chain refused. */
  send(transactions: readonly Sending[]): Promise<readonly Receipt[]>;
}

const RECEIPT_POLL_MS = 150;
const RECEIPT_MS_MAX = 60_000;
const GAS_MARGIN_PERCENT = 130n;

export function createKeySender(options: {
  readonly node: Node;
  readonly chainId: number;
  readonly key: string;
  readonly gasPriceMaxWei: bigint;
}): KeySender {
  const { node, chainId, key, gasPriceMaxWei } = options;
  const wallet = new Wallet(key);
  const { address } = wallet;

  async function sendOne({ to, data, valueWei = 0n, gasLimit }: Sending, nonce: number): Promise<string> {
    const asked = {
      ...{ from: address, data, value: `0x${valueWei.toString(16)}` },
      ...(to === null ? {} : { to }),
    };
    const gas = gasLimit ?? margin(amount(await node.call('eth_estimateGas', [asked])));
    const price = amount(await node.call('eth_gasPrice', []));
    const transaction = Transaction.from({
      ...{ type: 0, chainId, nonce, to, data, value: valueWei },
      gasLimit: gas,
      gasPrice: price < gasPriceMaxWei ? price : gasPriceMaxWei,
    });
    const hash = await node.call('eth_sendRawTransaction', [await wallet.signTransaction(transaction)]);
    return String(hash);
  }

  async function sendAll(transactions: readonly Sending[]): Promise<readonly Receipt[]> {
    if (transactions.length === 0) return [];
    const first = Number(amount(await node.call('eth_getTransactionCount', [address, 'pending'])));
    const hashes: string[] = [];
    for (const [i, one] of transactions.entries()) hashes.push(await sendOne(one, first + i));
    const receipts: Receipt[] = [];
    for (const hash of hashes) receipts.push(await receiptOf(node, hash));
    return receipts;
  }

  let last: Promise<unknown> = Promise.resolve();
  return {
    address,
    send(transactions) {
      // Two calls at once would use the same nonces.
      const sent = last.then(() => sendAll(transactions));
      last = sent.catch(() => undefined);
      return sent;
    },
  };
}

const margin = (gas: bigint): bigint => (gas * GAS_MARGIN_PERCENT) / 100n;

async function receiptOf(node: Node, hash: string): Promise<Receipt> {
  const until = performance.now() + RECEIPT_MS_MAX;
  while (performance.now() < until) {
    const found = await node.call('eth_getTransactionReceipt', [hash]);
    if (typeof found === 'object' && found !== null) {
      const { status, blockNumber, contractAddress } = found as Record<string, unknown>;
      if (amount(status) !== 1n) throw new Error(`the chain refused the transaction ${hash}`);
      const created = typeof contractAddress === 'string' ? contractAddress : null;
      return { hash, blockNumber: Number(amount(blockNumber)), contractAddress: created };
    }
    await new Promise((resolve) => setTimeout(resolve, RECEIPT_POLL_MS));
  }
  throw new Error(`the transaction ${hash} is in no block after ${RECEIPT_MS_MAX / 1000} s`);
}

function amount(answer: unknown): bigint {
  if (typeof answer !== 'string' || !/^0x[0-9a-f]+$/i.test(answer))
    throw new Error(`the node answered ${JSON.stringify(answer)} instead of a number`);
  return BigInt(answer);
}
