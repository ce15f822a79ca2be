import type { ServerResponse } from 'node:http';
import { createRecent } from '../exchange/recent';
import type { Limiter } from './limiter';

/**
 * Wallets are free, and each that is taken in is kept for good: an address brings a number of new ones in a minute. Null
 * for a wallet known to this process, else a promise; RATE_LIMITED.
 */
export type Newcomers = (wallet: string, address: string, response: ServerResponse) => Promise<void> | null;

interface NewcomersOptions {
  readonly limiter: Limiter;
  /** Whether the exchange keeps anything of the wallet. */
  readonly isKnown: (wallet: string) => Promise<boolean>;
}

/** For RATE_LIMIT=off. */
export const noNewcomers: Newcomers = () => null;

/** Wallets remembered as known. */
const KNOWN_MAX = 20_000;

export function createNewcomers({ limiter, isKnown }: NewcomersOptions): Newcomers {
  const known = createRecent<true>(KNOWN_MAX);
  /** Wallets that are being asked about: the orders that come meanwhile wait for the same answer. */
  const asked = new Map<string, Promise<void>>();

  async function admit(wallet: string, address: string, response: ServerResponse): Promise<void> {
    if (!(await isKnown(wallet))) await limiter.take('new-wallets', address, response);
    // Also when its order is refused: it is counted once.
    known.put(wallet, true);
  }

  return (wallet, address, response) => {
    if (known.get(wallet)) return null;
    const answer = asked.get(wallet) ?? admit(wallet, address, response).finally(() => asked.delete(wallet));
    asked.set(wallet, answer);
    return answer;
  };
}
