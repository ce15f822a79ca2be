import type { Mode } from '../../../exchange/status';
import type { ChainCursor } from './accounts';
import type { Congestion } from './congestion';

/** src/extensions/chain/lua/lib/cursor.lua decides by the same rule. */
const LATE_MS = 30_000;

/** Orders are refused by themselves for these reasons, and accepted again when they are over; cancels always work. */
export const CONGESTED =
  'too much waits for the chain, or has waited for more than 30 s; orders are accepted again when it is settled, and cancels work';
const LATE =
  'the chain has had no new final block for 30 s; orders are accepted again when it has one, and cancels work';

interface ModeFacts {
  readonly mode: Mode;
  readonly message: string | null;
}

interface Parts {
  /** The mode that the operator has set. */
  readonly mode: () => Promise<ModeFacts>;
  readonly cursor: () => Promise<ChainCursor | null>;
  readonly congestion: Pick<Congestion, 'look' | 'isTooMuch'>;
  /** The time of Redis. */
  readonly now: () => number;
}

/** The mode that traders meet: that of the operator, or CANCEL_ONLY while the chain is late. */
export function modeOnChain({ mode, cursor, congestion, now }: Parts): () => Promise<ModeFacts> {
  const isLate = (at: ChainCursor | null): boolean => at === null || now() - at.followedMs > LATE_MS;
  return async () => {
    const [set, at] = await Promise.all([mode(), cursor(), congestion.look()]);
    if (set.mode !== 'NORMAL') return set;
    const message = isLate(at) ? LATE : congestion.isTooMuch() ? CONGESTED : null;
    return message === null ? set : { ...set, mode: 'CANCEL_ONLY', message };
  };
}
