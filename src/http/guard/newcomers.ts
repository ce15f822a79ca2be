import { createRecent } from '../../exchange/recent';
import type { AnswerHead } from '../endpoint';
import type { Limiter } from './limiter';

/**
 * Wallets are free, and the data of each is kept permanently, so an address may bring only some new ones in a minute. Returns
 * null for a wallet that this process knows, else a promise, which may throw RATE_LIMITED.
 */
export type Newcomers = (wallet: string, address: string, response: AnswerHead) => Promise<void> | null;

interface NewcomersOptions {
  readonly limiter: Limiter;
  /** Whether the exchange has data of the wallet. */
  readonly isKnown: (wallet: string) => Promise<boolean>;
}

/** No limit, with RATE_LIMIT=off. */
export const noNewcomers: Newcomers = () => null;

/** The most known wallets in memory. */
const KNOWN_MAX = 20_000;

export function createNewcomers({ limiter, isKnown }: NewcomersOptions): Newcomers {
  const known = createRecent<true>(KNOWN_MAX);
  /** Wallets with a look-up in progress; further orders wait for the same look-up. */
  const asked = new Map<string, Promise<void>>();

  async function admit(wallet: string, address: string, response: AnswerHead): Promise<void> {
    if (!(await isKnown(wallet))) await limiter.take('new-wallets', address, response);
    // A new wallet counts once, also when its order is refused.
    known.put(wallet, true);
  }

  return (wallet, address, response) => {
    if (known.get(wallet)) return null;
    const answer = asked.get(wallet) ?? admit(wallet, address, response).finally(() => asked.delete(wallet));
    asked.set(wallet, answer);
    return answer;
  };
}
