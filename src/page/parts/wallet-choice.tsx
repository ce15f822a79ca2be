import { useState } from 'preact/hooks';
import { useCell } from '../cell';
import { config, isReal } from '../exchange-state';
import { signInWithInjected, signInWithTestWallet } from '../sign-in';
import { wordsFor } from '../words';

/** Signing in inside the ticket: the typed values stay. */
export const WalletChoice = () => {
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const start = (signIn: () => Promise<void>) => async () => {
    setBusy(true);
    setRefused(null);
    try {
      await signIn();
    } catch (error) {
      setRefused(wordsFor(error).text);
      setBusy(false);
    }
  };
  return (
    <fieldset class="wallet-choice" aria-label="Sign in">
      <p role="alert" class={refused === null ? 'hint' : 'hint refused'}>
        {refused ?? 'Sign in first; what you typed stays.'}
      </p>
      {!isReal(useCell(config)) && (
        <button
          type="button"
          class="button button-primary"
          disabled={busy}
          onClick={start(signInWithTestWallet)}
        >
          Start with test funds
        </button>
      )}
      <button type="button" class="button" disabled={busy} onClick={start(signInWithInjected)}>
        Use my own wallet
      </button>
    </fieldset>
  );
};
