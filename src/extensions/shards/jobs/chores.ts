import type { Store } from '../../../app/store';
import type { Chore } from '../../../jobs/schedule';
import type { BetweenShards } from '../store/exchange';
import { createShardModes, type ModesReport } from '../store/shard-modes';
import { createTransfers, type TransfersReport } from '../store/transfers';

interface ShardChoresOptions {
  /** `finish` of ../store/transfers.ts. */
  readonly finishTransfers: () => Promise<TransfersReport>;
  /** See ../store/shard-modes.ts. */
  readonly enforceMode: () => Promise<ModesReport>;
  /** `finish` of ../store/markets.ts. */
  readonly finishMarkets: () => Promise<void>;
  /** Called for each channel that has lost entries: the collateral is there twice. */
  readonly onBroken: (from: number, to: number) => void;
}

/** The queues of these chores. */
export const SHARD_QUEUES = ['finish-transfers', 'finish-markets', 'enforce-mode'] as const;
const TRANSFERS_EVERY_MS = 1_000;
const MODE_EVERY_MS = 500;
const MARKETS_EVERY_MS = 1_000;

/** The chores that the shards of an exchange have together, besides those of each shard. */
export function createShardChores({
  finishTransfers,
  enforceMode,
  finishMarkets,
  onBroken,
}: ShardChoresOptions): readonly Chore[] {
  return [
    {
      // A command that sends collateral takes it at once; this chore takes what commands left that ended early.
      name: 'finish-transfers',
      everyMs: TRANSFERS_EVERY_MS,
      async run() {
        const { broken, failures } = await finishTransfers();
        for (const [from, to] of broken) onBroken(from, to);
        if (failures.length > 0)
          throw new Error(`${failures.join('; ')}; the channels of the other shards are done`);
      },
    },
    {
      // An operator sets the mode in every shard; this chore sets it in those that were away.
      name: 'enforce-mode',
      everyMs: MODE_EVERY_MS,
      async run() {
        const { silent } = await enforceMode();
        if (silent.length > 0)
          throw new Error(`shards without an answer: ${silent.join(', ')}; the others have the mode`);
      },
    },
    // A market is claimed, created and listed in three steps; this chore does those that are missing.
    { name: 'finish-markets', everyMs: MARKETS_EVERY_MS, run: finishMarkets },
  ];
}

/** The chores that the shards of this exchange have together. */
export function choresBetween(
  { redis, partitions, metrics, log }: Pick<Store, 'redis' | 'partitions' | 'metrics' | 'log'>,
  { channels, finishListing }: BetweenShards,
): readonly Chore[] {
  const keys = partitions.map((partition) => partition.keys);
  const parts = partitions.map(({ engine }) => engine);
  return createShardChores({
    finishTransfers: createTransfers({ redis, channels, shards: keys }).finish,
    enforceMode: createShardModes({ redis, shards: keys, parts }).enforceMode,
    finishMarkets: finishListing,
    onBroken(from, to) {
      metrics.brokenChannel(from, to);
      log.error({ from, to }, 'a shard lost collateral that it had sent to another one: it is there twice');
    },
  });
}
