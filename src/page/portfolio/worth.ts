import type { Portfolio, Timeframe } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { useAccount, useWallet } from '../account-data';
import { client } from '../exchange';

/** Values move with prices, so they are read again this often. */
const REFRESH_MS = 15_000;
/** The journal counts a fill a moment after the balances show it. */
const JOURNAL_MS = 2_000;

/** The value of the wallet as the exchange counts it, now and over a time; null until it is known. */
export function useWorth(timeframe: Timeframe): Portfolio | null {
  const wallet = useWallet();
  const { balances } = useAccount();
  const key = `${wallet?.address} ${timeframe}`;
  const [known, setKnown] = useState<{ readonly key: string; readonly worth: Portfolio } | null>(null);
  useEffect(() => {
    if (!wallet) return;
    let isCurrent = true;
    const ask = (): void =>
      void client.portfolio(timeframe).then(
        (worth) => isCurrent && setKnown({ key, worth }),
        // The next time it is asked again; what was shown stays.
        () => undefined,
      );
    ask();
    const soon = setTimeout(ask, JOURNAL_MS);
    const timer = setInterval(() => document.visibilityState === 'visible' && ask(), REFRESH_MS);
    return () => {
      isCurrent = false;
      clearTimeout(soon);
      clearInterval(timer);
    };
  }, [key, balances]);
  return known?.key === key ? known.worth : null;
}
