import { useState } from 'preact/hooks';
import type { Balances, Position } from '../../client/index';
import { showBalances, useAccount, useWallet } from '../account-data';
import { client } from '../exchange';
import { remembered } from '../market-list-data';
import { go } from '../route';
import { prepare } from '../ticket-state';
import { centsOf, dollars, MICRO_ONE, microOf, shares as sharesText, sizeOf } from '../units';
import { wordsFor } from '../words';
import { Notice, Skeleton } from './notice';

/** What the wallet has: money, and shares by market. */
export const Portfolio = () => {
  const wallet = useWallet();
  const { balances, positions } = useAccount();
  return (
    <section class="card portfolio" aria-labelledby="portfolio-title">
      <h2 id="portfolio-title" class="card-title">
        Portfolio
      </h2>
      {!wallet ? (
        <Notice title="Not signed in">
          A test wallet takes one click and comes with test funds. Nothing here costs real money.
        </Notice>
      ) : (
        <>
          {balances ? <Cash balances={balances} /> : <Skeleton rows={2} />}
          {wallet.kind === 'test' && (
            <p class="hint">
              This is a test wallet: its key is kept in this browser only. Never send real funds to it.
            </p>
          )}
          <h3 class="card-subtitle">Positions</h3>
          {positions === null ? <Skeleton rows={2} /> : <Positions positions={positions} />}
        </>
      )}
    </section>
  );
};

const Cash = ({ balances: { collateral } }: { readonly balances: Balances }) => (
  <div class="cash">
    <dl class="facts">
      <div>
        <dt>Free</dt>
        <dd>{dollars(microOf(collateral.available))}</dd>
      </div>
      <div>
        <dt>In orders</dt>
        <dd>{dollars(microOf(collateral.reserved))}</dd>
      </div>
    </dl>
    <Faucet />
  </div>
);

const Faucet = () => {
  const [said, setSaid] = useState<{ readonly text: string; readonly isRefusal: boolean } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const take = async (): Promise<void> => {
    setBusy(true);
    try {
      showBalances(await client.faucet());
      setSaid({ text: 'Test funds have arrived.', isRefusal: false });
    } catch (error) {
      setSaid({ text: wordsFor(error).text, isRefusal: true });
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" class="button button-small" disabled={isBusy} onClick={() => void take()}>
        Get test funds
      </button>
      {said && (
        <p class={said.isRefusal ? 'hint refused' : 'hint'} role={said.isRefusal ? 'alert' : 'status'}>
          {said.text}
        </p>
      )}
    </>
  );
};

const Positions = ({ positions }: { readonly positions: readonly Position[] }) => {
  const held = positions.filter(({ size }) => microOf(size) > 0);
  if (held.length === 0) return <Notice title="No positions yet">What you buy shows up here.</Notice>;
  return (
    <ul class="positions">
      {held.map((position) => (
        <PositionRow key={position.tokenId} position={position} />
      ))}
    </ul>
  );
};

/** Into the ticket, ready to be sold. */
function sell({ marketId, outcomeIndex, size }: Position): void {
  prepare(marketId, { side: 'SELL', outcome: outcomeIndex, shares: sizeOf(wholeLots(size)) });
  const market = remembered(marketId);
  if (market) go(market.slug);
  document.getElementById('ticket')?.scrollIntoView({ block: 'nearest' });
}

/** Fees can leave parts of a lot. */
const wholeLots = (size: string): number => Math.floor((microOf(size) / MICRO_ONE) * 100);

const PositionRow = ({ position }: { readonly position: Position }) => {
  const { marketId, outcomeIndex, size, averagePrice, currentValue, unrealizedPnl } = position;
  const gain = unrealizedPnl === null ? null : microOf(unrealizedPnl);
  const name = outcomeIndex === 0 ? 'Yes' : 'No';
  return (
    <li class="position">
      <span class="position-question">{remembered(marketId)?.question ?? 'A market'}</span>
      <span class="position-value">{currentValue === null ? '–' : dollars(microOf(currentValue))}</span>
      <span class="position-facts">
        <span class={`outcome outcome-${outcomeIndex}`}>
          {sharesText(wholeLots(size))} {name}
        </span>
        {averagePrice !== null && <span>at {centsOf(averagePrice)}</span>}
      </span>
      <span
        class={
          gain === null || gain === 0 ? 'position-gain' : gain > 0 ? 'position-gain up' : 'position-gain down'
        }
      >
        {gain === null ? '' : `${gain > 0 ? '+' : ''}${dollars(gain)}`}
      </span>
      <button type="button" class="link position-close" onClick={() => sell(position)}>
        Close<span class="hidden"> the position in {name}</span>
      </button>
    </li>
  );
};
