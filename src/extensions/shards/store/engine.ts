import type { MarketId } from '../../../exchange/market';
import { type Micro, micro } from '../../../exchange/units';
import { type ArchivedReads, NO_ARCHIVED_READS } from '../../../store/lists/archived-reads';
import { partAt } from '../../../store/lists/list';
import { addressBytes } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import type { ShardCount } from '../../../store/redis/tags';
import { createEngine, type Engine, type EngineOptions } from '../../../store/verbs/engine';
import { askAll, orThrow } from './ask-all';
import type { Channels } from './channels';
import { createPurse, type PullEnd } from './purse';
import { inTransitOf } from './purse-in-shard';
import { createShardCancels } from './shard-cancels';
import { createShardModes, type ShardModes } from './shard-modes';
import { createShardNonces } from './shard-nonces';
import { createShardPlacing } from './shard-placing';
import { createShardSweeps } from './shard-sweeps';
import { createWalletShards } from './wallet-shards';

/**
 * The engine over several shards: each market is in one shard, and the collateral and the nonce follow the wallet. Its answers are
 * those of one shard; a shard that is silent is an error wherever it matters.
 */
export interface Shards extends Engine, Pick<ShardModes, 'enforceMode'> {
  /** The engine of each shard, for what one shard does by itself. It knows no grant and no other shard. */
  readonly parts: readonly Engine[];
  /** A wallet's collateral in all shards, with what is on its way as free. */
  collateral(address: string): Promise<{ readonly freeMicro: number; readonly reservedMicro: number }>;
}

interface ShardsOptions extends Pick<EngineOptions, 'grantMicro' | 'makersMax'> {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly channels: Channels;
  /** The keys of each shard. */
  readonly shards: readonly Keys[];
  /** Archived reads of each shard; without them nothing is archived. */
  readonly archivedByShard?: readonly ArchivedReads[];
  /** Throws MARKET_NOT_FOUND. */
  readonly shardOf: (marketId: MarketId) => Promise<number>;
  readonly onPull?: (end: PullEnd) => void;
}

const NO_GRANT = micro(0);

export function createShards(options: ShardsOptions): Shards {
  const { redis, run, channels, shards, grantMicro, shardOf } = options;
  const archivedByShard = options.archivedByShard ?? shards.map(() => NO_ARCHIVED_READS);
  const count = shards.length as ShardCount;
  const engineWith = (grant: Micro) => (keys: Keys, shard: number) =>
    createEngine({
      run,
      keys,
      grantMicro: grant,
      makersMax: options.makersMax,
      archivedReads: archivedByShard[shard] ?? NO_ARCHIVED_READS,
    });
  /** Engines of the wallets whose home it is: the first order grants collateral. */
  const homes = shards.map(engineWith(grantMicro));
  const parts = shards.map(engineWith(NO_GRANT));

  const wallets = createWalletShards(channels, count);
  const { onPull } = options;
  const purse = createPurse({ channels, count, grantMicro, ...(onPull && { onPull }) });
  const part = async (marketId: MarketId): Promise<Engine> => partAt(parts, await shardOf(marketId));
  const atHome = (address: string): Engine => partAt(homes, wallets.homeOf(address));
  const engineAt = (shard: number, address: string): Engine =>
    partAt(wallets.homeOf(address) === shard ? homes : parts, shard);

  const nonces = createShardNonces({ run, shards, channels, wallets, atHome, parts });

  async function collateral(address: string) {
    const wallet = addressBytes(address);
    const [home, ...others] = await wallets.shardsOf(address);
    const looked = await askAll([home as number, ...others], (shard) => channels.look(shard, wallet));
    const found = [...orThrow(looked)];
    const free = found.map(([shard, { freeMicro }]) => freeMicro ?? (shard === home ? grantMicro : 0));
    return {
      freeMicro: free.reduce((sum, amount) => sum + amount, inTransitOf(found.map(([, purse]) => purse))),
      reservedMicro: found.reduce((sum, [, { reservedMicro }]) => sum + reservedMicro, 0),
    };
  }
  return {
    parts,
    collateral,
    ...createShardPlacing({ purse, nonces, shardOf, engineAt }),
    ...createShardCancels({ redis, shards, archivedByShard, parts, shardOf, part }),
    ...nonces,
    ...createShardSweeps({ parts, wallets, part }),
    ...createShardModes({ redis, shards, parts }),
    // The shard of a new market is chosen and noted before it is created.
    createMarket: async (market, ...rest) => (await part(market.id)).createMarket(market, ...rest),
    moveMarket: async (marketId, ...rest) => (await part(marketId)).moveMarket(marketId, ...rest),
    closeWhenDue: async (marketId) => (await part(marketId)).closeWhenDue(marketId),
    resolveMarket: async (marketId, ...rest) => (await part(marketId)).resolveMarket(marketId, ...rest),
    unresolveMarket: async (marketId) => (await part(marketId)).unresolveMarket(marketId),
    payHolders: async (marketId, most) => (await part(marketId)).payHolders(marketId, most),
    editMarket: async (marketId, ...rest) => (await part(marketId)).editMarket(marketId, ...rest),
    redeem: async (marketId) => (await part(marketId)).redeem(marketId),
    credit: (address, amountMicro) => atHome(address).credit(address, amountMicro),
  };
}
