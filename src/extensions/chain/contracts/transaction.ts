import { recoverAddress, Transaction } from 'ethers';
import { RpcUnavailable } from '../../../chain/endpoint';
import { quantity, readBigInt, readNumber, readObject } from '../../../chain/hex';
import type { Reader, Rpc } from '../../../chain/rpc';
import type { Signer } from './signer';
import { type Call, type Fee, unsigned } from './unsigned';

/** A signed transaction. */
export interface Attempt {
  readonly hash: string;
  readonly bytes: string;
  readonly fee: Fee;
}

/** The least that BSC's validators take. */
const FLOOR_WEI = 50_000_000n;
/** Nodes replace a transaction only for 10 % more, of both prices; a rounded 12.5 % is always enough. */
const RAISE_OVER = 9n;
const RAISE_UNDER = 8n;
const LEAST_RAISE_PERCENT = 110n;
const TRANSFER_GAS = 21_000n;
/** A transaction of a full batch is some 70 kB; nodes take at most 128 kB. */
const SEND_TIMEOUT_MS = 5_000;

/** Pays the lane itself nothing: it uses up a nonce whose transaction must not run any more. */
export const emptyCall = (lane: string): Call => ({ to: lane, data: '0x', gasLimit: TRANSFER_GAS });

/** Throws unless the signer signed this with the key of `from`: it is another program, maybe of another chain. */
export async function signCall(
  signer: Signer,
  from: string,
  plan: { readonly chainId: number; readonly nonce: number; readonly call: Call; readonly fee: Fee },
): Promise<Attempt> {
  const transaction = unsigned(plan);
  const signature = await signer.sign(from, transaction);
  const by = recoverAddress(transaction.digest, signature).toLowerCase();
  if (by !== from) throw new Error(`the signer signed another transaction, or not with the key of ${from}`);
  return { ...transaction.signed(signature), fee: plan.fee };
}

export function readAttempt(bytes: string): Attempt & { readonly call: Call } {
  const { hash, to, data, gasLimit, maxFeePerGas, maxPriorityFeePerGas, gasPrice } = Transaction.from(bytes);
  if (hash === null) throw new Error('a transaction of an intent is not signed');
  const fee = { maxWei: maxFeePerGas ?? gasPrice ?? 0n, tipWei: maxPriorityFeePerGas };
  return { hash, bytes, fee, call: { to: to ?? '', data, gasLimit } };
}

/**
 * Returns a number of the present, of which each node has its own: no node alone raises it, nor lowers it where others can take the
 * place of its answer.
 */
async function usual(
  rpc: Pick<Rpc, 'askHealthy' | 'quorum'>,
  method: string,
  params: readonly unknown[],
  read: Reader<bigint | null>,
): Promise<bigint | null> {
  const answers = await rpc.askHealthy(method, params, read);
  const found = answers.filter(({ error }) => error === null).map(({ result }) => result);
  if (found.length < rpc.quorum)
    throw answers.find(({ error }) => error)?.error ?? new RpcUnavailable(`too few nodes answered ${method}`);
  const numbers = found.filter((one) => one !== null).sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  return numbers[rpc.quorum - 1] ?? null;
}

/** Returns the price that gets a transaction into one of the next blocks, at most `mostWei`. */
export async function readFee(rpc: Pick<Rpc, 'askHealthy' | 'quorum'>, mostWei: bigint): Promise<Fee> {
  const price = async (method: string): Promise<bigint> =>
    (await usual(rpc, method, [], (answer) => readBigInt(answer, 'gas price'))) ?? 0n;
  const base = await usual(rpc, 'eth_getBlockByNumber', ['latest', false], (answer) => {
    const { baseFeePerGas } = readObject(answer, 'block');
    return baseFeePerGas === undefined ? null : readBigInt(baseFeePerGas, 'base fee');
  });
  if (base === null)
    return { maxWei: least(most(await price('eth_gasPrice'), FLOOR_WEI), mostWei), tipWei: null };
  const tip = most(await price('eth_maxPriorityFeePerGas'), FLOOR_WEI);
  // The base fee rises by at most an eighth a block: twice is enough for five full blocks.
  return capped({ maxWei: 2n * base + tip, tipWei: tip }, mostWei);
}

/** Returns a price at which nodes replace a transaction that paid `before`; null when that is above `mostWei`. */
export function raised(before: Fee, now: Fee, mostWei: bigint): Fee | null {
  const raise = (price: bigint): bigint => (price * RAISE_OVER + RAISE_UNDER - 1n) / RAISE_UNDER;
  const tipWei = before.tipWei === null ? null : most(raise(before.tipWei), now.tipWei ?? 0n);
  const fee = capped({ maxWei: most(raise(before.maxWei), now.maxWei), tipWei }, mostWei);
  const isEnough = (price: bigint, old: bigint): boolean => price * 100n >= old * LEAST_RAISE_PERCENT;
  const isTipEnough = fee.tipWei === null || isEnough(fee.tipWei, before.tipWei ?? 0n);
  return isEnough(fee.maxWei, before.maxWei) && isTipEnough ? fee : null;
}

function capped({ maxWei, tipWei }: Fee, mostWei: bigint): Fee {
  const max = least(maxWei, mostWei);
  return { maxWei: max, tipWei: tipWei === null ? null : least(tipWei, max) };
}

const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** The next nonce of an address: of the head, with what the node has in its pool, or of one block. */
export const readNonce = (
  rpc: Pick<Rpc, 'ask'>,
  address: string,
  at: 'latest' | 'pending' | number,
): Promise<number> =>
  rpc.ask('eth_getTransactionCount', [address, blockOf(at)], (answer) => readNumber(answer, 'nonce'));

export const readGasMoney = (
  rpc: Pick<Rpc, 'ask'>,
  address: string,
  at: 'latest' | number,
): Promise<bigint> =>
  rpc.ask('eth_getBalance', [address, blockOf(at)], (answer) => readBigInt(answer, 'balance'));

const blockOf = (at: string | number): string => (typeof at === 'number' ? quantity(at) : at);

/** Reads the cost of a transaction; null when no block has it. */
export const readSpent = (
  rpc: Pick<Rpc, 'ask'>,
  hash: string,
): Promise<{ readonly gas: bigint; readonly priceWei: bigint } | null> =>
  rpc.ask('eth_getTransactionReceipt', [hash], (answer) => {
    if (answer === null) return null;
    const { gasUsed, effectiveGasPrice } = readObject(answer, 'receipt');
    return { gas: readBigInt(gasUsed, 'gas'), priceWei: readBigInt(effectiveGasPrice, 'gas price') };
  });

/** The answer of a node to a transaction. */
export type SendAnswer = 'TAKEN' | 'KNOWN' | 'NONCE_USED' | 'UNDERPRICED' | 'NO_GAS' | 'REFUSED';

const ANSWERS: readonly (readonly [RegExp, SendAnswer])[] = [
  [/already known|already imported|known transaction/i, 'KNOWN'],
  [/nonce too low|nonce .*(already|used)/i, 'NONCE_USED'],
  [/underpriced|less than block base fee|fee too low|gas price too low/i, 'UNDERPRICED'],
  [/insufficient (funds|balance)/i, 'NO_GAS'],
];

/** Sends to every node; returns the answers of those that are not late, and the texts of unusual refusals. */
export async function broadcast(
  rpc: Pick<Rpc, 'broadcast'>,
  bytes: string,
): Promise<{ readonly answers: readonly SendAnswer[]; readonly problems: readonly string[] }> {
  const said = await rpc.broadcast('eth_sendRawTransaction', [bytes], SEND_TIMEOUT_MS);
  const answers = said.map(({ endpoint, error }) => {
    const answer = error === null ? ('TAKEN' as const) : sendAnswerOf(error.message);
    return { answer, text: `${endpoint}: ${error?.message ?? ''}` };
  });
  return {
    answers: answers.map(({ answer }) => answer),
    problems: answers.filter(({ answer }) => answer === 'REFUSED').map(({ text }) => text),
  };
}

const sendAnswerOf = (message: string): SendAnswer =>
  ANSWERS.find(([form]) => form.test(message))?.[1] ?? 'REFUSED';
