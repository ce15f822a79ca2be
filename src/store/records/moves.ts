import { type Micro, micro } from '../../exchange/units';
import { readUInt } from './order';

/** Why a balance changed without an order; codes are those of lua/lib/outbox.lua. */
export const MOVE_REASONS = ['NOTHING', 'FAUCET', 'SPLIT', 'MERGE', 'REDEEM'] as const;
export type MoveReason = (typeof MOVE_REASONS)[number];

/**
 * The amounts that moved in one wallet, in micro-units, none below zero; the reason gives the direction: a FAUCET gives
 * collateral, a SPLIT takes collateral and gives tokens, a MERGE and a REDEEM take tokens and give collateral.
 */
export interface Move {
  readonly reason: MoveReason;
  readonly collateralMicro: Micro;
  readonly yesMicro: Micro;
  readonly noMicro: Micro;
}

export const MOVE_BYTES = 22;

export function decodeMove(packed: Buffer, at: number): Move {
  const reason = MOVE_REASONS[packed.readUInt8(at)];
  if (!reason) throw new Error('a balance moved for an unknown reason');
  return {
    reason,
    collateralMicro: micro(readUInt(packed, at + 1, 7)),
    yesMicro: micro(readUInt(packed, at + 8, 7)),
    noMicro: micro(readUInt(packed, at + 15, 7)),
  };
}
