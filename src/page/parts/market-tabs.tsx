import type { Market } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { isOpen, useAccount, useWallet } from '../account-data';
import { useCell } from '../cell';
import { isOver } from '../exchange-state';
import { lazy } from '../lazy';
import type { Shown } from '../market-data';
import { isNarrow } from '../narrow';
import { Ladder } from './ladder';
import { Notice } from './notice';
import { Trades } from './trades';

const OrderTools = lazy(async () => (await import('./later')).LATER.OrderTools, null);
const Orders = lazy(async () => (await import('./later')).LATER.Orders);
const OwnTrades = lazy(async () => (await import('./later')).LATER.OwnTrades);
const MarketPeople = lazy(async () => (await import('./later')).LATER.MarketPeople);
const Rules = lazy(async () => (await import('./later')).LATER.Rules);
const Discussion = lazy(async () => (await import('./later')).LATER.Discussion);

type Tab = 'book' | 'trades' | 'orders' | 'mine' | 'activity' | 'holders' | 'rules' | 'talk';

interface Props {
  readonly market: Market | null;
  readonly shown: Shown | null;
}

/** The large parts below the chart, one at a time; on a phone also book and trades. */
export const MarketTabs = ({ market, shown }: Props) => {
  const narrow = useCell(isNarrow);
  const over = market !== null && isOver(shown?.market ?? market);
  const [chosen, setTab] = useState<Tab | null>(null);
  const [isAll, setAll] = useState(true);
  const { orders } = useAccount();
  const first: Tab = narrow ? (over ? 'trades' : 'book') : 'orders';
  const tab = chosen === null || (!narrow && (chosen === 'book' || chosen === 'trades')) ? first : chosen;
  const mine = (orders ?? []).filter((order) => isAll || order.marketId === market?.id);
  const open = mine.filter(isOpen);
  const choose = (value: Tab, name: string) => (
    <button type="button" class="tab" aria-pressed={tab === value} onClick={() => setTab(value)}>
      {name}
    </button>
  );
  return (
    <section class="card activity" aria-label="About this market, and my orders">
      <div class="activity-head">
        <fieldset class="tabs" aria-label="Tabs">
          {narrow && !over && choose('book', 'Book')}
          {narrow && choose('trades', 'Trades')}
          {choose('orders', open.length > 0 ? `My orders (${open.length})` : 'My orders')}
          {choose('mine', 'My trades')}
          {market && choose('activity', 'Activity')}
          {market && choose('holders', 'Top holders')}
          {market && choose('rules', 'Rules')}
          {market && choose('talk', 'Discussion')}
        </fieldset>
        {tab === 'orders' && orders !== null && orders.length > 0 && (
          <OrderTools
            isAll={isAll}
            onChoose={setAll}
            marketId={market?.id ?? null}
            isAnyOpen={open.length > 0}
          />
        )}
      </div>
      {tab === 'book' && <Ladder shown={shown} />}
      {tab === 'trades' && <Trades shown={shown} />}
      {tab === 'orders' && (
        <Signed>
          <Orders orders={orders && mine} />
        </Signed>
      )}
      {tab === 'mine' && (
        <Signed>
          <OwnTrades />
        </Signed>
      )}
      {(tab === 'activity' || tab === 'holders') && market && <MarketPeople market={market} tab={tab} />}
      {tab === 'rules' && market && <Rules market={shown?.market ?? market} />}
      {tab === 'talk' && market && <Discussion market={market} />}
    </section>
  );
};

const Signed = ({ children }: { readonly children: preact.ComponentChildren }) =>
  useWallet() ? (
    (children as preact.VNode)
  ) : (
    <Notice title="Your orders will appear here">Sign in with your wallet, or with a test wallet.</Notice>
  );
