import { checksumAddress } from '../../auth/address';
import type { Market } from '../../exchange/facts';
import type { MarketId } from '../../exchange/market';
import { FILLS_SHOWN_MAX } from '../../exchange/match';
import type { OrderRecords } from '../../store/lists/orders';
import type { EventMatch, NumberedEvent } from '../../store/outbox/account-log';
import type { BroadcastReads } from '../../store/outbox/update-log';
import { ownFill } from '../../store/reads/orders';
import type { Reads } from '../../store/reads/reads';
import type { Fill, OrderRecord } from '../../store/records/order';
import { tradeId } from '../../store/records/order-views';
import { signedOf } from '../../store/records/signed-order';
import { presentBalances } from '../../wire/answers/account';
import { EVENTS } from '../../wire/answers/events';
import { presentOrder } from '../../wire/answers/order';
import { presentTradeOf } from '../../wire/answers/trade';

/** Orders read in one call. */
const TOGETHER_MAX = 50;

export interface AccountBodiesDeps {
  readonly records: OrderRecords;
  readonly broadcasts: Pick<BroadcastReads, 'fills'>;
  readonly reads: Pick<Reads, 'shownFills' | 'balances' | 'market' | 'settledLots'>;
  /** With several partitions one of them may be silent, and the balances with it, while others have news of orders. */
  readonly severalPartitions: boolean;
}

export interface AccountMessage {
  readonly number: number;
  readonly event: string;
  readonly body: object;
}

export interface AccountNews {
  readonly messages: readonly AccountMessage[];
  /** Why the balances cannot be read. Their latest event and what follows it wait: numbers only grow. */
  readonly waitsFor: Error | null;
}

/** Builds the messages of some events of a wallet, in their order, from the present state of the orders they name. */
export type AccountBodies = (address: string, events: readonly NumberedEvent[]) => Promise<AccountNews>;

class NoBalances extends Error {
  /** `number` is that of the latest event about the balances. */
  constructor(
    readonly number: number,
    cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** A changed order, and those of its fills that are new or whose settlement changed, by trade. */
interface OrderNews {
  number: number;
  readonly fills: Map<string, Fill>;
}

/** A fill for one of its two wallets. */
interface OwnFill {
  readonly number: number;
  readonly fill: Fill;
  readonly role: 'TAKER' | 'MAKER';
}

const ownHashOf = ({ fill, role }: OwnFill): string => (role === 'TAKER' ? fill.takerHash : fill.makerHash);

export function createAccountBodies(deps: AccountBodiesDeps): AccountBodies {
  const { records, broadcasts, reads, severalPartitions } = deps;
  return async (address, events) => {
    try {
      return { messages: await messagesOf(address, events), waitsFor: null };
    } catch (error) {
      if (!(error instanceof NoBalances) || !severalPartitions) throw error;
      const before = events.filter(({ number, event }) => number < error.number && event.kind !== 'balance');
      return { messages: await messagesOf(address, before), waitsFor: error };
    }
  };

  async function messagesOf(address: string, events: readonly NumberedEvent[]): Promise<AccountMessage[]> {
    const fillsOf = await matchesOf(events);
    const orders = new Map<string, OrderNews>();
    const trades: OwnFill[] = [];
    let balance = 0;
    for (const { number, event } of events) {
      if (event.kind === 'balance') {
        balance = number;
        continue;
      }
      const fills = event.match ? fillsOf(event.match) : [];
      if (event.kind === 'trade') {
        const fill = fills.find(({ makerHash }) => makerHash === event.makerHash);
        if (fill) trades.push({ number, fill, role: event.role });
        continue;
      }
      const { orderHash, makerHash, match } = event;
      const news = orders.get(orderHash) ?? { number, fills: new Map() };
      news.number = number;
      orders.set(orderHash, news);
      for (const fill of fills) {
        const isOwn = fill.takerHash === orderHash || fill.makerHash === orderHash;
        const isMeant = makerHash === null || fill.makerHash === makerHash;
        if (match && isOwn && isMeant) news.fills.set(tradeId(match.marketId, fill), fill);
      }
    }
    const touched = await records([...new Set([...orders.keys(), ...trades.map(ownHashOf)])]);
    const messages = [...(await orderMessages(orders, touched)), ...(await tradeMessages(trades, touched))];
    if (balance > 0) {
      const balances = await reads.balances(address).catch((error: unknown) => {
        throw new NoBalances(balance, error);
      });
      messages.push({ number: balance, event: EVENTS.ownBalance, body: presentBalances(balances) });
    }
    return messages.sort((a, b) => a.number - b.number);
  }

  /** Each match is read once. */
  async function matchesOf(events: readonly NumberedEvent[]): Promise<(match: EventMatch) => Fill[]> {
    const asked = new Map<string, EventMatch>();
    for (const { event } of events) {
      if (event.kind !== 'balance' && event.match) asked.set(nameOf(event.match), event.match);
    }
    const matches = [...asked];
    const fills = await Promise.all(matches.map(([, match]) => broadcasts.fills(match.marketId, [match])));
    const found = new Map(matches.map(([name], i) => [name, fills[i] ?? []]));
    return (match) => found.get(nameOf(match)) ?? [];
  }

  async function orderMessages(
    orders: ReadonlyMap<string, OrderNews>,
    touched: ReadonlyMap<string, OrderRecord>,
  ): Promise<AccountMessage[]> {
    const known = [...orders].flatMap(([hash, news]) => {
      const record = touched.get(hash);
      return record ? [{ record, news }] : [];
    });
    const messages: AccountMessage[] = [];
    for (let from = 0; from < known.length; from += TOGETHER_MAX) {
      const part = known.slice(from, from + TOGETHER_MAX).map(async ({ record, news }) => ({
        number: news.number,
        event: EVENTS.ownOrder,
        body: await orderBody(record, news),
      }));
      messages.push(...(await Promise.all(part)));
    }
    return messages;
  }

  async function orderBody(record: OrderRecord, { fills }: OrderNews) {
    const { terms } = await marketOf(record.marketId);
    const latest = [...fills.values()].sort(inOrder).slice(-FILLS_SHOWN_MAX);
    const signed = signedOf(record, terms, checksumAddress);
    const shown = await reads.shownFills(record, latest);
    const settled = await reads.settledLots(record.orderHash);
    return presentOrder({ record, fills: shown, signed, settled }, terms, 'MAKER_WITHOUT_STRUCT');
  }

  async function tradeMessages(
    trades: readonly OwnFill[],
    touched: ReadonlyMap<string, OrderRecord>,
  ): Promise<AccountMessage[]> {
    const messages: AccountMessage[] = [];
    for (const own of trades) {
      const order = touched.get(ownHashOf(own));
      if (order)
        messages.push({ number: own.number, event: EVENTS.ownTrade, body: await tradeBody(own, order) });
    }
    return messages;
  }

  async function tradeBody({ fill, role }: OwnFill, order: OrderRecord) {
    const { terms } = await marketOf(order.marketId);
    const { pricePips, feeMicro } = ownFill(order, fill);
    return presentTradeOf(
      { role, order, pricePips, feeMicro },
      { ...fill, id: tradeId(order.marketId, fill) },
      terms,
    );
  }

  async function marketOf(id: MarketId): Promise<Market> {
    const market = await reads.market(id);
    if (!market) throw new Error(`a record names the unknown market ${id}`);
    return market;
  }
}

const nameOf = ({ marketId, sequence }: EventMatch): string => `${marketId} ${sequence}`;
/** In the order of the events. */
const inOrder = (a: Fill, b: Fill): number => a.sequence - b.sequence || a.index - b.index;
