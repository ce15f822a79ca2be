import type { Balances, OutcomeIndex, Position } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { type Account, showBalances, useAccount, useWallet } from '../account-data';
import { client } from '../exchange';
import { remembered } from '../market-list-data';
import { go } from '../route';
import { prepare } from '../ticket-state';
import { aboutPips, centsOf, dollars, microOf, PIPS_ONE, shares as sharesText, sizeOf } from '../units';
import { wordsFor } from '../words';
import { Notice, Skeleton } from './notice';

/** The wallet's money, and its shares by market. */
export const Portfolio = () => {
  const wallet = useWallet();
  const account = useAccount();
  const { balances } = account;
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
          {balances ? <Positions held={heldOf(account)} /> : <Skeleton rows={2} />}
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

/** Shares in hand. Balances say how many at once; what they cost and gained is counted a moment later. */
interface Held {
  readonly marketId: string;
  readonly outcomeIndex: OutcomeIndex;
  readonly tokenId: string;
  readonly micro: number;
  /** Null until it is counted. */
  readonly cost: Position | null;
}

function heldOf({ balances, positions }: Account): Held[] {
  return (balances?.tokens ?? [])
    .filter(({ total }) => microOf(total) > 0)
    .map(({ marketId, outcomeIndex, tokenId, total }) => {
      const position = positions?.find((one) => one.tokenId === tokenId && one.size === total);
      return { marketId, outcomeIndex, tokenId, micro: microOf(total), cost: position ?? null };
    });
}

const Positions = ({ held }: { readonly held: readonly Held[] }) =>
  held.length === 0 ? (
    <Notice title="No positions yet">Shares that you buy will appear here.</Notice>
  ) : (
    <ul class="positions">
      {held.map((one) => (
        <PositionRow key={one.tokenId} held={one} />
      ))}
    </ul>
  );

/** Into the ticket, ready to be sold. */
function sell({ marketId, outcomeIndex, micro }: Held): void {
  prepare(marketId, { side: 'SELL', outcome: outcomeIndex, shares: sizeOf(wholeLots(micro)) });
  const market = remembered(marketId);
  if (market) go(market.slug);
  document.getElementById('ticket')?.scrollIntoView({ block: 'nearest' });
}

/** Fees can leave parts of a lot. */
const wholeLots = (micro: number): number => Math.floor(micro / PIPS_ONE);

/** As it was counted, else at the market's price. */
function worthOf({ marketId, outcomeIndex, micro, cost }: Held): number | null {
  if (cost?.currentValue != null) return microOf(cost.currentValue);
  const price = remembered(marketId)?.outcomes[outcomeIndex]?.price ?? null;
  return price === null ? null : Math.floor((micro * aboutPips(price)) / PIPS_ONE);
}

const PositionRow = ({ held }: { readonly held: Held }) => {
  const { marketId, outcomeIndex, micro, cost } = held;
  const gain = cost?.unrealizedPnl == null ? null : microOf(cost.unrealizedPnl);
  const value = worthOf(held);
  const name = outcomeIndex === 0 ? 'Yes' : 'No';
  const tone = gain === null || gain === 0 ? '' : gain > 0 ? 'up' : 'down';
  return (
    <li class="position">
      <span class="position-question">{remembered(marketId)?.question ?? 'A market'}</span>
      <span class="position-value">{value === null ? '–' : dollars(value)}</span>
      <span class="position-facts">
        <span class={`outcome outcome-${outcomeIndex}`}>
          {sharesText(wholeLots(micro))} {name}
        </span>
        {cost?.averagePrice != null && <span>at {centsOf(cost.averagePrice)}</span>}
      </span>
      <span class={`position-gain ${tone}`}>
        {gain === null ? '' : `${gain > 0 ? '+' : ''}${dollars(gain)}`}
      </span>
      <button type="button" class="link position-close" onClick={() => sell(held)}>
        Close<span class="hidden"> this position</span>
      </button>
    </li>
  );
};
