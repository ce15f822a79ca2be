import type { Balances, Order, OwnTrade, Position } from 'ctf-exchange-client';
import { type Cell, cell, useCell } from './cell';
import { client, live, type Wallet, wallet } from './exchange';
import { remember, remembered } from './market-list-data';
import { nameOf } from './outcome-names';
import { tell } from './toasts';
import { dollars, microOf, nowMs } from './units';

/** The data of the signed-in wallet; a part is null until it is known. */
export interface Account {
  readonly balances: Balances | null;
  readonly orders: readonly Order[] | null;
  readonly positions: readonly Position[] | null;
  readonly trades: readonly OwnTrade[] | null;
}

const NOTHING: Account = { balances: null, orders: null, positions: null, trades: null };
const ORDERS_MAX = 100;
const TRADES_MAX = 50;
/** The interval in which positions are read again, because their values change with prices. */
const REFRESH_MS = 15_000;
/** A page that was hidden this long may have slept, and its socket may not know yet that it is dead. */
const AWAY_MS = 30_000;
/** Waits for related events of the wallet; the cost of a position is computed a moment after a fill. */
const SETTLE_MS = [150, 2_000] as const;

export const account: Cell<Account> = cell(NOTHING);

const change = (part: Partial<Account>): void => account.set({ ...account.get(), ...part });

/** Open orders first, because the person can act on them; then the newest. */
export const isOpen = ({ status }: Order): boolean => status === 'OPEN' || status === 'PARTIALLY_FILLED';
const byAge = (a: Order, b: Order): number =>
  Number(isOpen(b)) - Number(isOpen(a)) ||
  (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0);

/** With funds on a chain: the shares of which the chain has decided. */
const settled = ({ settledSize = '0', failedSize = '0' }: Order): number =>
  Number(settledSize) + Number(failedSize);

/** A part that cannot be read now is requested again at the next event. */
const silently = (work: Promise<unknown>): void => void work.catch(() => undefined);

/** The words are loaded with the parts for wallets, because a stranger has no orders. */
async function tellOfOrder(before: Order, now: Order): Promise<void> {
  const { newsOf } = (await import('./parts/later')).LATER;
  const news = newsOf(before, now, remembered(now.marketId));
  const isGood = now.status === 'FILLED' && before.failedSize === now.failedSize;
  if (news !== null) tell(news, isGood ? 'good' : 'plain');
}

/** The person sees one message for each change of a known order; the socket or the answer to a request may bring it first. */
function mergeOrders(more: readonly Order[]): void {
  const all = new Map((account.get().orders ?? []).map((order) => [order.orderHash, order]));
  for (const order of more) {
    const known = all.get(order.orderHash);
    // The request was in progress when a later message came.
    if (known && (known.updatedAt > order.updatedAt || settled(known) > settled(order))) continue;
    if (known) silently(tellOfOrder(known, order));
    all.set(order.orderHash, order);
  }
  change({ orders: [...all.values()].sort(byAge).slice(0, ORDERS_MAX) });
}

export const showOrder = (order: Order): void => mergeOrders([order]);

/** Markets of orders and positions that are in no list. */
export async function learnMarkets(ids: readonly string[]): Promise<void> {
  const unknown = [...new Set(ids)].filter((id) => !remembered(id)).slice(0, ORDERS_MAX);
  if (unknown.length === 0) return;
  const found = await Promise.all(unknown.map((id) => client.market(id).catch(() => null)));
  remember(found.filter((market) => market !== null));
  change({});
}

export function showBalances(balances: Balances): void {
  change({ balances });
  silently(learnMarkets(balances.tokens.map(({ marketId }) => marketId)));
}

async function loadPositions(): Promise<void> {
  const { data } = await client.positions({ limit: ORDERS_MAX });
  change({ positions: data });
}

async function loadTrades(): Promise<void> {
  const { data } = await client.myTrades({ limit: TRADES_MAX });
  change({ trades: data });
}

async function loadOrders(): Promise<void> {
  const [open, recent] = await Promise.all([
    client.orders({ status: 'open', limit: ORDERS_MAX }),
    client.orders({ limit: TRADES_MAX }),
  ]);
  mergeOrders([...recent.data, ...open.data]);
  await learnMarkets([...recent.data, ...open.data].map(({ marketId }) => marketId));
}

export const reloadTrades = (): void => silently(loadTrades());

/** Reads everything; each part is shown as it arrives. */
export function reloadAccount(): void {
  if (!wallet.get()) return;
  silently(client.balances().then(showBalances));
  silently(loadOrders());
  silently(loadPositions());
  silently(loadTrades());
}

/** Shares of an ended market that are no longer held were paid out. */
async function tellOfPayout(before: Balances | null, now: Balances): Promise<void> {
  const held = new Set(now.tokens.filter(({ total }) => microOf(total) > 0).map(({ tokenId }) => tokenId));
  const gone = (before?.tokens ?? []).filter(
    ({ total, tokenId }) => microOf(total) > 0 && !held.has(tokenId),
  );
  for (const marketId of new Set(gone.map((token) => token.marketId))) {
    const market = await client.market(marketId);
    if (!market.resolution) continue;
    const micro = gone
      .filter((token) => token.marketId === marketId)
      .map(
        ({ total, outcomeIndex }) => microOf(total) * Number(market.resolution?.payouts[outcomeIndex] ?? 0),
      )
      .reduce((a, b) => a + b, 0);
    const end =
      market.resolution.outcomeIndex === null
        ? 'void'
        : `resolved: ${nameOf(market, market.resolution.outcomeIndex)}`;
    const words = micro > 0 ? `You were paid ${dollars(micro)}.` : 'Your shares paid nothing.';
    tell(`${market.question} It is ${end}. ${words}`, micro > 0 ? 'good' : 'plain');
  }
}

let timers: ReturnType<typeof setTimeout>[] = [];

/** Reads the data that the socket does not send after a fill. */
function reloadSoon(): void {
  for (const timer of timers) clearTimeout(timer);
  timers = SETTLE_MS.map((waitMs) =>
    setTimeout(() => {
      silently(loadPositions());
      silently(loadTrades());
    }, waitMs),
  );
}

function restart(): void {
  account.set(NOTHING);
  reloadAccount();
}

wallet.subscribe(restart);
live.onConnect(({ authenticated }) => {
  if (authenticated) reloadAccount();
});
live.onResumed(({ resumed }) => {
  if (!resumed) reloadAccount();
});
live.onOrder((order) => {
  showOrder(order);
  silently(learnMarkets([order.marketId]));
});
live.onTrade(reloadSoon);
live.onBalance((balances) => {
  silently(tellOfPayout(account.get().balances, balances));
  showBalances(balances);
});
let hiddenAtMs: number | null = null;
document.addEventListener('visibilitychange', () => {
  const isAway = hiddenAtMs !== null && nowMs() - hiddenAtMs > AWAY_MS;
  hiddenAtMs = document.visibilityState === 'hidden' ? nowMs() : null;
  if (hiddenAtMs === null && isAway) reloadAccount();
});
setInterval(() => {
  if (wallet.get() && document.visibilityState === 'visible') silently(loadPositions());
}, REFRESH_MS);
reloadAccount();

export const useAccount = (): Account => useCell(account);
export const useWallet = (): Wallet | null => useCell(wallet);
