import type { MarketId } from '../../../exchange/market';
import { writeUInt } from '../../../store/records/layout';
import { decodeMove, MOVE_BYTES, MOVE_REASONS, type Move, storedMove } from '../../../store/records/moves';
import type { MatchRef } from '../../../store/records/settlement';
import { NO_POSITION, type Position } from '../position';

/**
 * The journal's record of a wallet (src/extensions/portfolio/store/journal.ts), packed:
 *
 * {x}:ps:<address>  hash: market -> Yes, then No: size, cost, realized I8 (two's complement, micro-units), opened at I6 ms
 * {x}:ac:<address>  list, oldest first: type B, time I6 ms, market c8, then for a trade the sequence of its match I6, else
 *                   collateral, Yes and No that moved (I7 each, micro-units), as lua/lib/outbox.lua packs them; types are 5 for a
 *                   trade, else those of that file
 */
export type Positions = readonly [yes: Position, no: Position];

export const NO_POSITIONS: Positions = [NO_POSITION, NO_POSITION];

const POSITION_BYTES = 30;
const TRADE = MOVE_REASONS.indexOf(null);
const HEAD_BYTES = 15;
const TRADE_BYTES = 21;

export function packPositions(positions: Positions): Buffer {
  const packed = Buffer.allocUnsafe(2 * POSITION_BYTES);
  for (const [i, { sizeMicro, costMicro, realizedMicro, openedAtMs }] of positions.entries()) {
    const at = i * POSITION_BYTES;
    packed.writeBigInt64BE(sizeMicro, at);
    packed.writeBigInt64BE(costMicro, at + 8);
    packed.writeBigInt64BE(realizedMicro, at + 16);
    packed.writeUIntBE(openedAtMs, at + 24, 6);
  }
  return packed;
}

export function unpackPositions(packed: Buffer): Positions {
  const one = (at: number): Position => ({
    sizeMicro: packed.readBigInt64BE(at),
    costMicro: packed.readBigInt64BE(at + 8),
    realizedMicro: packed.readBigInt64BE(at + 16),
    openedAtMs: packed.readUIntBE(at + 24, 6),
  });
  return [one(0), one(POSITION_BYTES)];
}

/** An entry of a wallet's journal. */
export type JournalEntry =
  | { readonly type: 'TRADE'; readonly ref: MatchRef }
  | { readonly type: 'MOVE'; readonly atMs: number; readonly marketId: MarketId; readonly move: Move };

function head(type: number, atMs: number, marketId: MarketId, bytes: number): Buffer {
  const packed = Buffer.alloc(bytes);
  packed[0] = type;
  packed.writeUIntBE(atMs, 1, 6);
  packed.write(marketId, 7, 8, 'latin1');
  return packed;
}

export function packTrade({ marketId, tradeMs, sequence }: MatchRef): Buffer {
  const packed = head(TRADE, tradeMs, marketId, TRADE_BYTES);
  packed.writeUIntBE(sequence, HEAD_BYTES, 6);
  return packed;
}

export function packMove(atMs: number, marketId: MarketId, move: Move): Buffer {
  const [code, first] = storedMove(move);
  const packed = head(code, atMs, marketId, HEAD_BYTES + MOVE_BYTES - 1);
  const amounts = [first, move.yesMicro, move.noMicro];
  for (const [i, amount] of amounts.entries()) {
    writeUInt(packed, amount, HEAD_BYTES + 7 * i, 7);
  }
  return packed;
}

export function unpackEntry(packed: Buffer): JournalEntry {
  const atMs = packed.readUIntBE(1, 6);
  const marketId = packed.toString('latin1', 7, HEAD_BYTES);
  if (packed[0] === TRADE) {
    return { type: 'TRADE', ref: { marketId, tradeMs: atMs, sequence: packed.readUIntBE(HEAD_BYTES, 6) } };
  }
  const move = decodeMove(Buffer.concat([packed.subarray(0, 1), packed.subarray(HEAD_BYTES)]), 0);
  return { type: 'MOVE', atMs, marketId, move };
}
