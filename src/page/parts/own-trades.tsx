import type { OwnTrade } from 'ctf-exchange-client';
import { useAccount, useWallet } from '../account-data';
import { progressOf } from '../chain-words';
import { remembered } from '../market-list-data';
import { nameOf } from '../outcome-names';
import { centsOf, counted, dollars, lotsOf, pipsOf } from '../units';
import { Moment } from './moment';
import { Notice, Skeleton } from './notice';

/** How far the chain is with a trade. */
const Settlement = ({ trade }: { readonly trade: OwnTrade }) => {
  const { settlementStatus, transactionHash } = trade;
  const wallet = useWallet();
  return (
    <span
      class={settlementStatus === 'FAILED' ? 'trade-chain refused' : 'trade-chain hint'}
      title={transactionHash ?? undefined}
      data-testid="settlement"
      data-status={settlementStatus}
    >
      {progressOf(trade, wallet?.address)}
    </span>
  );
};

/** The wallet's trades, from the view of its own orders. */
export const OwnTrades = () => {
  const { trades, balances } = useAccount();
  const isOnChain = balances?.approvals !== undefined;
  if (trades === null) return <Skeleton rows={3} />;
  if (trades.length === 0) return <Notice title="No trades yet">Your trades will appear here.</Notice>;
  return (
    <ul class="orders">
      {trades.map((trade) => {
        const { id, role, marketId, size, matchedAt, own } = trade;
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
            <span class="order-filled">{counted(lots, 'share')}</span>
            <span class="order-status">{dollars(lots * pipsOf(own.price))}</span>
            <span class="order-act">
              <Moment at={matchedAt} />
            </span>
            {isOnChain && <Settlement trade={trade} />}
          </li>
        );
      })}
    </ul>
  );
};
