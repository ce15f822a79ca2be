import type { BookSides, LiveState, Market, Ticker, Trade, Trading } from 'ctf-exchange-client';
import { useLayoutEffect, useState } from 'preact/hooks';
import { type Cell, cell } from './cell';
import { client, live } from './exchange';
import { type Found, useFound } from './found';
import { remember } from './market-list-data';
import { type Inputs, type Judgement, judge, type Standing } from './order-draft';
import { tell } from './toasts';
import { aboutPips, nowMs, PIPS_ONE, pipsOf } from './units';

/** The current data of the chosen market. */
export interface Shown {
  readonly market: Market;
  /** The EIP-712 domain and types of an order; null until it is known. */
  readonly trading: Trading | null;
  /** The Yes book; null before the first snapshot. */
  readonly book: (BookSides & { readonly sequence: number }) | null;
  readonly trades: readonly Trade[] | null;
  readonly ticker: Ticker | null;
}

/** The state of the shown book, for the indicator. */
export const connection: Cell<LiveState> = cell<LiveState>('reconnecting');
/** The last time at which the book was right; null if it never was. */
export const liveUntilMs: Cell<number | null> = cell<number | null>(null);

/** A shorter interruption is not shown. */
const AWAY_TOLD_MS = 2_000;
let awaySinceMs: number | null = null;
let agingTimer: ReturnType<typeof setTimeout> | undefined;

function showOld(): void {
  document.documentElement.dataset.feed = 'old';
}

connection.subscribe(() => {
  if (connection.get() === 'live' && awaySinceMs !== null && nowMs() - awaySinceMs > AWAY_TOLD_MS)
    tell('Back online: the book is up to date.', 'good');
  if (connection.get() === 'live') awaySinceMs = null;
  else if (liveUntilMs.get() !== null) awaySinceMs ??= nowMs();
  // The book was live until now, or is live from now on.
  if (connection.get() === 'live' || liveUntilMs.get() !== null) liveUntilMs.set(nowMs());
  clearTimeout(agingTimer);
  if (connection.get() === 'live') document.documentElement.dataset.feed = 'live';
  else if (liveUntilMs.get() !== null) agingTimer = setTimeout(showOld, AWAY_TOLD_MS);
});

/** A book that may be outdated is no reason to refuse an order. */
export const judgeNow = (inputs: Inputs, standing: Standing): Judgement =>
  judge(inputs, connection.get() === 'live' ? standing : { ...standing, book: null, free: null });

/** A market order waits no longer for a book that was right this long ago. */
const AWAITED_MS_MAX = 10_000;
const LOOK_MS = 50;

/** Whether the book is right; if it was right a moment ago, after a wait, because signing in connects again. */
export async function isLiveSoon(): Promise<boolean> {
  while (connection.get() !== 'live') {
    if (nowMs() - (awaySinceMs ?? 0) > AWAITED_MS_MAX) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}

/** Above this spread the midpoint says little, and the last trade is used. */
const SPREAD_MAX_PIPS = 1_000;

/** The chance of Yes, by one rule for head, list and chart: the midpoint of a narrow spread, else the last trade. */
export function chanceOf({ book, market, trades }: Pick<Shown, 'book' | 'market' | 'trades'>): number | null {
  const bid = book?.bids[0];
  const ask = book?.asks[0];
  if (bid && ask && pipsOf(ask.price) - pipsOf(bid.price) <= SPREAD_MAX_PIPS) {
    return (pipsOf(bid.price) + pipsOf(ask.price)) / 2;
  }
  const last = trades?.[0];
  if (last) return last.outcomeIndex === 0 ? pipsOf(last.price) : PIPS_ONE - pipsOf(last.price);
  const told = market.outcomes[0]?.price ?? market.lastTradePrice;
  return told == null ? null : aboutPips(told);
}

/** What the change of a day is measured from, as a market or a ticker has it. */
type DayFacts = Pick<Market, 'lastTradePrice' | 'priceChange24h'>;

/** The price of Yes a day ago, or of the first trade of a younger market; null before it. */
export const openPips = ({ lastTradePrice, priceChange24h }: DayFacts): number | null =>
  lastTradePrice === null || priceChange24h === null
    ? null
    : aboutPips(lastTradePrice) - aboutPips(priceChange24h);

/** The change of the shown chance over 24 hours, by one rule for head, list, cards and chart; 0 when it is unknown. */
export function dayChange(chance: number | null, facts: DayFacts): number {
  const open = openPips(facts);
  return chance === null || open === null ? 0 : chance - open;
}

/** The facts of the day of a shown market. */
export const dayFacts = (market: Market, ticker: Ticker | null | undefined): DayFacts =>
  ticker?.outcomes[0] ?? market;

/** Makes the list show the same chance as the head. */
export const shownChance: Cell<{ readonly id: string; readonly pips: number } | null> = cell<{
  readonly id: string;
  readonly pips: number;
} | null>(null);

function tellChance(shown: Shown): void {
  const pips = chanceOf(shown);
  const now = shownChance.get();
  if (now?.id === shown.market.id && now.pips === pips) return;
  shownChance.set(pips === null ? null : { id: shown.market.id, pips });
}

const TRADES_MAX = 40;
const IDLE_CHECK_MS = 500;
/** People cannot read a faster book, and drawing it would take the time that scrolling needs. */
const DRAWN_EVERY_MS = 50;

/** Without a market there is no book; only the connection counts, and nothing is live before the exchange has answered. */
function followNothing(isAnswered: boolean): () => void {
  const check = (): void => connection.set(isAnswered && live.isConnected ? 'live' : 'reconnecting');
  check();
  const timer = setInterval(check, IDLE_CHECK_MS);
  return () => clearInterval(timer);
}

/** The total of a market's volume comes with the market alone, so it is read after trades, at most this often. */
const VOLUME_EVERY_MS = 5_000;

/** Follows a market until `stop`; calls `tell` after changes, at most every DRAWN_EVERY_MS. */
function follow(market: Market, tell: (shown: Shown) => void): () => void {
  let shown: Shown = { market, trading: null, book: null, trades: null, ticker: null };
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAwaited = false;
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  const draw = (): void => {
    frame = requestAnimationFrame(() => {
      isAwaited = false;
      drawnAtMs = performance.now();
      tellChance(shown);
      tell(shown);
    });
  };
  const change = (part: Partial<Shown>): void => {
    if (isStopped) return;
    shown = { ...shown, ...part };
    if (isAwaited) return;
    isAwaited = true;
    const waitMs = drawnAtMs + DRAWN_EVERY_MS - performance.now();
    if (waitMs > 0) timer = setTimeout(draw, waitMs);
    else draw();
  };
  const loadTrading = (): void => {
    client.trading(market.id).then(
      (trading) => {
        const { market: now, ticker, orderbook } = trading;
        // Content until the first snapshot; it is not called live.
        change({ trading, market: now, ticker, book: shown.book ?? orderbook });
      },
      () => undefined,
    );
  };
  // Trades during a lost connection were not sent, so they are read.
  const loadTrades = (): void => {
    client.trades(market.id, { limit: TRADES_MAX }).then(
      ({ data }) => change({ trades: merged(shown.trades ?? [], data) }),
      () => undefined,
    );
  };
  let volumeTimer: ReturnType<typeof setTimeout> | undefined;
  const loadVolume = (): void => {
    volumeTimer = undefined;
    client.market(market.id).then(
      (now) => change({ market: now }),
      () => undefined,
    );
  };
  loadTrading();
  loadTrades();
  let wasAway = false;
  const watched = live.watch(market.conditionId, {
    onBook: (book) => {
      if (book.book) change({ book: { ...book.book, sequence: book.sequence ?? 0 } });
    },
    onTrade: (trade) => {
      change({ trades: merged(shown.trades ?? [], [trade]) });
      volumeTimer ??= setTimeout(loadVolume, VOLUME_EVERY_MS);
    },
    onTicker: (ticker) => change({ ticker }),
    onMarket: () => loadTrading(),
    onState: (state) => {
      connection.set(state);
      if (state !== 'live') wasAway = true;
      else if (wasAway) {
        wasAway = false;
        loadTrading();
        loadTrades();
      }
    },
  });
  connection.set(watched.state);
  if (watched.book) change({ book: { ...watched.book, sequence: watched.sequence ?? 0 } });
  return () => {
    isStopped = true;
    clearTimeout(timer);
    clearTimeout(volumeTimer);
    cancelAnimationFrame(frame);
    watched.stop();
  };
}

/** Newest first, each once; among the trades of one submission the last received is the newest. */
function merged(known: readonly Trade[], more: readonly Trade[]): readonly Trade[] {
  const byId = new Map([...more, ...known].map((trade) => [trade.id, trade]));
  return [...byId.values()].sort((a, b) => b.sequence - a.sequence).slice(0, TRADES_MAX);
}

/** The chosen market; null while it is unknown, or when there is none, which the exchange `isAnswered` to. */
export function useShown(market: Market | null, isAnswered: boolean): Shown | null {
  const [shown, setShown] = useState<Shown | null>(null);
  const id = market?.id;
  // Before the next paint, because people wait for the book.
  useLayoutEffect(() => {
    if (!market) return followNothing(isAnswered);
    setShown({ market, trading: null, book: null, trades: null, ticker: null });
    return follow(market, setShown);
  }, [id, id === undefined && isAnswered]);
  return shown?.market.id === id ? shown : null;
}

/** The market that the server has put into the page; null at other addresses. */
const given: Market | null = JSON.parse(document.getElementById('market')?.textContent ?? 'null');

/** The market that an address names, from the list if it is there. */
export function useMarketNamed(name: string | null, listed: readonly Market[] | null): Found<Market> {
  const isNamed = ({ slug, id, conditionId }: Market) => [slug, id, conditionId].includes(name ?? '');
  const inList = listed?.find(isNamed);
  // Once asked for, it stays known when it leaves the list.
  const first = given && isNamed(given) ? given : null;
  const asked = useFound(inList ? null : name, async (wanted) => {
    const market = await client.market(wanted);
    remember([market]);
    return market;
  });
  const isUnanswered = !asked.isMissing && asked.failure === null;
  const known = inList ?? (asked.isMissing ? null : (asked.value ?? (isUnanswered ? first : null)));
  return known ? { value: known, isMissing: false, failure: null } : asked;
}
