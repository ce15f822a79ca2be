import { useState } from 'preact/hooks';
import { useAccount, useWallet } from '../account-data';
import { prepare } from '../on-chain';
import { wordsFor } from '../words';

const Tick = ({ isDone, name }: { readonly isDone: boolean; readonly name: string }) => (
  <li class={isDone ? 'up' : ''} data-done={isDone}>
    <span aria-hidden="true">{isDone ? '✓' : '○'}</span> {name}
    <span class="hidden">{isDone ? ' is approved' : ' is not approved yet'}</span>
  </li>
);

/** With funds on a chain: the two approvals that trading needs, in one click for a test wallet. Nothing once both are given. */
export const Approvals = () => {
  const wallet = useWallet();
  const { balances } = useAccount();
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const approvals = balances?.approvals;
  if (!wallet || !approvals) return null;
  const { collateral, conditionalTokens } = approvals;
  if (collateral.enough && conditionalTokens.approved) return null;
  const start = async (): Promise<void> => {
    setBusy(true);
    setRefused(null);
    await prepare(wallet).catch((error: unknown) => setRefused(wordsFor(error).text));
    setBusy(false);
  };
  return (
    <section class="card state-card" aria-labelledby="approvals-title" data-testid="approvals">
      <h2 id="approvals-title" class="state-title">
        Approve the exchange
      </h2>
      <p class="hint">
        Your funds stay in your wallet. The exchange contract may only take what orders say that you have
        signed.
      </p>
      <ul class="positions">
        <Tick isDone={collateral.enough} name="Collateral" />
        <Tick isDone={conditionalTokens.approved} name="Outcome tokens" />
      </ul>
      <button
        type="button"
        class="button button-primary button-wide"
        disabled={isBusy}
        onClick={() => void start()}
      >
        {isBusy
          ? 'Waiting for the chain…'
          : wallet.kind === 'test'
            ? 'Get test funds and approve'
            : 'Approve in my wallet'}
      </button>
      {refused !== null && (
        <p class="hint refused" role="alert">
          {refused}
        </p>
      )}
    </section>
  );
};
