import { type Lots, lots, type Pips, pips } from '../../exchange/units';
import { readUInt, writeUInt } from '../records/layout';
import { EVENT_KINDS, type EventKind, type OutboxEvent } from './outbox';

/** The changes of a market: each received the next sequence of its market. */
export type CommandKind = Exclude<EventKind, 'BALANCE' | 'SETTLE'>;
export type CommandEvent = OutboxEvent & { readonly kind: CommandKind };

const isCommandKind = (kind: EventKind): kind is CommandKind => kind !== 'BALANCE' && kind !== 'SETTLE';
export const isCommand = (event: OutboxEvent): event is CommandEvent => isCommandKind(event.kind);

/** One broadcast change of a market's book, from the state at `previousSequence` to the state at `sequence`. */
export interface BookUpdate {
  readonly previousSequence: number;
  readonly sequence: number;
  readonly timestampMs: number;
  readonly reason: CommandKind;
  /** The market itself changed as well: its status or its texts. */
  readonly marketChanged: boolean;
  readonly bestBid: Pips | null;
  readonly bestAsk: Pips | null;
  /** The checksum of the book at `sequence`, 8 hexadecimal digits. */
  readonly checksum: string;
  /** Open lots now at each level that changed, in Yes, best first; 0 for a removed level. */
  readonly levels: readonly LevelChange[];
  /** Entries of the market's stream of matches that belong to the update, oldest first. */
  readonly matches: readonly MatchId[];
}

export interface LevelChange {
  readonly side: 'b' | 'a';
  readonly pricePips: Pips;
  readonly sizeLots: Lots;
}

export interface MatchId {
  readonly tradeMs: number;
  readonly sequence: number;
}

/** previous I6, time I6, reason B, market changed B, best bid I2, best ask I2, checksum 4, levels I4, then the levels. */
const HEAD_BYTES = 26;
const LEVEL_BYTES = 10;
const MATCH_BYTES = 12;
const COUNT_BYTES = 4;
const SIDES = { b: 0, a: 1 } as const;

/** The packed form for the log, where `sequence` is its id. */
export function packUpdate(update: BookUpdate): Buffer {
  const { levels, matches } = update;
  const bytes = HEAD_BYTES + levels.length * LEVEL_BYTES + COUNT_BYTES + matches.length * MATCH_BYTES;
  const packed = Buffer.allocUnsafe(bytes);
  packed.writeUIntBE(update.previousSequence, 0, 6);
  packed.writeUIntBE(update.timestampMs, 6, 6);
  packed.writeUInt8(EVENT_KINDS.indexOf(update.reason), 12);
  packed.writeUInt8(Number(update.marketChanged), 13);
  packed.writeUInt16BE(update.bestBid ?? 0, 14);
  packed.writeUInt16BE(update.bestAsk ?? 0, 16);
  packed.write(update.checksum, 18, 4, 'hex');
  let at = packed.writeUInt32BE(levels.length, 22);
  for (const { side, pricePips, sizeLots } of levels) {
    packed.writeUInt16BE(pricePips | (SIDES[side] << 15), at);
    packed[at + 2] = 0;
    writeUInt(packed, sizeLots, at + 3, 7);
    at += LEVEL_BYTES;
  }
  at = packed.writeUInt32BE(matches.length, at);
  for (const { tradeMs, sequence } of matches) {
    packed.writeUIntBE(tradeMs, at, 6);
    packed.writeUIntBE(sequence, at + 6, 6);
    at += MATCH_BYTES;
  }
  return packed;
}

export function unpackUpdate(sequence: number, packed: Buffer): BookUpdate {
  const kind = EVENT_KINDS[packed.readUInt8(12)];
  if (!kind || !isCommandKind(kind)) throw new Error('unknown reason of a logged update');
  const levelCount = packed.readUInt32BE(22);
  const matchesAt = HEAD_BYTES + levelCount * LEVEL_BYTES;
  return {
    previousSequence: readUInt(packed, 0, 6),
    sequence,
    timestampMs: readUInt(packed, 6, 6),
    reason: kind,
    marketChanged: packed.readUInt8(13) === 1,
    bestBid: priceAt(packed, 14),
    bestAsk: priceAt(packed, 16),
    checksum: packed.toString('hex', 18, 22),
    levels: Array.from({ length: levelCount }, (_, i) => levelAt(packed, HEAD_BYTES + i * LEVEL_BYTES)),
    matches: Array.from({ length: packed.readUInt32BE(matchesAt) }, (_, i) => {
      const at = matchesAt + COUNT_BYTES + i * MATCH_BYTES;
      return { tradeMs: readUInt(packed, at, 6), sequence: readUInt(packed, at + 6, 6) };
    }),
  };
}

function priceAt(packed: Buffer, at: number): Pips | null {
  const price = packed.readUInt16BE(at);
  return price === 0 ? null : pips(price);
}

function levelAt(packed: Buffer, at: number): LevelChange {
  const price = packed.readUInt16BE(at);
  return {
    side: price >> 15 === SIDES.a ? 'a' : 'b',
    pricePips: pips(price & 0x7fff),
    sizeLots: lots(readUInt(packed, at + 3, 7)),
  };
}
