import { partsOf } from '../../../src/exchange/settlement';
import { isFinal } from '../../../src/exchange/status';
import { type Archive, NOTHING } from '../../../src/extensions/archive/archive';
import { createForgetting } from '../../../src/extensions/archive/store/forgetting';
import { openSource } from '../../../src/extensions/archive/store/source';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import { createCandleWriter } from '../../../src/store/candles/writer';
import type { ArchivedOrder } from '../../../src/store/lists/archived-reads';
import { FORGOTTEN, LEFT, SETTLEMENT } from '../../../src/store/records/layout';
import { addressBytes, decodeFills, decodeOrder, hashBytes, hashHex } from '../../../src/store/records/order';
import { settlementName } from '../../../src/store/records/settlement';
import type { Auditing } from '../../store/audit/auditing';
import { READERS } from '../../support/readers';

const RANK_STEP = 1_000;

/**
 * Takes the first matches of a market out of Redis by hand, with their settlements, once the archive has them. No order in the
 * market may have a fee.
 */
export async function leaveMatches(
  { redis, keys }: Auditing,
  archive: Archive,
  marketId: string,
  count: number,
): Promise<void> {
  const entries = await redis.xrangeBuffer(keys.trades(marketId), '-', '+', 'COUNT', count);
  const noted = await redis.hgetBuffer(keys.market(marketId), 'f');
  const left = LEFT.read(noted ?? Buffer.alloc(LEFT.bytes));
  const sums = { ...left };
  const [matches, settlements, names]: [Batchable[], Settled[], Buffer[]] = [[], [], []];
  for (const [id, fields] of entries) {
    const packed = fields[1] as Buffer;
    const [tradeMs = 0, sequence = 0] = id.toString().split('-').map(Number);
    const fills = decodeFills(tradeMs, sequence, packed);
    for (const { sizeLots, pricePips, takerOutcome } of fills) {
      sums.volumeMicro += sizeLots * pricePips;
      sums.lastPips = takerOutcome === 0 ? pricePips : 10_000 - pricePips;
    }
    Object.assign(sums, { tradeMs, sequence, matches: sums.matches + 1 });
    const hashes = new Set(fills.flatMap(({ takerHash, makerHash }) => [takerHash, makerHash]));
    matches.push({ marketId, tradeMs, sequence, packed, orders: [...hashes].map(hashBytes) });
    for (let part = 0; part < partsOf(fills.length); part++) {
      const name = settlementName({ marketId, sequence, part });
      const record = (await redis.hgetBuffer(keys.settlements, name)) ?? Buffer.alloc(0);
      const { listMs, listIndex } = SETTLEMENT.read(record);
      settlements.push({ marketId, sequence, part, listMs, listIndex, record });
      names.push(name);
    }
  }
  const n = await append(archive, { matches, settlements });
  const ids = settlements.map(({ listMs, listIndex }) => `${listMs}-${listIndex}`);
  await redis
    .multi()
    .hset(keys.archive, 'id', (await archive.open()).id, 'n', n)
    .hincrby(keys.archive, 'matches', matches.length)
    .hset(keys.market(marketId), 'f', LEFT.pack(sums))
    .xdel(keys.trades(marketId), ...entries.map(([id]) => id))
    .hdel(keys.settlements, ...names)
    .xdel(keys.settlementList, ...ids)
    .xdel(keys.settlementListOf(marketId), ...ids)
    .exec();
}
type Batchable = Parameters<Archive['append']>[1]['matches'][number];
type Settled = Parameters<Archive['append']>[1]['settlements'][number];

async function append(archive: Archive, rows: Partial<Parameters<Archive['append']>[1]>): Promise<number> {
  const { batch } = await archive.open();
  expect(await archive.append(batch + 1, { ...NOTHING, ...rows })).toBe(true);
  return batch + 1;
}

/** Takes all orders out of Redis that are over and whose matches have left. Returns how many. */
export async function leaveOrders({ redis, keys }: Auditing, archive: Archive): Promise<number> {
  const gone: (ArchivedOrder & { readonly createdAtMs: number })[] = [];
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscanBuffer(keys.orders, cursor, 'COUNT', 500);
    for (let i = 0; i < flat.length; i += 2) {
      const [hash, packed] = [flat[i] as Buffer, flat[i + 1] as Buffer];
      const record = decodeOrder(hashHex(hash), packed);
      const { marketId, createdAtMs, sequence, maker } = record;
      const noted = await redis.hgetBuffer(keys.market(marketId), 'f');
      const last = noted ? LEFT.read(noted).sequence : 0;
      if (!isFinal(record.status) || record.fillSequence > last) continue;
      const rank = createdAtMs * RANK_STEP + (sequence % RANK_STEP);
      gone.push({ hash, marketId, wallet: addressBytes(maker), rank, record: packed, createdAtMs });
    }
    cursor = next.toString();
  } while (cursor !== '0');
  const n = await append(archive, { orders: gone });
  await redis.hset(keys.archive, 'id', (await archive.open()).id, 'n', n);
  for (const { hash, wallet, createdAtMs } of gone) {
    const noted = await redis.hgetBuffer(keys.forgotten, wallet);
    const before = noted ? FORGOTTEN.read(noted) : { orders: 0, firstMs: createdAtMs, lines: 0 };
    const after = { ...before, orders: before.orders + 1, firstMs: Math.min(before.firstMs, createdAtMs) };
    await redis
      .multi()
      .hdel(keys.orders, hash)
      .zrem(keys.wallet(wallet), hash)
      .hset(keys.forgotten, wallet, FORGOTTEN.pack(after))
      .hincrby(keys.archive, 'orders', 1)
      .exec();
  }
  return gone.length;
}

const TOKEN = 'the test';
const LEASE_MS = 600_000;

/** Settles, counts and books all that happened, and has everything leave that may, as the worker does. Returns how much left. */
export async function leaveAll(exchange: Auditing, archive: Archive): Promise<Gone> {
  const { redis, run, keys, matches, known } = exchange;
  const now = () => Date.now();
  const [last] = await redis.xrevrange(keys.outbox, '+', '-', 'COUNT', 1);
  await exchange.settle();
  await createJournal({ redis, run, keys, matches, doubts: () => 0 }).catchUp();
  const candles = createCandleWriter({ redis, run, keys });
  for (const id of known.keys()) {
    await matches.unsettled(id, { nowMs: now(), graceMs: 0, patienceMs: 0, most: 1_000 });
    while (await candles.extend(id));
  }
  // The journal has noted its own.
  for (const reader of READERS.filter((name) => name !== 'journal'))
    await redis.hset(keys.readers, reader, last?.[0] ?? '0-0');
  const forgetting = createForgetting({ redis, run, keys, archive, keepMs: 0 });
  expect(await forgetting.lease.take(TOKEN, LEASE_MS)).toBe(true);
  await forgetting.open();
  const source = await openSource({ redis, keys, readers: READERS, now, keepMs: 0 });
  const gone = { orders: 0, matches: 0, lines: 0 };
  for (let more = true; more; ) {
    const found = await source.next();
    const left = await forgetting.move(TOKEN, found.leaving);
    await source.done(found);
    for (const kind of ['orders', 'matches', 'lines'] as const) gone[kind] += left[kind];
    more = found.more || left.orders + left.matches + left.lines > 0;
  }
  await forgetting.lease.release(TOKEN);
  return gone;
}
type Gone = Awaited<ReturnType<ReturnType<typeof createForgetting>['move']>>;
