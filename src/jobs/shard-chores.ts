import type { TransfersReport } from '../store/verbs/transfers';
import type { Chore } from './schedule';

interface ShardChoresOptions {
  /** `finish` of src/store/verbs/transfers.ts. */
  readonly finishTransfers: () => Promise<TransfersReport>;
  /** Gives the intended mode to shards that were away when it was set. */
  readonly enforceMode: () => Promise<void>;
  /** Creates markets whose names were claimed by a process that died before it created them. */
  readonly finishMarkets: () => Promise<void>;
  /** Told each time a channel is seen that lost entries: the collateral is there twice. */
  readonly onBroken: (from: number, to: number) => void;
}

const TRANSFERS_EVERY_MS = 1_000;
const MODE_EVERY_MS = 500;
const MARKETS_EVERY_MS = 1_000;

/** The chores of an exchange with several shards, besides those of each shard (over-shards.ts). */
export function createShardChores(options: ShardChoresOptions): readonly Chore[] {
  const { finishTransfers, enforceMode, finishMarkets, onBroken } = options;

  async function transfers(): Promise<void> {
    const { broken, failures } = await finishTransfers();
    for (const [from, to] of broken) onBroken(from, to);
    if (failures.length > 0)
      throw new Error(`${failures.join('; ')}; the channels of the other shards are done`);
  }

  return [
    { name: 'finish-transfers', everyMs: TRANSFERS_EVERY_MS, run: transfers },
    { name: 'enforce-mode', everyMs: MODE_EVERY_MS, run: enforceMode },
    { name: 'finish-markets', everyMs: MARKETS_EVERY_MS, run: finishMarkets },
  ];
}
