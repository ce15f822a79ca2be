import type { MarketId } from '../../../src/exchange/market';
import { isOver, ordersOf, type SettledMatch } from '../../../src/extensions/archive/store/leaving';
import { createHistory } from '../../../src/store/candles/history';
import { createCandleWriter } from '../../../src/store/candles/writer';
import { runProbe } from '../../../src/store/health/health';
import { type ArchivedReads, NO_ARCHIVED_READS } from '../../../src/store/lists/archived-reads';
import { matchPlace } from '../../../src/store/lists/places';
import { createBroadcasts } from '../../../src/store/outbox/update-log';
import { createAnswerCache } from '../../../src/store/reads/answer-cache';
import { createReads } from '../../../src/store/reads/reads';
import type { OrderRecord } from '../../../src/store/records/order';
import type { RowsPage } from '../../../src/store/records/order-views';
import { settlementName } from '../../../src/store/records/settlement';
import { createClock } from '../../../src/store/redis/clock';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { walkSettlements } from '../../../src/store/settlement/walk';
import type { Auditing } from '../../store/audit/auditing';

/** Everything that reads matches, fills and settlements. */
export type Reader = Awaited<ReturnType<typeof readerOf>>;

export async function readerOf({ redis, run, keys }: Auditing, archivedReads: ArchivedReads) {
  const clock = createClock(() => runProbe(run, keys));
  await clock.measure();
  const parts = { redis, run, keys, archivedReads };
  const doubts = (): number => 0;
  const history = createHistory({ ...parts, doubts });
  const kept = createAnswerCache({ redis, keys, clock, doubts });
  const reads = createReads({ ...parts, clock, kept, doubts, history, grantMicro: 0 });
  const settlements = createSettlements(parts);
  const matches = createMatches({ ...parts, settlements });
  return {
    reads,
    settlements,
    matches,
    broadcasts: createBroadcasts(parts),
    candles: createCandleWriter(parts),
  };
}
/** All pages of a list. */
export async function pages<T>(
  read: (cursor: string | null) => Promise<{ next: string | null; rows: T }>,
): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: { next: string | null; rows: T } = await read(cursor);
    found.push(page);
    if (page.next === null) return found;
    cursor = page.next;
  }
}
export const trades = ({ reads }: Reader, id: MarketId, page: Omit<RowsPage, 'cursor'>) =>
  pages(async (cursor) => {
    const { fills, next } = await reads.trades(id, { ...page, cursor });
    return { rows: fills, next };
  });
export const fills = ({ reads }: Reader, orderHash: string, limit: number) =>
  pages(async (cursor) => {
    const found = await reads.orderFills(orderHash, { limit, cursor });
    return { rows: found?.fills, next: found?.next ?? null };
  });
export const listed = (
  { settlements }: Reader,
  filter: Parameters<typeof settlements.list>[0],
  limit: number,
) =>
  pages(async (cursor) => {
    const { records, orders: named, next } = await settlements.list(filter, { limit, cursor });
    return { rows: [records, [...named.keys()].sort(), [...named.values()].length], next };
  });
export async function walked({ settlements }: Reader, marketId?: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { record, orders: named } of walkSettlements(settlements, { marketId }))
    found.push([record, named.size > 0]);
  return found;
}

const RESTING = 4_000;
const BIG = 1_000;

/**
 * A maker that many orders meet, takers that meet many makers, orders that are cancelled in part, and another market whose
 * settlements come between those of the first.
 */
export async function trade(exchange: Auditing) {
  const [market, other] = [await exchange.createMarket(), await exchange.createMarket()];
  const orders: OrderRecord[] = [];
  const [alice = '', bob = '', carla = '', dora = ''] = exchange.wallets;
  const send = async (...args: Parameters<Auditing['place']>): Promise<OrderRecord> => {
    const record = await exchange.place(...args);
    if (args[0] === market) orders.push(record);
    return record;
  };
  await send(market, alice, 0, 0, RESTING, BIG);
  for (let i = 0; i < 12; i++) await send(market, bob, 0, 1, 6_000, 10 + i);
  await exchange.settle();
  for (let i = 0; i < 3; i++) {
    for (const maker of [bob, carla, dora]) await send(market, maker, 0, 0, 5_000 - i, 20);
    await send(market, alice, 0, 1, 5_500, 55);
    await send(other, carla, 0, 0, 3_000, 10);
    await send(other, dora, 0, 1, 7_000, 10);
    await exchange.settle();
  }
  const part = await send(market, carla, 0, 0, 4_500, 100);
  await send(market, dora, 0, 1, 5_500, 30);
  await exchange.engine.cancel(market.terms.id, carla, part.orderHash, 'USER');
  for (let i = 0; i < 6; i++) await send(market, bob, 0, 1, 6_000, 5);
  await exchange.settle();
  // No match leaves before it is counted and its settlement is final.
  const { candles, matches } = await readerOf(exchange, NO_ARCHIVED_READS);
  for (const { terms } of [market, other]) {
    await candles.rebuild(terms.id);
    await matches.unsettled(terms.id, { nowMs: Date.now(), graceMs: 0, patienceMs: 0, most: 1 });
  }
  return { market, other, orders };
}

/** The oldest matches of a market, with their settlements and the orders that are over with them; null when there is none. */
export async function oldest({ redis, keys }: Auditing, id: MarketId, count: number) {
  const entries = await redis.xrangeBuffer(keys.trades(id), '-', '+', 'COUNT', count);
  const matches = await Promise.all(
    entries.map(async ([at, fields]): Promise<SettledMatch> => {
      const place = matchPlace(at);
      const name = settlementName({ marketId: id, sequence: place.sequence, part: 0 });
      const settlement = (await redis.hgetBuffer(keys.settlements, name)) ?? Buffer.alloc(0);
      return { ...place, packed: fields[1] as Buffer, settlements: [settlement] };
    }),
  );
  const last = matches.at(-1);
  if (!last) return null;
  const hashes = matches.flatMap(({ packed }) => ordersOf(packed));
  const named = [...new Map(hashes.map((hash) => [hash.toString('hex'), hash])).values()];
  const stored = await redis.hmgetBuffer(keys.orders, ...named);
  const over = named.flatMap((hash, i) => {
    const packed = stored[i];
    return packed && isOver(packed, Number.MAX_SAFE_INTEGER, () => last) ? [{ hash, packed }] : [];
  });
  return { orders: over, markets: [{ marketId: id, matches }] };
}
