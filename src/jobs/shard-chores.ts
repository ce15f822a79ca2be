import type { Keys } from '../store/redis/keys';
import type { RedisClient } from '../store/redis/scripts';
import type { BetweenShards } from '../store/shards/exchange';
import type { Engine } from '../store/verbs/engine';
import { createShardModes, type ModesReport } from '../store/verbs/shard-modes';
import { createTransfers, type TransfersReport } from '../store/verbs/transfers';
import type { Chore } from './schedule';

interface ShardChoresOptions {
  /** `finish` of src/store/verbs/transfers.ts. */
  readonly finishTransfers: () => Promise<TransfersReport>;
  /** See src/store/verbs/shard-modes.ts. */
  readonly enforceMode: () => Promise<ModesReport>;
  /** `finish` of src/store/shards/markets.ts. */
  readonly finishMarkets: () => Promise<void>;
  /** Called for each channel that has lost entries: the collateral is there twice. */
  readonly onBroken: (from: number, to: number) => void;
}

const TRANSFERS_EVERY_MS = 1_000;
const MODE_EVERY_MS = 500;
const MARKETS_EVERY_MS = 1_000;

/** The chores that the shards of an exchange have together, besides those of each shard (over-shards.ts). */
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

interface ShardsStore {
  readonly redis: RedisClient;
  readonly shards: readonly { readonly keys: Keys; readonly engine: Engine }[];
  /** Null with one shard. */
  readonly betweenShards: BetweenShards | null;
}

/** The chores that the shards of this store have together; none with one shard. */
export function choresBetween(
  { redis, shards, betweenShards }: ShardsStore,
  onBroken: ShardChoresOptions['onBroken'],
): readonly Chore[] {
  if (betweenShards === null) return [];
  const { channels, finishListing } = betweenShards;
  const keys = shards.map((shard) => shard.keys);
  return createShardChores({
    finishTransfers: createTransfers({ redis, channels, shards: keys }).finish,
    enforceMode: createShardModes({ redis, shards: keys, parts: shards.map(({ engine }) => engine) })
      .enforceMode,
    finishMarkets: finishListing,
    onBroken,
  });
}
