import type { MarketId } from '../../exchange/market';
import { OUTBOX_HEAD, readUInt } from '../records/layout';
import { decodeMove, MOVE_BYTES, type Move } from '../records/moves';
import { hashHex } from '../records/order';
import type { Keys } from '../redis/keys';
import type { RunScript } from '../redis/scripts';

/** The reason why a market's book changed; lua/lib/outbox.lua has the codes. */
export const EVENT_KINDS = [
  null,
  'ORDER',
  'TRADE',
  'CANCEL',
  'EXPIRE',
  'MARKET',
  'BALANCE',
  'SETTLE',
] as const;
export type EventKind = NonNullable<(typeof EVENT_KINDS)[number]>;
/** The meaning of the first byte of an entry. */
export const kindOf = (packed: Buffer): EventKind | null => EVENT_KINDS[packed[0] ?? 0] ?? null;
export const marketOf = (packed: Buffer): MarketId =>
  packed.toString('latin1', OUTBOX_HEAD.at.marketId, OUTBOX_HEAD.at.sequence);
/** The match of a TRADE. */
export const matchOf = (packed: Buffer) => ({
  marketId: marketOf(packed),
  sequence: readUInt(packed, OUTBOX_HEAD.at.sequence, 6),
  tradeMs: readUInt(packed, OUTBOX_HEAD.at.tradeMs, 6),
});
/** The market of an entry that belongs to no market. */
export const NO_MARKET = '--------';

/** One entry of the outbox: the changes of one script. */
export interface OutboxEvent {
  readonly kind: EventKind;
  /** NO_MARKET for a change that belongs to no market. */
  readonly marketId: MarketId;
  /** The sequence of the command. A SETTLE has the sequence of its match, and is not a command. */
  readonly sequence: number;
  readonly timestampMs: number;
  /** With `sequence`, the id of the match in the market's stream; 0 without a match. */
  readonly tradeMs: number;
  /** Open lots and orders now at each changed level, in Yes. */
  readonly levels: readonly { side: 'b' | 'a'; pricePips: number; sizeLots: number; orders: number }[];
  /** The changed orders, the taker first. */
  readonly orderHashes: readonly string[];
  /** Wallets whose balance changed without an order. */
  readonly wallets: readonly string[];
  /** In a BALANCE: the amounts that moved in each of these wallets. */
  readonly moves: readonly Move[];
}

const { at: AT, bytes: HEAD_BYTES } = OUTBOX_HEAD;
const LEVEL_BYTES = 14;
const [HASH_BYTES, ADDRESS_BYTES] = [32, 20];

/** The orders and wallets of an entry as bytes, for a reader that needs little else of many entries. */
export function touchedBy(packed: Buffer): { readonly orders: Buffer[]; readonly wallets: Buffer[] } {
  const at = HEAD_BYTES + packed.readUInt16BE(AT.levels) * LEVEL_BYTES;
  const orders = listAt(packed, at, HASH_BYTES);
  return { orders, wallets: listAt(packed, at + 2 + orders.length * HASH_BYTES, ADDRESS_BYTES) };
}

/** Members of one size, behind their number. */
function listAt(packed: Buffer, at: number, bytes: number): Buffer[] {
  const found: Buffer[] = [];
  const end = at + 2 + packed.readUInt16BE(at) * bytes;
  for (let from = at + 2; from < end; from += bytes) found.push(packed.subarray(from, from + bytes));
  return found;
}

export function decodeEvent(packed: Buffer): OutboxEvent {
  const kind = kindOf(packed);
  if (!kind) throw new Error('unknown kind of outbox entry');
  let at = HEAD_BYTES;
  const list = <T>(count: number, bytes: number, read: (start: number) => T): T[] => {
    const items = Array.from({ length: count }, (_, i) => read(at + i * bytes));
    at += count * bytes;
    return items;
  };
  const levels = list(packed.readUInt16BE(AT.levels), LEVEL_BYTES, (start) => ({
    side: packed.toString('latin1', start, start + 1) as 'b' | 'a',
    pricePips: packed.readUInt16BE(start + 1),
    sizeLots: readUInt(packed, start + 3, 7),
    orders: packed.readUInt32BE(start + 10),
  }));
  const { orders, wallets } = touchedBy(packed);
  at += 2 + orders.length * HASH_BYTES + 2 + wallets.length * ADDRESS_BYTES;
  const moves = list((packed.length - at) / MOVE_BYTES, MOVE_BYTES, (start) => decodeMove(packed, start));
  return {
    kind,
    marketId: marketOf(packed),
    sequence: readUInt(packed, AT.sequence, 6),
    timestampMs: readUInt(packed, AT.timestampMs, 6),
    tradeMs: readUInt(packed, AT.tradeMs, 6),
    levels,
    orderHashes: orders.map(hashHex),
    wallets: wallets.map(hashHex),
    moves,
  };
}

/**
 * The readers of the outbox that every exchange has, by the names under which they store their positions (`keys.readers`). A
 * reader without a position starts at the first entry. Extensions add theirs (`readersOf` of src/app/extensions.ts).
 */
export const CORE_READERS = ['broadcast', 'settlement'] as const;
export type CoreReader = (typeof CORE_READERS)[number];

/** The time for which entries are kept for readers without a stored position, as the private channels. */
const KEEP_MS = 60_000;
/**
 * The most entries kept for them. An entry is never older than the entry before it. So after a clock was a day ahead, all
 * entries of that day have the same time, and none of them would become old.
 */
const KEEP_MAX = 200_000;
/** The most entries deleted in one call, so that it does not block Redis. */
const TRIM_STEP = 10_000;

interface OutboxOptions {
  readonly run: RunScript;
  readonly keys: Keys;
  /** The readers of this exchange. */
  readonly readers: readonly string[];
  /** The time for which every entry is kept, and the most entries kept for that reason. */
  readonly keepMs?: number;
  readonly keepMax?: number;
}

export interface Outbox {
  /** trim_outbox: returns the number of entries deleted. It deletes none before each of the readers has started. */
  trim(): Promise<number>;
}

/** XTRIM by length would delete entries that a slow reader has not read. */
export function createOutbox({
  run,
  keys,
  readers,
  keepMs = KEEP_MS,
  keepMax = KEEP_MAX,
}: OutboxOptions): Outbox {
  return {
    async trim(): Promise<number> {
      const scriptKeys = [keys.outbox, keys.readers, keys.sums] as const;
      return run('trim_outbox', scriptKeys, [keepMs, keepMax, TRIM_STEP, ...readers]);
    },
  };
}
