import { useEffect, useState } from 'preact/hooks';
import { useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import type { Wallet } from '../exchange';
import { connection } from '../market-data';
import { signInWithInjected, signInWithTestWallet, signOut } from '../sign-in';
import { theme, toggleTheme } from '../theme';
import { dollars, microOf, shortAddress } from '../units';
import { wordsFor } from '../words';
import { Logo, MoonIcon, SunIcon } from './icons';

export const TopBar = () => (
  <header class="top">
    <a class="brand" href="/">
      <Logo />
      <span>Exchange</span>
    </a>
    <Connection />
    <div class="top-space" />
    <Who />
    <ThemeToggle />
  </header>
);

const STATES = {
  live: ['Live', 'The book is up to date.'],
  stale: ['Stale', 'Updates are missing, so the book may be old. The page is catching up.'],
  reconnecting: ['Reconnecting', 'The exchange cannot be reached, so the book may be old.'],
} as const;

const Connection = () => {
  const state = useCell(connection);
  const [word, meaning] = STATES[state];
  return (
    <span
      class={`connection connection-${state}`}
      data-testid="connection"
      data-state={state}
      title={meaning}
      role="status"
    >
      <span class="dot" aria-hidden="true" />
      {word}
    </span>
  );
};

const ThemeToggle = () => {
  const isDark = useCell(theme) === 'dark';
  return (
    <button
      type="button"
      class="button button-quiet button-icon theme-toggle"
      onClick={toggleTheme}
      aria-label={isDark ? 'Switch to the light theme' : 'Switch to the dark theme'}
    >
      {isDark ? <SunIcon /> : <MoonIcon />}
    </button>
  );
};

const Who = () => {
  const wallet = useWallet();
  return <div class="who">{wallet ? <SignedIn wallet={wallet} /> : <SignedOut />}</div>;
};

/** It stands over other things, so it goes by itself. */
const REFUSED_MS = 12_000;

const SignedOut = () => {
  const [busy, setBusy] = useState<'test' | 'injected' | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  useEffect(() => {
    if (refused === null) return;
    const timer = setTimeout(setRefused, REFUSED_MS, null);
    return () => clearTimeout(timer);
  }, [refused]);
  const start = (kind: 'test' | 'injected', signIn: () => Promise<void>) => async () => {
    setBusy(kind);
    setRefused(null);
    try {
      await signIn();
    } catch (error) {
      setRefused(wordsFor(error).text);
      setBusy(null);
    }
  };
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={busy !== null}
        onClick={start('injected', signInWithInjected)}
      >
        {busy === 'injected' ? 'Connect wallet…' : 'Connect wallet'}
      </button>
      <button
        type="button"
        class="button button-primary"
        disabled={busy !== null}
        title="Creates a wallet in this browser with one click. It holds test funds only."
        onClick={start('test', signInWithTestWallet)}
      >
        {busy === 'test' ? 'Test wallet…' : 'Test wallet'}
      </button>
      {refused !== null && (
        <p class="who-refused" role="alert">
          {refused}
        </p>
      )}
    </>
  );
};

const SignedIn = ({ wallet: { address, kind } }: { readonly wallet: Wallet }) => {
  const { balances } = useAccount();
  return (
    <>
      <span class="account" data-testid="account" data-address={address} title={address}>
        <span class="account-cash">{balances ? dollars(microOf(balances.collateral.total)) : '…'}</span>
        <span class="account-name">
          {shortAddress(address)}
          {kind === 'test' && <span class="tag">test</span>}
        </span>
      </span>
      <button type="button" class="button button-quiet" onClick={() => void signOut()}>
        Sign out
      </button>
    </>
  );
};
