import { complementPrice, type Order, type OwnTrade } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { isOpen, reloadAccount, showOrder, useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import { client } from '../exchange';
import { exchangeState } from '../exchange-state';
import { remembered } from '../market-list-data';
import { REASON, STATUS } from '../order-words';
import { nameOf } from '../outcome-names';
import { centsOf, dollars, lotsOf, pipsOf, shares, when } from '../units';
import { wordsFor } from '../words';
import { Notice, Skeleton } from './notice';

type Tab = 'orders' | 'trades';

/** The wallet's orders, open ones first, and its trades. */
export const Activity = () => {
  const [tab, setTab] = useState<Tab>('orders');
  const wallet = useWallet();
  const { orders, trades } = useAccount();
  const openCount = (orders ?? []).filter(isOpen).length;
  const choose = (value: Tab, name: string) => (
    <button type="button" class="tab" aria-pressed={tab === value} onClick={() => setTab(value)}>
      {name}
    </button>
  );
  return (
    <section class="card activity" aria-label="My orders and trades">
      <div class="activity-head">
        <fieldset class="tabs" aria-label="What to show">
          {choose('orders', openCount > 0 ? `My orders (${openCount})` : 'My orders')}
          {choose('trades', 'My trades')}
        </fieldset>
        {tab === 'orders' && openCount > 0 && <CancelAll />}
      </div>
      {!wallet ? (
        <Notice title="Your orders will appear here">Sign in with your wallet, or with a test wallet.</Notice>
      ) : tab === 'orders' ? (
        <Orders orders={orders} />
      ) : (
        <OwnTrades trades={trades} />
      )}
    </section>
  );
};

export const CancelAll = () => {
  const isHalted = useCell(exchangeState)?.mode === 'HALTED';
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const cancel = async (): Promise<void> => {
    setBusy(true);
    try {
      await client.cancelAll();
      setRefused(null);
    } catch (error) {
      setRefused(wordsFor(error).text);
    }
    reloadAccount();
    setBusy(false);
  };
  return (
    <span class="cancel-all">
      {refused !== null && (
        <span class="refused" role="alert">
          {refused}
        </span>
      )}
      <button
        type="button"
        class="button button-small"
        disabled={isBusy || isHalted}
        onClick={() => void cancel()}
      >
        Cancel all
      </button>
    </span>
  );
};

export const Orders = ({ orders }: { readonly orders: readonly Order[] | null }) => {
  if (orders === null) return <Skeleton rows={3} />;
  if (orders.length === 0) {
    return <Notice title="No orders yet">Place an order with the ticket; it appears here at once.</Notice>;
  }
  return (
    <ul class="orders">
      {orders.map((order) => (
        <OrderRow key={order.orderHash} order={order} />
      ))}
    </ul>
  );
};

const OrderRow = ({ order }: { readonly order: Order }) => {
  const { orderHash, status, side, outcomeIndex, price, size, filledSize, averagePrice, reason, orderType } =
    order;
  const market = remembered(order.marketId);
  const isHalted = useCell(exchangeState)?.mode === 'HALTED';
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const cancel = async (): Promise<void> => {
    setBusy(true);
    try {
      await client.cancel(orderHash);
    } catch (error) {
      setRefused(wordsFor(error).text);
    }
    await client.order(orderHash).then(showOrder, () => undefined);
    setBusy(false);
  };
  const done = Number(filledSize) / Math.max(Number(size), 0.01);
  const why = reason === null ? undefined : REASON[reason];
  return (
    <li
      class={isOpen(order) ? 'order' : 'order order-done'}
      data-testid="order"
      data-hash={orderHash}
      data-status={status}
      data-average-price={averagePrice ?? ''}
    >
      <span class="order-question">{market?.question ?? 'A market'}</span>
      <span class="order-what">
        {side === 'BUY' ? 'Buy' : 'Sell'}{' '}
        <span class={`outcome outcome-${outcomeIndex}`}>{nameOf(market, outcomeIndex)}</span>{' '}
        {orderType === 'MARKET' ? 'at market' : `at ${centsOf(price)}`}
      </span>
      <span class="order-filled">
        {shares(lotsOf(filledSize))} of {shares(lotsOf(size))}
        {averagePrice !== null && ` at ${centsOf(averagePrice)}`}
        <span class="meter" aria-hidden="true">
          <span style={{ transform: `scaleX(${Math.min(1, done)})` }} />
        </span>
      </span>
      <span class="order-status">
        {STATUS[status]}
        {why !== undefined && <span class="hint">{why}</span>}
      </span>
      <span class="order-act">
        {isOpen(order) ? (
          <button
            type="button"
            class="button button-small"
            disabled={isBusy || isHalted}
            title={isHalted ? 'Trading is halted: the order stays as it is.' : undefined}
            onClick={() => void cancel()}
          >
            Cancel
          </button>
        ) : (
          <time dateTime={order.updatedAt}>{when(order.updatedAt)}</time>
        )}
      </span>
      {refused !== null && (
        <span class="order-refused refused" role="alert">
          {refused}
        </span>
      )}
    </li>
  );
};

/** Trades are reported from the taker's side; the maker's side follows from the match type. */
function ownView({ role, side, outcomeIndex, price, matchType }: OwnTrade) {
  if (role === 'TAKER') return { side, outcomeIndex, price };
  if (matchType === 'COMPLEMENTARY') return { side: OTHER[side], outcomeIndex, price };
  return { side, outcomeIndex: outcomeIndex === 0 ? 1 : 0, price: complementPrice(price) } as const;
}

const OTHER = { BUY: 'SELL', SELL: 'BUY' } as const;

const OwnTrades = ({ trades }: { readonly trades: readonly OwnTrade[] | null }) => {
  if (trades === null) return <Skeleton rows={3} />;
  if (trades.length === 0) return <Notice title="No trades yet">Your trades will appear here.</Notice>;
  return (
    <ul class="orders">
      {trades.map((trade) => {
        const { side, outcomeIndex, price } = ownView(trade);
        const lots = lotsOf(trade.size);
        return (
          <li key={`${trade.id} ${trade.role}`} class="order own-trade">
            <span class="order-question">{remembered(trade.marketId)?.question ?? 'A market'}</span>
            <span class="order-what">
              {side === 'BUY' ? 'Bought' : 'Sold'}{' '}
              <span class={`outcome outcome-${outcomeIndex}`}>
                {nameOf(remembered(trade.marketId), outcomeIndex)}
              </span>{' '}
              at {centsOf(price)}
            </span>
            <span class="order-filled">{shares(lots)} shares</span>
            <span class="order-status">{dollars(lots * pipsOf(price))}</span>
            <span class="order-act">
              <time dateTime={trade.matchedAt}>{when(trade.matchedAt)}</time>
            </span>
          </li>
        );
      })}
    </ul>
  );
};
