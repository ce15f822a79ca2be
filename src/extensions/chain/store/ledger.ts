import type { BlockRef } from '../../../exchange/chain';
import type { ChainScale } from '../../../exchange/order';
import type { SettlementKey } from '../../../store/records/settlement';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { type MinedSettlement, noteMined } from '../../../store/settlement/mined';
import { type ChainAccounts, createChainAccounts } from './accounts';
import { createObserving, type Observing } from './observing';
import { createRejoining, type Rejoining } from './rejoin';

/** The books of a chain's funds: the accounts, and all that the chain says to them. */
export interface ChainLedger extends ChainAccounts, Rejoining, Omit<Observing, 'observeBlock'> {
  /** The last final block that the books have; null before the first. */
  finalBlock(): Promise<BlockRef | null>;
  /**
   * Observing.observeBlock as an observer uses it: false when the books are no longer at `from`. Throws when the readings lack a
   * wallet; then the books are still at `from`.
   */
  observeBlock(...args: Parameters<Observing['observeBlock']>): Promise<boolean>;
  /** Notes what is in blocks that are not final. */
  noteMined(list: readonly MinedSettlement[]): Promise<void>;
}

export interface ChainLedgerOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly scale: ChainScale;
  /**
   * Called with final settlements that the books do not have, or that ended otherwise there. The books take the block when this
   * has succeeded; after an error or a crash it is called again.
   */
  readonly onUnknown?: (settlements: readonly SettlementKey[]) => Promise<unknown>;
}

export function createChainLedger({ redis, run, keys, scale, onUnknown }: ChainLedgerOptions): ChainLedger {
  const accounts = createChainAccounts({ redis, run, keys });
  const observing = createObserving({ redis, run, keys, scale });
  return {
    ...accounts,
    ...observing,
    ...createRejoining({ redis, run, keys }),
    noteMined: (list) => noteMined({ redis, keys }, list),
    finalBlock: async () => (await accounts.cursor())?.final ?? null,
    async observeBlock(from, to, readings, events, converted = []) {
      const { moved, unread, unknown } = await observing.observeBlock(from, to, readings, events, converted);
      if (unknown.length > 0) await onUnknown?.(unknown);
      if (unread.length > 0) {
        const [first] = unread;
        throw new Error(
          `block ${to.number} ends settlements of ${unread.length} wallets that were not read, such as ${first?.address} in market ${first?.marketId}`,
        );
      }
      if (moved || unknown.length === 0) return !moved;
      return !(await observing.observeBlock(from, to, [], [], converted)).moved;
    },
  };
}
