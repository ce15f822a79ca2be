import { useState } from 'preact/hooks';
import { useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import { suspended } from '../chain-words';
import { config } from '../exchange-state';
import { hasCollateral, prepare } from '../on-chain';
import { Faucet } from '../portfolio/faucet';
import { wordsFor } from '../words';

const Tick = ({ isDone, name }: { readonly isDone: boolean; readonly name: string }) => (
  <li class={isDone ? 'up' : ''} data-done={isDone}>
    <span aria-hidden="true">{isDone ? '✓' : '○'}</span> {name}
    <span class="hidden">{isDone ? ' is approved' : ' is not approved yet'}</span>
  </li>
);

/** With funds on a chain: all that keeps the wallet from ordering. */
export const Approvals = () => (
  <>
    <Suspension />
    <Approving />
  </>
);

/** Shown before any order is refused. */
const Suspension = () => {
  const { balances } = useAccount();
  const standing = balances?.standing;
  if (!standing?.suspendedUntil) return null;
  const { suspendedUntil: until, failureReason, strikes } = standing;
  return (
    <section class="card state-card" aria-labelledby="suspension-title" data-testid="suspension">
      <h2 id="suspension-title" class="state-title">
        Suspended
      </h2>
      <p class="hint" role="status">
        {suspended({ until, failureReason, strikes })}
      </p>
    </section>
  );
};

/** The two approvals that trading needs, in one click. Nothing once both are given. */
const Approving = () => {
  const wallet = useWallet();
  const { balances } = useAccount();
  const [step, setStep] = useState<string | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const isTestnet = useCell(config)?.network === 'testnet';
  const approvals = balances?.approvals;
  if (!wallet || !approvals) return null;
  const { collateral, conditionalTokens } = approvals;
  if (collateral.enough && conditionalTokens.approved) return null;
  const start = async (): Promise<void> => {
    setStep('Asking your wallet…');
    setRefused(null);
    await prepare(wallet, setStep).catch((error: unknown) => setRefused(wordsFor(error).text));
    setStep(null);
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
      {wallet.kind === 'injected' && isTestnet && !hasCollateral() && (
        <>
          <p class="hint">Your wallet has no test funds yet. They bring money for gas, too.</p>
          <Faucet />
        </>
      )}
      <button
        type="button"
        class="button button-primary button-wide"
        disabled={step !== null}
        onClick={() => void start()}
      >
        {step === null
          ? wallet.kind === 'test'
            ? 'Get test funds and approve'
            : 'Approve in my wallet'
          : 'Waiting…'}
      </button>
      {step !== null && (
        <p class="hint" role="status" data-testid="approving">
          {step}
        </p>
      )}
      {refused !== null && (
        <p class="hint refused" role="alert">
          {refused}
        </p>
      )}
    </section>
  );
};
