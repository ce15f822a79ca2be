import { createHash } from 'node:crypto';
import type { MarketId } from '../../../exchange/market';
import { micro } from '../../../exchange/units';
import type { ArchivedReads } from '../../../store/lists/archived-reads';
import { below, matchPlace, type StreamPlace, type WalletPlace } from '../../../store/lists/places';
import { decodePayout } from '../../../store/records/account';
import { ORDER_BODY } from '../../../store/records/layout';
import { decodeFills, decodeOrder, hashHex } from '../../../store/records/order';
import type { MatchRef } from '../../../store/records/settlement';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { packMove, packTrade, unpackEntry } from './records';

interface Options {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly archivedReads: Pick<ArchivedReads, 'ofWallet' | 'matchesOfOrders'>;
}

/** Orders and fills read in one step. */
const STEP = 500;
const FILLS_STEP = 500;

/**
 * The lines that a wallet's journal must have, from data of both stores: its matches, found by the chains of its orders' fills, and
 * its payouts.
 */
export function createKnownLines({ redis, run, keys, archivedReads }: Options) {
  async function matchesOf(wallet: Buffer): Promise<Buffer[]> {
    const found = new Map<string, MatchRef>();
    const add = (refs: readonly MatchRef[]): void => {
      for (const ref of refs) found.set(`${ref.marketId}${ref.sequence}-${ref.tradeMs}`, ref);
    };
    let cursor = '0';
    do {
      // Not by place or rank: an order that becomes final meanwhile changes both, and would be skipped.
      const [next, flat] = await redis.zscanBuffer(keys.wallet(wallet), cursor, 'COUNT', STEP);
      for (let i = 0; i < flat.length; i += 2) {
        add(await chainOf(flat[i] as Buffer));
      }
      cursor = next.toString();
    } while (cursor !== '0');
    // After those in Redis, so an order that leaves meanwhile is found.
    for (let behind: WalletPlace | null = null; ; ) {
      const orders = await archivedReads.ofWallet(wallet, behind, STEP);
      for (const { hash, marketId, record } of orders) {
        const { fillMs: tradeMs, fillSequence: sequence } = decodeOrder(hashHex(hash), record);
        if (tradeMs > 0) add(await leftOf(hash, marketId, { tradeMs, sequence }));
      }
      behind = orders.at(-1) ?? null;
      if (orders.length < STEP) break;
    }
    return [...found.values()]
      .sort((a, b) => a.tradeMs - b.tradeMs || a.sequence - b.sequence)
      .map(packTrade);
  }

  /** Returns every match of an order, newest first. */
  async function chainOf(hash: Buffer): Promise<MatchRef[]> {
    const stored = await redis.hgetBuffer(keys.orders, hash);
    const marketId = stored?.toString('latin1', ORDER_BODY.at.marketId, ORDER_BODY.bytes) ?? '';
    const refs: MatchRef[] = [];
    let place = { tradeMs: 0, sequence: 0, index: 0 };
    for (;;) {
      const { tradeMs, sequence, index } = place;
      const args = [keys.prefix, hash, tradeMs, sequence, index, FILLS_STEP] as const;
      const [, rest, ...entries] = await run('read_fills', [keys.orders], args);
      const fills = entries.flatMap(([ms, number, first, packed]) =>
        decodeFills(Number(ms), Number(number), packed, first).reverse(),
      );
      for (const fill of fills) {
        if (fill.sequence !== refs.at(-1)?.sequence) refs.push({ ...fill, marketId });
      }
      const left = matchPlace(rest);
      if (left.tradeMs > 0) return [...refs, ...(await leftOf(hash, marketId, left))];
      const last = fills.at(-1);
      if (!last || fills.length < FILLS_STEP) return refs;
      place = last;
    }
  }

  /** Returns the matches of an order that have left Redis, from this one on, newest first. */
  async function leftOf(hash: Buffer, marketId: MarketId, newest: StreamPlace): Promise<MatchRef[]> {
    const refs: MatchRef[] = [];
    for (let upTo = newest; ; ) {
      const [found = []] = await archivedReads.matchesOfOrders([{ hash, upTo }], FILLS_STEP);
      for (const { tradeMs, sequence } of found) refs.push({ marketId, tradeMs, sequence });
      const last = found.at(-1);
      if (!last || found.length < FILLS_STEP) return refs;
      upTo = below(last);
    }
  }

  /** The payouts in the markets of the lines `named`; the time is that of the market's result. */
  async function payoutsOf(
    wallet: Buffer,
    named: readonly Buffer[],
    endOf: (id: MarketId) => Promise<number>,
  ): Promise<Buffer[]> {
    const lines: Buffer[] = [];
    for (const id of new Set(named.map(marketOf))) {
      const packed = await redis.hgetBuffer(keys.paid(id), wallet);
      if (!packed) continue;
      const { tokensMicro, cashMicro } = decodePayout(packed);
      const [yesMicro, noMicro] = [micro(tokensMicro[0]), micro(tokensMicro[1])];
      const move = { reason: 'REDEEM', collateralMicro: micro(cashMicro), yesMicro, noMicro } as const;
      lines.push(packMove(await endOf(id), id, move));
    }
    return lines;
  }

  return { matchesOf, payoutsOf };
}

/** The identity of a line: a trade's market and sequence, a payout's market; a wallet has one grant. */
function nameOf(line: Buffer): string | null {
  const entry = unpackEntry(line);
  if (entry.type === 'TRADE') return `${entry.ref.marketId} ${entry.ref.tradeMs}-${entry.ref.sequence}`;
  if (entry.move.reason === 'GRANT') return 'grant';
  return entry.move.reason === 'REDEEM' ? `${entry.marketId} redeem` : null;
}

const marketOf = (line: Buffer): MarketId => {
  const entry = unpackEntry(line);
  return entry.type === 'TRADE' ? entry.ref.marketId : entry.marketId;
};

const timeOf = (line: Buffer): number => line.readUIntBE(1, 6);

/** Compares trades of one market by their sequence, everything else by time. */
function isEarlier(line: Buffer, other: Buffer): boolean {
  const [a, b] = [unpackEntry(line), unpackEntry(other)];
  if (a.type === 'TRADE' && b.type === 'TRADE' && a.ref.marketId === b.ref.marketId) {
    return a.ref.sequence < b.ref.sequence;
  }
  return timeOf(line) < timeOf(other);
}

/** Returns the existing lines in their order, each once, and each missing line before the first later one. */
export function mergeLines(stored: readonly Buffer[], known: readonly Buffer[]): Buffer[] {
  const names = new Set<string>();
  const lines = stored.filter((line) => {
    const name = nameOf(line);
    const isNew = name === null || !names.has(name);
    if (name !== null) names.add(name);
    return isNew;
  });
  const missing = known
    .filter((line) => !names.has(nameOf(line) ?? ''))
    .sort((a, b) => timeOf(a) - timeOf(b));
  const merged: Buffer[] = [];
  let next = 0;
  for (const line of lines) {
    while (next < missing.length && isEarlier(missing[next] as Buffer, line)) {
      merged.push(missing[next++] as Buffer);
    }
    merged.push(line);
  }
  return [...merged, ...missing.slice(next)];
}

export const isSameLines = (a: readonly Buffer[], b: readonly Buffer[]): boolean =>
  a.length === b.length && digestOf(a) === digestOf(b);

const digestOf = (lines: readonly Buffer[]): string => {
  const digest = createHash('sha256');
  for (const line of lines) digest.update(line);
  return digest.digest('hex');
};
