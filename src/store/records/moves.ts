import { type Micro, micro } from '../../exchange/units';
import { OUTBOX_MOVE } from './layout';

/**
 * The reason why a balance changed without an order; lua/lib/outbox.lua has the codes. The null is that of a trade, which is no
 * such change (position.ts).
 */
export const MOVE_REASONS = [
  ...([
    'NOTHING',
    'FAUCET',
    'SPLIT',
    'MERGE',
    'REDEEM',
    null,
    'BUY_FAILED',
    'SELL_FAILED',
    'GRANT',
    'REDEEMED',
    'SPLIT_AT',
    'MERGE_AT',
  ] as const),
] as const;
/** In a record; a move at a price is a SPLIT or a MERGE with its `worth`. */
type StoredReason = NonNullable<(typeof MOVE_REASONS)[number]>;
export type MoveReason = Exclude<StoredReason, 'SPLIT_AT' | 'MERGE_AT'>;

/**
 * The amounts that moved in one wallet, in micro-units, none below zero; the reason gives the direction: a FAUCET and a GRANT
 * give collateral, a SPLIT takes collateral and gives tokens, a MERGE, a REDEEM and, by the wallet itself on the chain, a REDEEMED take tokens and give collateral. The failure of a
 * match on the chain undoes a purchase (BUY_FAILED takes tokens) or a sale (SELL_FAILED gives them back).
 */
export interface Move {
  readonly reason: MoveReason;
  readonly collateralMicro: Micro;
  readonly yesMicro: Micro;
  readonly noMicro: Micro;
  /** The price of Yes at the moment of a split or a merge, in tenths of a pip; absent without a price. */
  readonly worth?: number;
}

/** Whether the move gives tokens and takes collateral; the others do the reverse. */
export const givesTokens = ({ reason }: Pick<Move, 'reason'>): boolean =>
  reason === 'SPLIT' || reason === 'SELL_FAILED';

/** Whether the move pays collateral into the wallet that no market paid. */
export const isDeposit = ({ reason }: Pick<Move, 'reason'>): boolean =>
  reason === 'FAUCET' || reason === 'GRANT';

export const MOVE_BYTES = OUTBOX_MOVE.bytes;

export function decodeMove(packed: Buffer, at: number): Move {
  const fields = OUTBOX_MOVE.read(packed, at);
  const reason = MOVE_REASONS[fields.reason];
  if (!reason) throw new Error('a balance moved for an unknown reason');
  const amounts = { yesMicro: micro(fields.yesMicro), noMicro: micro(fields.noMicro) };
  if (reason !== 'SPLIT_AT' && reason !== 'MERGE_AT')
    return { reason, collateralMicro: micro(fields.collateralMicro), ...amounts };
  return {
    reason: reason === 'SPLIT_AT' ? 'SPLIT' : 'MERGE',
    collateralMicro: amounts.yesMicro,
    ...amounts,
    worth: fields.collateralMicro,
  };
}

/** The code and the first amount of a move in a record (lua/lib/outbox.lua). */
export function storedMove({ reason, collateralMicro, worth }: Move): readonly [code: number, first: number] {
  if (worth === undefined) return [MOVE_REASONS.indexOf(reason), collateralMicro];
  return [MOVE_REASONS.indexOf(reason === 'SPLIT' ? 'SPLIT_AT' : 'MERGE_AT'), worth];
}
