import { setTimeout as sleep } from 'node:timers/promises';
import { checksumAddress } from '../../auth/address';
import type { Market } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { FILLS_SHOWN_MAX } from '../../exchange/match';
import type { Logger } from '../../log';
import type { OutboxEvent } from '../../store/outbox/outbox';
import type { OutboxEntry, OutboxReader } from '../../store/outbox/reader';
import type { Broadcasts } from '../../store/outbox/update-log';
import type { OrderRecords } from '../../store/reads/order-records';
import type { Reads } from '../../store/reads/reads';
import type { Fill, OrderRecord } from '../../store/records/order';
import { signedOf } from '../../store/records/signed-order';
import { tradeId } from '../../store/records/views';
import { presentBalances } from '../../wire/answers/account';
import { EVENTS, presentOwnTrade } from '../../wire/answers/events';
import { presentOrder } from '../../wire/answers/order';

const READ_MAX = 500;
const BLOCK_MS = 1_000;
/** Changes within this time are sent together: one `order:update` for each order, one `balance:update`. */
const PACE_MS = 20;
const RETRY_MS = 200;
/** Of one batch. */
const FAILURES_MAX = 50;
/** The outbox is read on for so long after the last private socket has gone. */
const LINGER_MS = 30_000;
/** Orders looked up at once. */
const TOGETHER_MAX = 50;

export interface PrivateFeedDeps {
  readonly reader: OutboxReader;
  readonly records: OrderRecords;
  readonly broadcasts: Pick<Broadcasts, 'fills'>;
  readonly reads: Pick<Reads, 'shownFills' | 'balances' | 'market'>;
  readonly log: Logger;
  /** To the sockets of one wallet in this process. */
  readonly emit: (address: string, event: string, body: unknown) => void;
  /** Whether this process has a socket of the wallet (lower case), or of anybody. */
  readonly isHere: (address: string) => boolean;
  readonly isAnybodyHere: () => boolean;
}

interface OwnTrade {
  readonly marketId: MarketId;
  readonly fill: Fill;
  readonly role: 'TAKER' | 'MAKER';
}

/** An order that changed, and those of its fills that are new or whose settlement has changed, by trade. */
interface OrderNews {
  readonly record: OrderRecord;
  readonly fills: Map<string, Fill>;
}

/** The pending messages of one wallet; its orders by hash. */
interface News {
  readonly orders: Map<string, OrderNews>;
  readonly trades: OwnTrade[];
  balance: boolean;
}

export interface PrivateFeed {
  /** Resolves when every later event will be sent. */
  ready(): Promise<void>;
  stop(): void;
}

/**
 * Tells wallets of their orders, trades and balances. Every replica reads the outbox for the wallets whose sockets it
 * has, and goes on where it was after any interruption: nothing of it depends on who broadcasts.
 */
export function createPrivateFeed(deps: PrivateFeedDeps): PrivateFeed {
  const { reader, records, broadcasts, reads, log, emit, isHere, isAnybodyHere } = deps;
  let begun: Promise<string> | null = null;
  let neededAtMs = 0;
  let stopped = false;

  function ready(): Promise<void> {
    neededAtMs = performance.now();
    if (!begun) {
      begun = reader.lastId();
      begun.then(run).catch((error: unknown) => {
        begun = null;
        if (!stopped) log.warn({ err: String(error) }, 'the private channels did not start');
      });
    }
    return begun.then(() => undefined);
  }

  async function run(from: string): Promise<void> {
    let at = from;
    let failures = 0;
    while (!stopped) {
      if (isAnybodyHere()) neededAtMs = performance.now();
      if (performance.now() - neededAtMs > LINGER_MS) break;
      try {
        const entries = await reader.read(at, READ_MAX, BLOCK_MS);
        if (stopped) return;
        // A failure is Redis' and passes. A failure of one must not block the events behind it.
        if (isAnybodyHere() && failures < FAILURES_MAX) await tell(entries);
        at = entries.at(-1)?.id ?? at;
        failures = 0;
        if (entries.length < READ_MAX) await sleep(PACE_MS);
      } catch (error) {
        if (stopped) return;
        failures++;
        log.warn({ err: String(error), at }, 'the private channels wait');
        await sleep(RETRY_MS);
      }
    }
    begun = null;
  }

  async function tell(entries: readonly OutboxEntry[]): Promise<void> {
    const news = await newsOf(entries);
    for (const [address, { orders, trades, balance }] of news) {
      const changed = [...orders.values()];
      for (let from = 0; from < changed.length; from += TOGETHER_MAX) {
        const bodies = await Promise.all(changed.slice(from, from + TOGETHER_MAX).map(orderBody));
        for (const body of bodies) emit(address, EVENTS.ownOrder, body);
      }
      for (const trade of trades) emit(address, EVENTS.ownTrade, await tradeBody(trade));
      if (balance) emit(address, EVENTS.ownBalance, presentBalances(await reads.balances(address)));
    }
  }

  async function newsOf(entries: readonly OutboxEntry[]): Promise<Map<string, News>> {
    const touched = await records([...new Set(entries.flatMap(({ event }) => event.orderHashes))]);
    const news = new Map<string, News>();
    const newsFor = (address: string): News | null => {
      if (!isHere(address)) return null;
      const known = news.get(address) ?? { orders: new Map(), trades: [], balance: false };
      news.set(address, known);
      return known;
    };
    const orderNews = (orderHash: string): OrderNews | null => {
      const record = touched.get(orderHash);
      const orders = record && newsFor(record.maker)?.orders;
      if (!orders) return null;
      const known = orders.get(orderHash) ?? { record, fills: new Map() };
      orders.set(orderHash, known);
      return known;
    };
    const fillsOf = createFills();
    for (const { event } of entries) {
      const owners = event.orderHashes.flatMap((hash) => touched.get(hash) ?? []);
      for (const { orderHash } of owners) orderNews(orderHash);
      const fills = owners.some(({ maker }) => isHere(maker)) ? await fillsOf(event) : [];
      for (const fill of fills) {
        const id = tradeId(event.marketId, fill);
        orderNews(fill.takerHash)?.fills.set(id, fill);
        orderNews(fill.makerHash)?.fills.set(id, fill);
      }
      // A change of a settlement moves no money of the ledger.
      if (event.kind === 'SETTLE') continue;
      for (const address of [...owners.map(({ maker }) => maker), ...event.wallets]) {
        const own = newsFor(address);
        if (own) own.balance = true;
      }
      const { marketId } = event;
      for (const fill of fills) {
        const [taker, maker] = [touched.get(fill.takerHash), touched.get(fill.makerHash)];
        if (taker) newsFor(taker.maker)?.trades.push({ marketId, fill, role: 'TAKER' });
        if (maker) newsFor(maker.maker)?.trades.push({ marketId, fill, role: 'MAKER' });
      }
    }
    return news;
  }

  /** The fills that an entry is about: of a match all, of a settlement record those it settles. Each match is read once. */
  function createFills() {
    const matches = new Map<string, Fill[]>();
    return async ({ kind, marketId, tradeMs, sequence, orderHashes }: OutboxEvent): Promise<Fill[]> => {
      if (tradeMs === 0) return [];
      const key = `${marketId} ${sequence}`;
      const fills = matches.get(key) ?? (await broadcasts.fills(marketId, [{ tradeMs, sequence }]));
      matches.set(key, fills);
      const settled = new Set(orderHashes);
      return kind === 'SETTLE' ? fills.filter(({ makerHash }) => settled.has(makerHash)) : fills;
    };
  }

  async function orderBody({ record, fills }: OrderNews): Promise<ReturnType<typeof presentOrder>> {
    const { terms } = await marketOf(record.marketId);
    const latest = [...fills.values()].sort(inOrder).slice(-FILLS_SHOWN_MAX);
    const signed = signedOf(record, terms, checksumAddress);
    const shown = await reads.shownFills(record, latest);
    return presentOrder({ record, fills: shown, signed }, terms, 'MAKER_WITHOUT_STRUCT');
  }

  async function tradeBody({ marketId, fill, role }: OwnTrade): Promise<unknown> {
    const { terms } = await marketOf(marketId);
    return presentOwnTrade({ ...fill, id: tradeId(marketId, fill) }, terms, role);
  }

  async function marketOf(id: MarketId): Promise<Market> {
    const market = await reads.market(id);
    if (!market) throw new Error(`a record names the unknown market ${id}`);
    return market;
  }

  return {
    ready,
    stop: () => {
      stopped = true;
    },
  };
}

/** As they happened. */
const inOrder = (a: Fill, b: Fill): number => a.sequence - b.sequence || a.index - b.index;
