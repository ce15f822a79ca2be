import type { Order } from 'ctf-exchange-client';
import { useRef, useState } from 'preact/hooks';
import { isOpen, reloadAccount, showOrder, useWallet } from '../account-data';
import { useCell } from '../cell';
import { whyFailed } from '../chain-words';
import { client } from '../exchange';
import { exchangeState } from '../exchange-state';
import { remembered } from '../market-list-data';
import { REASON, STATUS } from '../order-words';
import { nameOf } from '../outcome-names';
import { tell } from '../toasts';
import { centsOf, counted, lotsOf, shares } from '../units';
import { wordsFor } from '../words';
import { EditOrder } from './edit-order';
import { Moment } from './moment';
import { Notice, Skeleton } from './notice';

/** The open orders of one market, or of all. */
export const CancelAll = ({ marketId = null }: { readonly marketId?: string | null }) => {
  const isHalted = useCell(exchangeState)?.mode === 'HALTED';
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const cancel = async (): Promise<void> => {
    setBusy(true);
    try {
      await client.cancelAll(marketId === null ? {} : { marketId });
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

const Facts = ({ order }: { readonly order: Order }) => {
  const { status, side, outcomeIndex, price, size, filledSize, averagePrice, reason, orderType } = order;
  const market = remembered(order.marketId);
  const done = Number(filledSize) / Math.max(Number(size), 0.01);
  const why = reason === null ? undefined : REASON[reason];
  return (
    <>
      <span class="order-question" dir="auto">
        {market?.question ?? 'A market'}
      </span>
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
    </>
  );
};

/** The part of an order that the chain refused. */
const Failed = ({ order: { failedSize = '0', fills } }: { readonly order: Order }) => {
  const wallet = useWallet();
  if (lotsOf(failedSize) === 0) return null;
  const last = fills.filter(({ settlementStatus }) => settlementStatus === 'FAILED').at(-1);
  const why = last ? whyFailed(last, wallet?.address) : 'Failed: nothing was paid. My trades say why.';
  return (
    <span class="order-refused refused" data-testid="order-failed">
      {counted(lotsOf(failedSize), 'share')} on the chain. {why}
    </span>
  );
};

const OrderRow = ({ order }: { readonly order: Order }) => {
  const { orderHash, status, averagePrice } = order;
  const isOpenMarket = remembered(order.marketId)?.status === 'OPEN';
  const isHalted = useCell(exchangeState)?.mode === 'HALTED';
  const [isBusy, setBusy] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const row = useRef<HTMLLIElement>(null);
  // The button that was pressed is gone once the order is drawn as it is now, and the focus must not be lost with it.
  const finish = async (words: string): Promise<void> => {
    tell(words);
    await client.order(orderHash).then(showOrder, () => undefined);
    requestAnimationFrame(() => row.current?.focus());
  };
  const cancel = async (): Promise<void> => {
    setBusy(true);
    try {
      await client.cancel(orderHash);
      await finish('The order is cancelled.');
    } catch (error) {
      setRefused(wordsFor(error).text);
      await client.order(orderHash).then(showOrder, () => undefined);
    }
    setBusy(false);
  };
  return (
    <li
      ref={row}
      tabIndex={-1}
      class={isOpen(order) ? 'order' : 'order order-done'}
      data-testid="order"
      data-hash={orderHash}
      data-status={status}
      data-average-price={averagePrice ?? ''}
    >
      <Facts order={order} />
      <span class="order-act">
        {isOpen(order) ? (
          <>
            <button
              type="button"
              class="link order-edit"
              disabled={isBusy || isHalted || !isOpenMarket}
              onClick={() => setEditing(!isEditing)}
            >
              Edit<span class="hidden"> this order</span>
            </button>
            <button
              type="button"
              class="button button-small"
              disabled={isBusy || isHalted}
              title={isHalted ? 'Trading is halted: the order stays as it is.' : undefined}
              onClick={() => void cancel()}
            >
              Cancel
            </button>
          </>
        ) : (
          <Moment at={order.updatedAt} />
        )}
      </span>
      <Failed order={order} />
      {isEditing && isOpen(order) && (
        <EditOrder
          order={order}
          onDone={() => {
            setEditing(false);
            void finish('The order is replaced.');
          }}
        />
      )}
      {refused !== null && (
        <span class="order-refused refused" role="alert">
          {refused}
        </span>
      )}
    </li>
  );
};

interface ToolsProps {
  /** Whether orders of all markets are shown. */
  readonly isAll: boolean;
  onChoose(isAll: boolean): void;
  readonly marketId: string | null;
  readonly isAnyOpen: boolean;
}

/** Chooses the market whose orders are shown, and cancels these orders. */
export const OrderTools = ({ isAll, onChoose, marketId, isAnyOpen }: ToolsProps) => (
  <span class="activity-tools">
    <fieldset class="chips" aria-label="Which orders">
      <button type="button" class="chip" aria-pressed={!isAll} onClick={() => onChoose(false)}>
        This market
      </button>
      <button type="button" class="chip" aria-pressed={isAll} onClick={() => onChoose(true)}>
        All
      </button>
    </fieldset>
    {isAnyOpen && <CancelAll marketId={isAll ? null : marketId} />}
  </span>
);
