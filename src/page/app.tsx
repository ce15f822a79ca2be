import type { Category, Market } from 'ctf-exchange-client';
import { useEffect, useErrorBoundary, useMemo, useRef } from 'preact/hooks';
import { useCell } from './cell';
import { config, fundsWords, isOver } from './exchange-state';
import type { Found } from './found';
import { keyDialog, tickPips } from './keys';
import { lazy } from './lazy';
import { listQuery, PLAIN } from './list-query';
import { type Shown, useMarketNamed, useShown } from './market-data';
import { type MarketList as List, useCategories, useMarketList } from './market-list-data';
import { isNarrow, isVast } from './narrow';
import { Chart } from './parts/chart';
import { ExchangeBar } from './parts/exchange-bar';
import { Ladder } from './parts/ladder';
import { MarketHead } from './parts/market-head';
import { MarketList } from './parts/market-list';
import { MarketTabs } from './parts/market-tabs';
import { Notice, Skeleton } from './parts/notice';
import { Ticket } from './parts/ticket';
import { Toasts } from './parts/toasts';
import { TopBar } from './parts/top-bar';
import { TradeBar } from './parts/trade-bar';
import { Trades } from './parts/trades';
import { eventChoice, settleOn, view } from './route';
import { enterMarket } from './ticket-state';
import { unseen } from './toasts';
import { pipsOf } from './units';

/** After a bug, the page shows an error instead of its content, because its data can no longer be trusted. */
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

/** The tab has the number of news that came while it was hidden, and the market. */
function useTitle(market: Market | null): void {
  const count = useCell(unseen);
  const title = `${count > 0 ? `(${count}) ` : ''}${market ? `${market.question} · Exchange` : 'Exchange'}`;
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** The book changes many times a second, and the list does not: the same element is not rendered again. */
const useListOnce = (list: List, categories: readonly Category[], chosen: string | null) =>
  useMemo(
    () => <MarketList list={list} categories={categories} chosen={chosen} />,
    [list, categories, chosen],
  );

/** The ticket and its keys are those of the market shown. */
function useEntering(market: Market | null): void {
  useEffect(() => {
    if (!market) return;
    enterMarket(market.id);
    tickPips.set(pipsOf(market.tickSize));
  }, [market?.id]);
}

/** The page: markets on the left, the chosen market in the middle, ticket and portfolio on the right. */
const App = () => {
  const list = useMarketList(useCell(listQuery));
  const categories = useCategories();
  const at = useCell(view);
  const choice = useCell(eventChoice);
  const named = at.name === 'market' ? at.market : at.name === 'event' ? choice : null;
  // Without a choice the busiest market is shown, and stays while the list changes.
  const first = useRef<string | null>(null);
  first.current ??= list.markets?.[0]?.slug ?? null;
  const found = useMarketNamed(named ?? first.current, list.markets);
  const { value: market } = found;
  const shown = useShown(market, named === null ? list.markets !== null : found.isMissing);
  useEntering(market);
  useEffect(() => {
    if (market && at.name === 'market' && named === null) settleOn(market.slug);
  }, [market?.id, at]);
  const hasNone = list.markets?.length === 0 && listQuery.get() === PLAIN && named === null;
  useTitle(market);

  const markets = useListOnce(list, categories, market?.id ?? null);
  return (
    <>
      <a class="skip" href={at.name === 'market' && shown ? '#ticket' : '#content'}>
        {at.name === 'market' && shown ? 'To the order ticket' : 'To the content'}
      </a>
      <TopBar />
      <ExchangeBar />
      {at.name === 'explore' ? (
        <div class="layout layout-one">
          <MarketsPage list={list} categories={categories} />
        </div>
      ) : at.name === 'portfolio' ? (
        <div class="layout layout-wide">
          {markets}
          <PortfolioPage />
        </div>
      ) : at.name === 'person' ? (
        <div class="layout layout-wide">
          {markets}
          <PersonPage key={at.address} address={at.address} />
        </div>
      ) : at.name === 'leaders' ? (
        <div class="layout layout-wide">
          {markets}
          <LeadersPage />
        </div>
      ) : at.name === 'event' ? (
        <div class="layout layout-event">
          {markets}
          <EventPage key={at.slug} slug={at.slug} shown={shown} />
        </div>
      ) : (
        <div class="layout layout-market">
          {markets}
          <MarketPage found={found} shown={shown} hasNone={hasNone} />
        </div>
      )}
      <Foot />
      <TradeBar shown={at.name === 'market' ? shown : null} />
      <Toasts />
      {useCell(keyDialog) && <KeyDialog />}
    </>
  );
};

const PortfolioPage = lazy(async () => (await import('./portfolio/page')).PortfolioPage);
const MyPosition = lazy(async () => (await import('./parts/later')).LATER.MyPosition, null);
const HowItWorks = lazy(async () => (await import('./parts/later')).LATER.HowItWorks, null);
const KeyDialog = lazy(async () => (await import('./parts/later')).LATER.KeyDialog, null);
const PersonPage = lazy(async () => (await import('./parts/person-page')).PersonPage);
const LeadersPage = lazy(async () => (await import('./parts/leaders-page')).LeadersPage);
const MarketsPage = lazy(async () => (await import('./parts/markets-page')).MarketsPage);
const EventPage = lazy(async () => (await import('./parts/event-page')).EventPage);

interface MarketPageProps {
  readonly found: Found<Market>;
  readonly shown: Shown | null;
  readonly hasNone: boolean;
}

/** Why there is no market to show; null while it is loading, too. */
const lackOf = ({ value, isMissing, failure }: Found<Market>, hasNone: boolean) =>
  value ? null : isMissing ? (
    <Notice title="Market not found">Choose one from the list.</Notice>
  ) : failure !== null ? (
    <Notice title="The market could not be loaded">{failure}</Notice>
  ) : hasNone ? (
    <Notice title="No markets yet">A market appears here as soon as the operator opens it.</Notice>
  ) : null;

const MarketPage = ({ found, shown, hasNone }: MarketPageProps) => {
  const hasColumn = useCell(isVast);
  const { value: market } = found;
  const lack = lackOf(found, hasNone);
  return (
    <>
      <main class="main" id="content" tabIndex={-1}>
        {lack ?? <MarketView market={market} shown={shown} />}
        <MarketTabs market={market} shown={shown} />
      </main>
      {!lack && hasColumn && <BookAndTrades market={market} shown={shown} />}
      <aside class="side" aria-label="Trade">
        {!lack && <Ticket shown={shown} />}
        <HowItWorks />
        {shown && <MyPosition shown={shown} />}
      </aside>
    </>
  );
};

interface ShownProps {
  readonly market: Market | null;
  readonly shown: Shown | null;
}

/** The chosen market, or placeholders while it is loading. */
const MarketView = ({ market, shown }: ShownProps) => {
  const hasColumn = useCell(isVast);
  return (
    <>
      {market ? (
        <MarketHead market={market} shown={shown} />
      ) : (
        <section class="head">
          <Skeleton rows={3} />
        </section>
      )}
      {market ? <Chart market={market} shown={shown} /> : <section class="card chart chart-waiting" />}
      {!useCell(isNarrow) && !hasColumn && <BookAndTrades market={market} shown={shown} />}
    </>
  );
};

/** Side by side below the chart, or one above the other in a column of their own. */
const BookAndTrades = ({ market, shown }: ShownProps) => {
  const isEnded = market !== null && isOver(shown?.market ?? market);
  return (
    <div class={isEnded ? 'pair pair-over' : 'pair'}>
      {!isEnded && <Ladder shown={shown} />}
      <Trades shown={shown} />
    </div>
  );
};

const Foot = () => (
  <footer class="foot">
    <span>{fundsWords(useCell(config))}</span>
    <a href="/docs">API documentation</a>
    <span>
      Charts by <a href="https://www.tradingview.com/">TradingView</a>
    </span>
  </footer>
);
