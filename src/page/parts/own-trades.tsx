import { useAccount } from '../account-data';
import { remembered } from '../market-list-data';
import { nameOf } from '../outcome-names';
import { centsOf, dollars, lotsOf, pipsOf, shares, when } from '../units';
import { Notice, Skeleton } from './notice';

/** The wallet's trades, from the view of its own orders. */
export const OwnTrades = () => {
  const { trades } = useAccount();
  if (trades === null) return <Skeleton rows={3} />;
  if (trades.length === 0) return <Notice title="No trades yet">Your trades will appear here.</Notice>;
  return (
    <ul class="orders">
      {trades.map(({ id, role, marketId, size, matchedAt, own }) => {
        const lots = lotsOf(size);
        const market = remembered(marketId);
        return (
          <li key={`${id} ${role}`} class="order own-trade">
            <span class="order-question">{market?.question ?? 'A market'}</span>
            <span class="order-what">
              {own.side === 'BUY' ? 'Bought' : 'Sold'}{' '}
              <span class={`outcome outcome-${own.outcomeIndex}`}>{nameOf(market, own.outcomeIndex)}</span> at{' '}
              {centsOf(own.price)}
            </span>
            <span class="order-filled">{shares(lots)} shares</span>
            <span class="order-status">{dollars(lots * pipsOf(own.price))}</span>
            <span class="order-act">
              <time dateTime={matchedAt}>{when(matchedAt)}</time>
            </span>
          </li>
        );
      })}
    </ul>
  );
};
