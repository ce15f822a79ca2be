import { setTimeout as sleep } from 'node:timers/promises';
import { checksumAddress } from '../auth/address';
import type { MarketId } from '../exchange/market';
import type { Logger } from '../log';
import type { Broadcasts } from '../store/broadcasts';
import type { OrderRecords } from '../store/order-records';
import type { OutboxEntry, OutboxReader } from '../store/outbox-reader';
import type { Reads } from '../store/reads';
import type { Fill } from '../store/records';
import { signedOf } from '../store/signed-order';
import { type Market, tradeId } from '../store/views';
import { EVENTS, presentOwnTrade } from '../wire/events';
import { presentBalances } from '../wire/present-account';
import { presentOrder } from '../wire/present-order';

const READ_MAX = 500;
const BLOCK_MS = 1_000;
/** What comes within this time is told together: one `order:update` for each order, one `balance:update`. */
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
  readonly reads: Pick<Reads, 'order' | 'balances' | 'market'>;
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

/** What one wallet is to be told. */
interface News {
  readonly orders: Set<string>;
  readonly trades: OwnTrade[];
  balance: boolean;
}

export interface PrivateFeed {
  /** Resolves when everything that happens from now on will be told. */
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
    neededAtMs = Date.now();
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
      if (isAnybodyHere()) neededAtMs = Date.now();
      if (Date.now() - neededAtMs > LINGER_MS) break;
      try {
        const entries = await reader.read(at, READ_MAX, BLOCK_MS);
        if (stopped) return;
        // A failure is Redis' and passes. One that does not must not keep everything behind it from being told.
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
      const hashes = [...orders];
      for (let from = 0; from < hashes.length; from += TOGETHER_MAX) {
        const bodies = await Promise.all(hashes.slice(from, from + TOGETHER_MAX).map(orderBody));
        for (const body of bodies) if (body) emit(address, EVENTS.ownOrder, body);
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
      const known = news.get(address) ?? { orders: new Set(), trades: [], balance: false };
      news.set(address, known);
      return known;
    };
    for (const { event } of entries) {
      const owners = event.orderHashes.flatMap((hash) => touched.get(hash) ?? []);
      for (const { maker, orderHash } of owners) newsFor(maker)?.orders.add(orderHash);
      // What became of a match moves no money of ours.
      if (event.kind === 'SETTLE') continue;
      for (const address of [...owners.map(({ maker }) => maker), ...event.wallets]) {
        const own = newsFor(address);
        if (own) own.balance = true;
      }
      if (event.tradeMs === 0 || !owners.some(({ maker }) => isHere(maker))) continue;
      const { marketId } = event;
      for (const fill of await broadcasts.fills(marketId, [event])) {
        const [taker, maker] = [touched.get(fill.takerHash), touched.get(fill.makerHash)];
        if (taker) newsFor(taker.maker)?.trades.push({ marketId, fill, role: 'TAKER' });
        if (maker) newsFor(maker.maker)?.trades.push({ marketId, fill, role: 'MAKER' });
      }
    }
    return news;
  }

  async function orderBody(orderHash: string): Promise<ReturnType<typeof presentOrder> | null> {
    const view = await reads.order(orderHash);
    if (!view) return null;
    const { terms } = await marketOf(view.record.marketId);
    return presentOrder({ ...view, signed: signedOf(view.record, terms, checksumAddress) }, terms);
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
