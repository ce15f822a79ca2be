import type { Market } from 'ctf-exchange-client';
import { useEffect, useState } from 'preact/hooks';
import { useAccount, useWallet } from '../account-data';
import { client } from '../exchange';
import { nameOf } from '../outcome-names';
import { centsOf, dateOf, dollars, microOf, nowMs, signedDollars } from '../units';

/** The wallet's result in an ended market; null while it is unknown. */
interface Outcome {
  readonly paidMicro: number;
  readonly gainMicro: number;
  /** Shares that are still to be paid. */
  readonly owedMicro: number;
}

const ROWS_MAX = 100;
/** Payouts follow the resolution within seconds. */
const ASK_AGAIN_MS = 2_000;

async function outcomeOf(marketId: string): Promise<Outcome> {
  const [activity, positions] = await Promise.all([
    client.activity({ marketId, limit: ROWS_MAX }),
    client.positions({ marketId, limit: ROWS_MAX }),
  ]);
  const sum = (amounts: readonly string[]): number => amounts.map(microOf).reduce((a, b) => a + b, 0);
  const redeemed = activity.data.filter(({ type }) => type === 'REDEEM');
  return {
    paidMicro: sum(redeemed.map(({ changes }) => changes.collateral)),
    gainMicro: sum(positions.data.map(({ realizedPnl }) => realizedPnl)),
    owedMicro: sum(positions.data.map(({ currentValue }) => currentValue ?? '0')),
  };
}

function useOutcome(market: Market): Outcome | null {
  const wallet = useWallet();
  const { balances } = useAccount();
  const [found, setFound] = useState<Outcome | null>(null);
  const isOver = market.resolution !== null;
  useEffect(() => {
    setFound(null);
    if (!wallet || !isOver) return;
    let isCurrent = true;
    const ask = (): void =>
      void outcomeOf(market.id).then(
        (next) => isCurrent && setFound(next),
        () => undefined,
      );
    ask();
    const timer = setTimeout(ask, ASK_AGAIN_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [market.id, isOver, wallet?.address, balances]);
  return found;
}

/** Shown instead of the ticket: the result of the market, or the reason why it does not trade. */
export const StateCard = ({ market }: { readonly market: Market }) => (
  <section
    id="ticket"
    class="card state-card"
    data-testid="state"
    data-status={market.status}
    aria-label="State"
  >
    <h2 class="state-title">{titleOf(market)}</h2>
    {market.resolution ? <Ended market={market} /> : <p>{WAITING[market.status] ?? ''}</p>}
  </section>
);

const WAITING: Readonly<Record<string, string>> = {
  PAUSED:
    'The operator has paused this market. Open orders stay in the book and can be cancelled; new ones have to wait.',
  CLOSED: 'This market takes no more orders. It pays as soon as the operator has decided it.',
  DRAFT: 'This market is not open yet.',
};

function titleOf(market: Market): string {
  switch (market.status) {
    case 'RESOLVED':
      return `Resolved: ${nameOf(market, market.resolution?.outcomeIndex ?? 0)}`;
    case 'VOIDED':
      return 'Voided';
    case 'PAUSED':
      return 'Paused: cancel only';
    default:
      return 'Closed';
  }
}

const Ended = ({ market }: { readonly market: Market }) => {
  const { resolution } = market;
  const mine = useOutcome(market);
  if (!resolution) return null;
  const { outcomeIndex, payouts, resolvedAt, payoutAt, evidence } = resolution;
  const pays = Date.parse(payoutAt) > nowMs() ? 'pays' : 'paid';
  const share = centsOf(payouts[outcomeIndex ?? 0] ?? '0.5');
  return (
    <>
      <p>
        {outcomeIndex === null
          ? `On ${dateOf(resolvedAt)}; each share ${pays} ${share}, whatever its outcome.`
          : `On ${dateOf(resolvedAt)}; each share of ${nameOf(market, outcomeIndex)} ${pays} $1.`}
      </p>
      {mine && <Mine mine={mine} />}
      {evidence !== null && (
        <p>
          <a href={evidence} rel="noopener noreferrer nofollow" target="_blank">
            Evidence
          </a>
        </p>
      )}
    </>
  );
};

const Mine = ({ mine: { paidMicro, gainMicro, owedMicro } }: { readonly mine: Outcome }) => {
  if (paidMicro === 0 && owedMicro > 0)
    return <p role="status">Your payout of {dollars(owedMicro)} is on its way.</p>;
  if (paidMicro === 0 && gainMicro === 0) return <p class="muted">You had no shares in it.</p>;
  if (paidMicro === 0)
    return (
      <p class="state-mine" role="status" data-testid="payout">
        {gainMicro < 0 ? 'You lost ' : 'Sold before the end: you gained '}
        <strong>{dollars(Math.abs(gainMicro))}</strong>
      </p>
    );
  return (
    <p class="state-mine" role="status" data-testid="payout">
      {gainMicro >= 0 ? 'You won ' : 'You were paid '}
      <strong>{dollars(paidMicro)}</strong>{' '}
      <span class={gainMicro >= 0 ? 'up' : 'down'}>({signedDollars(gainMicro)})</span>
    </p>
  );
};
