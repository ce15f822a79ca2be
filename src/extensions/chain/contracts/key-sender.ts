import { setTimeout as sleep } from 'node:timers/promises';
import { Transaction, Wallet } from 'ethers';
import { quantity, readAddress, readBigInt, readNumber, readObject } from '../../../chain/hex';
import type { Rpc } from '../../../chain/rpc';
import { broadcast, raised, readFee, readGasMoney, readNonce } from './transaction';
import type { Fee } from './unsigned';

/** A transaction of this exchange's own, apart from settlements. A new contract has no `to`. */
export interface Sending {
  readonly to: string | null;
  readonly data: string;
  readonly valueWei?: bigint;
  /** Known after `ready`. */
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
  /** The money of the key, for gas and for payments. */
  money(): Promise<bigint>;
  /** The transaction with the gas that it needs. Rejects, without cost, when the chain would refuse it or it needs more. */
  ready(one: Sending, gasMax?: bigint): Promise<Sending>;
  /**
   * Resolves when all are in blocks, in this order; rejects with the first that the chain refused. Nothing is sent when the
   * chain would refuse one of them now.
   */
  send(transactions: readonly Sending[]): Promise<readonly Receipt[]>;
  /** Ends every wait for a block. */
  stop(): void;
}

interface Options {
  readonly rpc: Pick<Rpc, 'ask' | 'askHealthy' | 'broadcast' | 'quorum'>;
  readonly chainId: number;
  readonly key: string;
  readonly gasPriceMaxWei: bigint;
}

interface Sent {
  readonly nonce: number;
  readonly one: Sending;
  fee: Fee;
  /** Each attempt under the nonce may be the one that runs; the last is sent again. */
  readonly attempts: { readonly hash: string; readonly bytes: string }[];
  /** The head when a node had it last; null before. */
  sentAt: number | null;
  receipt: (Receipt & { readonly isRefused: boolean }) | null;
}

const POLL_MS = 150;
const MINED_MS_MAX = 60_000;
const GAS_MARGIN_PERCENT = 130n;
const RAISE_AFTER_BLOCKS = 3;
/** Prices from the lowest of BSC up to some 10 gwei. */
const RAISES_MAX = 50;

/**
 * It remembers nothing between two calls: the first nonce is the next one on the chain, so a transaction that
 * an earlier call or process has left in the pools is replaced. Each caller derives its transactions from the state of the
 * chain, so a lost one comes again.
 */
export function createKeySender({ rpc, chainId, key, gasPriceMaxWei }: Options): KeySender {
  const wallet = new Wallet(key);
  const { address } = wallet;
  const stopping = new AbortController();
  /** A node that lags behind may not know that a nonce is used. */
  let nextNonce = 0;

  async function ready(one: Sending, gasMax?: bigint): Promise<Sending> {
    if (one.gasLimit !== undefined) return one;
    const { to, data, valueWei = 0n } = one;
    const asked = {
      from: address,
      data,
      value: quantity(valueWei),
      ...(to === null ? {} : { to }),
      ...(gasMax === undefined ? {} : { gas: quantity(gasMax) }),
    };
    const gas = await rpc.ask('eth_estimateGas', [asked], (answer) => readBigInt(answer, 'gas'));
    if (gasMax !== undefined && gas > gasMax) throw new Error(`it needs ${gas} gas, more than ${gasMax}`);
    const withMargin = (gas * GAS_MARGIN_PERCENT) / 100n;
    return { ...one, gasLimit: gasMax !== undefined && withMargin > gasMax ? gasMax : withMargin };
  }

  async function sign(sent: Sent): Promise<void> {
    const { nonce, fee, one } = sent;
    const { to, data, gasLimit = null, valueWei = 0n } = one;
    const price =
      fee.tipWei === null
        ? { type: 0, gasPrice: fee.maxWei }
        : { type: 2, maxFeePerGas: fee.maxWei, maxPriorityFeePerGas: fee.tipWei };
    const plain = Transaction.from({ chainId, nonce, to, data, gasLimit, value: valueWei, ...price });
    const bytes = await wallet.signTransaction(plain);
    sent.attempts.push({ hash: Transaction.from(bytes).hash ?? '', bytes });
  }

  const readHead = (): Promise<number> =>
    rpc.ask('eth_blockNumber', [], (answer) => readNumber(answer, 'block number'));

  /** The same nonce for a price at which nodes replace a transaction; false when that is above the limit. */
  async function raise(sent: Sent): Promise<boolean> {
    const fee = raised(sent.fee, await readFee(rpc, gasPriceMaxWei), gasPriceMaxWei);
    if (fee === null) return false;
    sent.fee = fee;
    await sign(sent);
    return true;
  }

  /** Sends the last attempt. A transaction of an earlier call under this nonce may have offered more. */
  async function transmit(sent: Sent): Promise<void> {
    for (let tries = 0; tries < RAISES_MAX; tries++) {
      const { answers, problems } = await broadcast(rpc, sent.attempts.at(-1)?.bytes ?? '');
      const isThere = answers.some((one) => one === 'TAKEN' || one === 'KNOWN');
      const isUsed = !isThere && answers.includes('NONCE_USED');
      if (isUsed && sent.sentAt === null) throw new Error(`another process uses the key of ${address}`);
      if (isThere || isUsed) {
        sent.sentAt = await readHead();
        return;
      }
      if (!answers.includes('UNDERPRICED')) {
        throw new Error(problems[0] ?? `${address} has too little money for gas: send it some`);
      }
      if (!(await raise(sent))) throw new Error('the price of gas is above GAS_PRICE_MAX');
    }
  }

  async function look(sent: Sent): Promise<void> {
    for (const { hash } of sent.attempts) {
      sent.receipt ??= await rpc.ask('eth_getTransactionReceipt', [hash], readReceipt);
    }
    if (sent.receipt) nextNonce = Math.max(nextNonce, sent.nonce + 1);
  }

  /** Only the first that waits holds up the others, which may have been dropped. */
  async function urge(waiting: readonly Sent[]): Promise<void> {
    if (waiting.length === 0) return;
    const head = await readHead();
    for (const [i, sent] of waiting.entries()) {
      if (head - (sent.sentAt ?? head) < RAISE_AFTER_BLOCKS) continue;
      if (i === 0) await raise(sent);
      await transmit(sent);
    }
  }

  async function untilMined(all: readonly Sent[]): Promise<void> {
    const until = performance.now() + MINED_MS_MAX;
    const isWaiting = ({ receipt }: Sent): boolean => receipt === null;
    let problem = '';
    while (performance.now() < until) {
      try {
        for (const sent of all.filter(isWaiting)) await look(sent);
        await urge(all.filter(isWaiting));
      } catch (error) {
        problem = `: ${error instanceof Error ? error.message : String(error)}`;
      }
      if (!all.some(isWaiting)) return;
      await sleep(POLL_MS, undefined, { signal: stopping.signal });
    }
    // Replaced blocks may have used nonces that are free again: the next call asks the chain.
    nextNonce = 0;
    const hash = all.find(isWaiting)?.attempts.at(-1)?.hash;
    throw new Error(`the transaction ${hash} is in no block after ${MINED_MS_MAX / 1_000} s${problem}`);
  }

  /** All are signed and sent, but for those behind one that the nodes did not take. */
  async function sendEach(transactions: readonly Sending[], all: Sent[]): Promise<void> {
    const fee = await readFee(rpc, gasPriceMaxWei);
    const first = Math.max(nextNonce, await readNonce(rpc, address, 'latest'));
    for (const [i, one] of transactions.entries()) {
      const sent: Sent = { nonce: first + i, one, fee, attempts: [], sentAt: null, receipt: null };
      await sign(sent);
      await transmit(sent);
      all.push(sent);
    }
  }

  async function sendAll(transactions: readonly Sending[]): Promise<readonly Receipt[]> {
    const prepared: Sending[] = [];
    for (const one of transactions) prepared.push(await ready(one));
    if (prepared.length === 0) return [];
    const all: Sent[] = [];
    const problem = await sendEach(prepared, all).then(
      () => null,
      (error: unknown) => ({ error }),
    );
    await untilMined(all);
    if (problem) throw problem.error;
    return all.map(({ receipt }) => {
      if (receipt === null || receipt.isRefused)
        throw new Error(`the chain refused the transaction ${receipt?.hash}`);
      return receipt;
    });
  }

  let last: Promise<unknown> = Promise.resolve();
  return {
    address,
    ready,
    money: () => readGasMoney(rpc, address, 'latest'),
    send(transactions) {
      // Two calls at once would use the same nonces.
      const sent = last.then(() => sendAll(transactions));
      last = sent.catch(() => undefined);
      return sent;
    },
    stop: () => stopping.abort(),
  };
}

function readReceipt(answer: unknown): Sent['receipt'] {
  if (answer === null) return null;
  const { transactionHash, status, blockNumber, contractAddress } = readObject(answer, 'receipt');
  return {
    hash: String(transactionHash),
    blockNumber: readNumber(blockNumber, 'block number'),
    contractAddress: typeof contractAddress === 'string' ? readAddress(contractAddress, 'address') : null,
    isRefused: readBigInt(status, 'status') !== 1n,
  };
}
