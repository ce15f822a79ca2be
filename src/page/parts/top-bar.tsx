import type { LiveState } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import type { Wallet } from '../exchange';
import { config, isReal } from '../exchange-state';
import { worthIn } from '../holdings';
import { lazy } from '../lazy';
import { connection, liveUntilMs } from '../market-data';
import { inPage, view } from '../route';
import { signInWithInjected, signInWithTestWallet } from '../sign-in';
import { theme, toggleTheme } from '../theme';
import { dollars, lasting, microOf, nowMs, wholeCents } from '../units';
import { wordsFor } from '../words';
import { Logo, MoonIcon, SunIcon } from './icons';

export const TopBar = () => (
  <header class="top">
    <a class="brand" href="/" onClick={inPage('/')}>
      <Logo />
      <span>Exchange</span>
    </a>
    <nav class="top-nav" aria-label="Views">
      <TopLink path="/explore" name="Markets" />
      <TopLink path="/portfolio" name="Portfolio" />
    </nav>
    <Connection />
    <div class="top-space" />
    <Who />
    <ThemeToggle />
  </header>
);

const TopLink = ({ path, name }: { readonly path: string; readonly name: string }) => {
  const isHere = `/${useCell(view).name}` === path;
  return (
    <a href={path} aria-current={isHere ? 'page' : undefined} onClick={inPage(path)}>
      {name}
    </a>
  );
};

const STATES = {
  live: ['Live', 'The book is up to date.'],
  stale: ['Stale', 'Updates are missing, so the book may be old. The page is catching up.'],
  reconnecting: ['Reconnecting', 'The exchange cannot be reached, so the book may be old.'],
} as const;
const TICK_MS = 1_000;

/** The age of the book; null while it is right, or if it never was. */
function useAge(state: LiveState): number | null {
  const untilMs = useCell(liveUntilMs);
  const [, setTick] = useState(0);
  const isOld = state !== 'live' && untilMs !== null;
  useEffect(() => {
    if (!isOld) return;
    const timer = setInterval(() => setTick((now) => now + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isOld]);
  return isOld ? nowMs() - untilMs : null;
}

const Connection = () => {
  const state = useCell(connection);
  const age = useAge(state);
  const isFirst = useCell(liveUntilMs) === null && state !== 'live';
  const [word, meaning] = isFirst ? ['Connecting', 'The book is on its way.'] : STATES[state];
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
      {age !== null && <span class="connection-age">as of {lasting(age)} ago</span>}
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

/** It covers other content, so it disappears by itself. */
const REFUSED_MS = 12_000;

const SignedOut = () => {
  const known = useCell(config);
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
      {/* No key of a browser's storage for real funds. It stands there until the exchange says so, as nothing should move. */}
      {!(known && isReal(known)) && (
        <button
          type="button"
          class="button button-primary"
          disabled={busy !== null || !known}
          title="Creates a wallet in this browser with one click. It holds test funds only."
          onClick={start('test', signInWithTestWallet)}
        >
          {busy === 'test' ? 'Test wallet…' : 'Test wallet'}
        </button>
      )}
      {refused !== null && (
        <p class="who-refused" role="alert">
          {refused}
        </p>
      )}
    </>
  );
};

const AccountMenu = lazy(
  async () => (await import('./later')).LATER.AccountMenu,
  <>
    <span class="button-icon" />
    <span class="button-icon" />
  </>,
);

const SignedIn = ({ wallet: { address, kind } }: { readonly wallet: Wallet }) => {
  const account = useAccount();
  const { balances } = account;
  const value = worthIn(account);
  return (
    <>
      <a
        class="account"
        data-testid="account"
        data-address={address}
        title={address}
        href="/portfolio"
        onClick={inPage('/portfolio')}
      >
        <span class="account-cash">
          <span class="account-word">Portfolio</span> {value === null ? '…' : dollars(value)}
        </span>
        <span class="account-name">
          Cash {balances ? dollars(wholeCents(microOf(balances.collateral.available))) : '…'}
        </span>
      </a>
      <AccountMenu address={address} kind={kind} />
    </>
  );
};
