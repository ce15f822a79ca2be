import type { Config } from '../config/load';
import { Refusal } from '../exchange/errors';
import {
  type SignatureCheck,
  type SignatureQuestion,
  type WalletSignatures,
  WalletsBusy,
} from '../exchange/wallet-signature';
import type { Logger } from '../log';
import { SIGNATURE_PROBE } from './artifacts';
import { createBreaker } from './breaker';
import { RpcError } from './endpoint';
import { creationData, wordsOf } from './exchange-contract';
import { BadAnswer, quantity, readBytes, readNumber } from './hex';
import { createRpc, type Rpc, RpcDisagreement } from './rpc';
import { createShares } from './shares';

type SignatureResult = 'valid' | 'invalid' | 'undeployed' | 'unavailable';

interface WalletSignaturesOptions {
  /** Used for nothing else: the code of wallets decides how fast these answers come, and whether nodes agree. */
  readonly rpc: Rpc;
  /** A node of another chain knows other wallets. */
  readonly chainId: number;
  readonly log?: Pick<Logger, 'warn'>;
  readonly onChecked?: (result: SignatureResult) => void;
  /** The longest wait of a caller. */
  readonly limitMs?: number;
}

export interface RunningWalletSignatures extends WalletSignatures {
  /** Ends every question under way. */
  stop(): void;
}

/** Gas of an `eth_call` without a limit for the wallet. */
const GAS = 5_000_000;
/** Gas of a transaction that creates a contract, of each byte of its data, and of each word of its code. */
const [CREATION_GAS, DATA_BYTE_GAS, ZERO_BYTE_GAS, CODE_WORD_GAS] = [53_000, 16, 4, 2];
/** The probe's own: it loads the wallet, encodes the call, and leaves two words as the code that it creates. */
const PROBE_GAS = 20_000;
const LIMIT_MS = 2_000;
const FAILURES_MAX = 5;
const REST_MS = 5_000;
/**
 * Questions share the process with orders of keys. One takes some 0.7 ms of its CPU time, and its order as much again, so that
 * all of them together take less than a tenth of a core.
 */
const TURNS = {
  perSecond: 50,
  burst: 50,
  atOnce: 16,
  atOnceEach: 4,
  waiting: 64,
  waitingEach: 16,
} as const;
const WORD_DIGITS = 64;
const AWAY = 'the chain does not say whether the wallet signed this; try again';

const unavailable = (detail: string, retryAfterMs = 1_000): Refusal =>
  new Refusal('UNAVAILABLE', detail, { retryAfterMs: Math.ceil(retryAfterMs) });

/** Null without CHAIN_RPC_URL: only keys sign then. */
export const openWalletSignatures = (
  { walletRpcUrls, chainId }: Pick<Config, 'walletRpcUrls' | 'chainId'>,
  options: Pick<WalletSignaturesOptions, 'log' | 'onChecked'>,
): RunningWalletSignatures | null =>
  walletRpcUrls.length === 0
    ? null
    : createWalletSignatures({ rpc: createRpc(walletRpcUrls), chainId, ...options });

/**
 * A majority of the nodes must say the same: one that lies could sign for every wallet. They are asked about their newest block, because a
 * deployment or a new owner counts at once; nodes that disagree for a moment make the caller ask again.
 */
export function createWalletSignatures(options: WalletSignaturesOptions): RunningWalletSignatures {
  const { rpc, chainId, log, onChecked, limitMs = LIMIT_MS } = options;
  const shares = createShares(TURNS);
  const breaker = createBreaker({
    failuresMax: FAILURES_MAX,
    restMs: REST_MS,
    onOpen: () => log?.warn({ restMs: REST_MS }, 'no signature of a contract wallet can be checked'),
  });
  let isRightChain = false;

  /** A program starts while no node answers, so the first question asks which chain it is. */
  async function confirmChain(): Promise<void> {
    if (isRightChain) return;
    const found = await rpc.agree('eth_chainId', [], (answer) => readNumber(answer, 'chain id'), limitMs);
    if (found !== chainId)
      throw new Error(`the nodes of CHAIN_RPC_URL serve chain ${found} and not ${chainId}`);
    isRightChain = true;
  }

  async function probe(question: SignatureQuestion): Promise<SignatureCheck> {
    const data = creationData(SIGNATURE_PROBE, argumentsOf(question));
    try {
      await confirmChain();
      const gas = quantity(gasOf(data, question.walletGas));
      return await rpc.agree('eth_call', [{ data, gas }, 'latest'], readCheck, limitMs);
    } catch (error) {
      // A wrapping that cannot be read, or code that uses more than it may, ends the call as a whole.
      if (error instanceof RpcError && (error.isRevert || error.isOutOfGas))
        return { isValid: false, hasCode: true };
      throw error;
    }
  }

  function tellFailure(error: unknown): void {
    breaker.fail();
    const err = error instanceof Error ? error.message : String(error);
    log?.warn({ err }, 'signature of a contract wallet');
  }

  /** One question to the nodes; it lasts until they answer, also when its caller has gone. */
  async function ask(question: SignatureQuestion): Promise<SignatureCheck> {
    const waitMs = breaker.waitMs();
    if (waitMs > 0) throw unavailable(AWAY, waitMs);
    try {
      const check = await probe(question);
      breaker.succeed();
      return check;
    } catch (error) {
      // A wallet whose answer depends on the block divides nodes that do answer, as often as it is asked.
      if (error instanceof RpcDisagreement) breaker.succeed();
      else tellFailure(error);
      throw unavailable(AWAY);
    }
  }

  async function verify(question: SignatureQuestion): Promise<SignatureCheck> {
    const signal = AbortSignal.timeout(limitMs);
    const asker = question.asker ?? question.wallet.toLowerCase();
    const end = await shares.begin(asker, signal).catch(() => {
      throw new WalletsBusy();
    });
    return before(signal, ask(question).finally(end));
  }

  return {
    async verify(question) {
      try {
        const check = await verify(question);
        onChecked?.(check.isValid ? 'valid' : check.hasCode ? 'invalid' : 'undeployed');
        return check;
      } catch (error) {
        onChecked?.('unavailable');
        throw error;
      }
    },
    stop: rpc.stop,
  };
}

/** Waits no longer than the signal allows. */
function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(unavailable(AWAY));
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

const word = (value: bigint | number): string => value.toString(16).padStart(WORD_DIGITS, '0');

/** The arguments of the constructor: wallet, digest, place and bytes of the signature, whether ERC-6492 counts. */
function argumentsOf({ wallet, digest, signature, allowsUndeployed }: SignatureQuestion): string {
  const digits = signature.slice(2);
  const padding = '0'.repeat((WORD_DIGITS - (digits.length % WORD_DIGITS)) % WORD_DIGITS);
  const head = [BigInt(wallet), BigInt(digest), 4 * 32, Number(allowsUndeployed), digits.length / 2];
  return `0x${head.map(word).join('')}${digits}${padding}`;
}

/** Gas for the call, so that this much of it is left for the wallet. */
function gasOf(data: string, walletGas: number | undefined): number {
  if (walletGas === undefined) return GAS;
  const bytes = Buffer.from(data.slice(2), 'hex');
  const zeros = bytes.filter((byte) => byte === 0).length;
  const dataGas = DATA_BYTE_GAS * (bytes.length - zeros) + ZERO_BYTE_GAS * zeros;
  return CREATION_GAS + dataGas + CODE_WORD_GAS * Math.ceil(bytes.length / 32) + PROBE_GAS + walletGas;
}

/** Two words, each 0 or 1. */
function readCheck(answer: unknown): SignatureCheck {
  const words = wordsOf(readBytes(answer, 'signature check'), 'signature check');
  if (words.count !== 2 || words.at(0) > 1n || words.at(1) > 1n) throw new BadAnswer('signature check');
  return { isValid: words.at(0) === 1n, hasCode: words.at(1) === 1n };
}
