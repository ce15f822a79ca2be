import type { MarketId } from '../../../exchange/market';
import type { Engine } from '../../../store/verbs/engine';
import type { PlaceReply, PlaceRequest } from '../../../store/verbs/place';
import type { Purse } from './purse';
import type { ShardNonces } from './shard-nonces';

interface ShardPlacingOptions {
  readonly purse: Purse;
  readonly nonces: Pick<ShardNonces, 'withNonce'>;
  readonly shardOf: (marketId: MarketId) => Promise<number>;
  /** The engine of a shard for a wallet: at its home the first order grants collateral. */
  readonly engineAt: (shard: number, address: string) => Engine;
}

/** The verbs that spend collateral, over several shards. */
export function createShardPlacing(
  options: ShardPlacingOptions,
): Pick<Engine, 'place' | 'replace' | 'convert'> {
  const { purse, nonces, shardOf, engineAt } = options;

  /** Runs a command at the shard of its market, with the wallet's collateral and nonce. */
  async function funded<T extends PlaceReply>(
    request: PlaceRequest,
    countsOwn: boolean,
    command: (engine: Engine, request: PlaceRequest) => Promise<T>,
  ): Promise<T> {
    const { maker, marketId, dryRun } = request;
    const shard = await shardOf(marketId);
    const engine = engineAt(shard, maker);
    const run = (asked: PlaceRequest) => nonces.withNonce(shard, request, () => command(engine, asked));
    if (dryRun) return purse.tried(shard, maker, (isCovered) => run({ ...request, isCovered }));
    return purse.funded(shard, maker, () => run(request), countsOwn);
  }

  return {
    place: (request) => funded(request, false, (engine, asked) => engine.place(asked)),
    replace: (request, oldHash) => funded(request, true, (engine, asked) => engine.replace(asked, oldHash)),
    async convert(marketId, address, setsMicro, operation) {
      const shard = await shardOf(marketId);
      const engine = engineAt(shard, address);
      return purse.funded(shard, address, () => engine.convert(marketId, address, setsMicro, operation));
    },
  };
}
