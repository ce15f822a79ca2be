import { type Micro, micro } from '../../exchange/units';
import { OUTBOX_MOVE } from './layout';

/** The reason why a balance changed without an order; lua/lib/outbox.lua has the codes. */
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

export const MOVE_BYTES = OUTBOX_MOVE.bytes;

export function decodeMove(packed: Buffer, at: number): Move {
  const told = OUTBOX_MOVE.read(packed, at);
  const reason = MOVE_REASONS[told.reason];
  if (!reason) throw new Error('a balance moved for an unknown reason');
  return {
    reason,
    collateralMicro: micro(told.collateralMicro),
    yesMicro: micro(told.yesMicro),
    noMicro: micro(told.noMicro),
  };
}
