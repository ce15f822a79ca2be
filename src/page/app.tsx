import type { Market } from 'ctf-exchange-client';
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { useCell } from './cell';
import { type Shown, useMarketNamed, useShown } from './market-data';
import { type ListQuery, useCategories, useMarketList } from './market-list-data';
import { Chart } from './parts/chart';
import { Discussion } from './parts/discussion';
import { Ladder } from './parts/ladder';
import { MarketHead, MarketRules } from './parts/market-head';
import { MarketList } from './parts/market-list';
import { Notice, Skeleton } from './parts/notice';
import { Activity } from './parts/orders';
import { Portfolio } from './parts/positions';
import { Ticket } from './parts/ticket';
import { TopBar } from './parts/top-bar';
import { Trades } from './parts/trades';
import { route } from './route';
import { enterMarket } from './ticket-state';

/** A fault of the page shows an error in place of the page, because its data can no longer be trusted. */
export const Root = () => {
  const [fault] = useErrorBoundary();
  if (fault === undefined) return <App />;
  return (
    <main class="fault">
      <Notice title="Something went wrong on this page">
        Your orders and funds are safe.{' '}
        <button type="button" class="link" onClick={() => location.reload()}>
          Reload the page
        </button>
      </Notice>
    </main>
  );
};

/** The page: markets to the left, the one shown in the middle, ticket and portfolio to the right. */
const App = () => {
  const [query, setQuery] = useState<ListQuery>({ words: '', category: null });
  const list = useMarketList(query);
  const categories = useCategories();
  const named = useCell(route);
  // Without a choice the busiest market is shown, and stays while the list goes on changing.
  const first = useRef<string | null>(null);
  first.current ??= list.markets?.[0]?.slug ?? null;
  const { market, isMissing } = useMarketNamed(named ?? first.current, list.markets);
  const shown = useShown(market);
  const id = market?.id;
  useEffect(() => {
    if (id !== undefined) enterMarket(id);
  }, [id]);
  // Nothing to trade: no such market, or none at all yet.
  const hasNone = list.markets?.length === 0 && query.words === '' && query.category === null;
  const isEmpty = isMissing || (hasNone && market === null);
  const title = market ? `${market.question} · Exchange` : 'Exchange';
  useEffect(() => {
    document.title = title;
  }, [title]);

  return (
    <>
      <a class="skip" href="#ticket">
        To the order ticket
      </a>
      <TopBar />
      <div class="layout">
        <MarketList
          list={list}
          query={query}
          categories={categories}
          chosen={market?.id ?? null}
          onQuery={setQuery}
        />
        <main class="main">
          {isMissing && <Notice title="Market not found">Choose one from the list.</Notice>}
          {isEmpty && !isMissing && (
            <Notice title="No markets yet">A market appears here as soon as the operator opens it.</Notice>
          )}
          {!isEmpty && <MarketView market={market} shown={shown} />}
          <Activity />
          {market && <MarketRules market={market} />}
          {market && <Discussion market={market} />}
        </main>
        <aside class="side" aria-label="Trade">
          {!isEmpty && <Ticket shown={shown} />}
          <Portfolio />
        </aside>
      </div>
      <Foot />
    </>
  );
};

/** The market shown, or the places of its parts while it is on its way. */
const MarketView = ({ market, shown }: { readonly market: Market | null; readonly shown: Shown | null }) => (
  <>
    {market ? (
      <MarketHead market={market} shown={shown} />
    ) : (
      <section class="head">
        <Skeleton rows={3} />
      </section>
    )}
    {market ? <Chart market={market} shown={shown} /> : <section class="card chart chart-waiting" />}
    <div class="pair">
      <Ladder shown={shown} />
      <Trades shown={shown} />
    </div>
  </>
);

const Foot = () => (
  <footer class="foot">
    <span>All funds here are for testing.</span>
    <a href="/docs">API documentation</a>
    <span>
      Charts by <a href="https://www.tradingview.com/">TradingView</a>
    </span>
  </footer>
);
