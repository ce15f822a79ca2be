import { useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import { config } from '../exchange-state';
import { type Holding, holdingsOf, wholeLots, worthOf } from '../holdings';
import type { Shown } from '../market-data';
import { nameOf } from '../outcome-names';
import { centsOf, dollars, microOf, shares, signedDollars } from '../units';
import { CloseButton } from './close-position';
import { Merge, OwedShares, Redeem, Split } from './sets';

/** The wallet's shares in the chosen market, below the ticket. */
export const MyPosition = ({ shown }: { readonly shown: Shown }) => {
  const account = useAccount();
  const wallet = useWallet();
  const { market } = shown;
  const { balances } = account;
  const isOnChain = useCell(config)?.chain != null;
  const held = holdingsOf(account).filter(({ marketId }) => marketId === market.id);
  const isOwed = (balances?.owed ?? []).some(({ marketId }) => marketId === market.id);
  if (!wallet || (held.length === 0 && market.status !== 'OPEN' && !isOwed)) return null;
  return (
    <section class="card mine" aria-labelledby="mine-title">
      <h2 id="mine-title" class="card-title">
        My position
      </h2>
      {held.length === 0 && <p class="hint mine-none">You have no shares here yet.</p>}
      <ul class="positions">
        {held.map((one) => (
          <Position key={one.tokenId} held={one} shown={shown} />
        ))}
      </ul>
      {(balances?.tokens ?? [])
        .filter(({ marketId, pending = '0' }) => marketId === market.id && microOf(pending) > 0)
        .map(({ tokenId, outcomeIndex, pending = '0' }) => (
          <p key={tokenId} class="hint mine-none" data-testid="pending">
            +{shares(wholeLots(microOf(pending)))} {nameOf(market, outcomeIndex)}: not yet spendable, because
            the block with the trade is not final.
          </p>
        ))}
      {(balances?.owed ?? [])
        .filter(({ marketId }) => marketId === market.id)
        .map((one) => (
          <OwedShares key={one.tokenId} market={market} owed={one} />
        ))}
      {market.resolution !== null && isOnChain && held.length > 0 && <Redeem market={market} />}
      {market.status === 'OPEN' && <Merge market={market} held={held} />}
      {market.status === 'OPEN' && <Split market={market} />}
    </section>
  );
};

const Position = ({ held, shown }: { readonly held: Holding; readonly shown: Shown }) => {
  const { outcomeIndex, micro, cost } = held;
  const value = worthOf(held);
  const gain = cost?.unrealizedPnl == null ? null : microOf(cost.unrealizedPnl);
  return (
    <li class="position">
      <span class="position-facts">
        <span class={`outcome outcome-${outcomeIndex}`}>
          {shares(wholeLots(micro))} {nameOf(shown.market, outcomeIndex)}
        </span>
        {cost?.averagePrice != null && <span>at {centsOf(cost.averagePrice)}</span>}
      </span>
      <span class="position-value">{value === null ? '–' : dollars(value)}</span>
      <span class={`position-gain ${gain === null || gain === 0 ? '' : gain > 0 ? 'up' : 'down'}`}>
        {gain === null ? '' : signedDollars(gain)}
      </span>
      <CloseButton held={held} />
    </li>
  );
};
