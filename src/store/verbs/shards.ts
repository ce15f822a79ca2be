import { Refusal } from '../../exchange/errors';
import type { MarketId } from '../../exchange/market';
import type { Micro } from '../../exchange/units';
import { addressBytes } from '../records/order';
import type { ShardKeys } from '../redis/keys';
import { scriptRefusal } from '../redis/refusals';
import type { RunScript } from '../redis/scripts';
import { homeOf, type ShardCount } from '../redis/tags';
import { type Channels, inTransitOf } from './channels';
import { createEngine, type Engine, type EngineOptions } from './engine';
import type { Placing } from './place';
import { createPurse } from './purse';

/** The commands of wallets over several shards: each market is in one shard, and collateral follows the wallet. */
export interface Shards extends Placing, Pick<Engine, 'credit' | 'convert' | 'raiseNonce' | 'invalidateAll'> {
  /** The engine of a market's shard, for commands that move no collateral between shards. */
  of(marketId: MarketId): Engine;
  /** A wallet's collateral in all shards, with what is on its way as free. */
  collateral(address: string): Promise<{ readonly freeMicro: number; readonly reservedMicro: number }>;
}

interface ShardsOptions extends Pick<EngineOptions, 'grantMicro' | 'makersMax'> {
  readonly run: RunScript;
  readonly channels: Channels;
  /** The keys of each shard. */
  readonly shards: readonly ShardKeys[];
  readonly shardOf: (marketId: MarketId) => number;
}

interface EnginePair {
  /** For the wallets whose home this is: the first order grants collateral. */
  readonly home: Engine;
  readonly guest: Engine;
}

/** The most accounts of which a process remembers that they exist; accounts are never deleted. */
const KNOWN_MAX = 100_000;

export function createShards(options: ShardsOptions): Shards {
  const { run, channels, shards, grantMicro, makersMax, shardOf } = options;
  const count = shards.length as ShardCount;
  const purse = createPurse({ channels, count, grantMicro });
  const engines = shards.map((keys): EnginePair => {
    const shared = { run, keys, makersMax };
    return {
      home: createEngine({ ...shared, grantMicro }),
      guest: createEngine({ ...shared, grantMicro: 0 as Micro }),
    };
  });
  const known = new Set<string>();

  function pairAt(shard: number): EnginePair {
    const pair = engines[shard];
    if (!pair) throw new RangeError(`no shard ${shard}`);
    return pair;
  }
  const homeOfWallet = (address: string): number => homeOf(addressBytes(address), count);
  const engineAt = (shard: number, address: string): Engine =>
    pairAt(shard)[homeOfWallet(address) === shard ? 'home' : 'guest'];

  /**
   * Runs a command that carries the wallet's nonce. A shard in which the wallet has no account takes its nonce for 0, so a refusal
   * there is compared with the nonce at the home. A booked order needs no look: its wallet has an account.
   */
  async function withNonce<T>(
    shard: number,
    { maker, nonce }: { readonly maker: string; readonly nonce: number },
    command: () => Promise<T>,
  ): Promise<T> {
    try {
      return await command();
    } catch (error) {
      const [wallet, home, name] = [addressBytes(maker), homeOfWallet(maker), `${shard} ${maker}`];
      if (!(error instanceof Refusal) || error.code === 'MARKET_NOT_FOUND') throw error;
      if (home === shard || known.has(name)) throw error;
      const [here, atHome] = await Promise.all([channels.look(shard, wallet), channels.look(home, wallet)]);
      if (here.freeMicro === null) {
        if (atHome.nonce === 0) throw error;
        if (nonce !== atHome.nonce) throw scriptRefusal('INVALID_NONCE_VALUE', [atHome.nonce]);
        const held = await channels.hold(home, wallet, '', shard);
        await channels.lift(shard, wallet, held?.nonce ?? atHome.nonce);
      }
      if (known.size >= KNOWN_MAX) known.clear();
      known.add(name);
      if (here.freeMicro === null) return command();
      throw error;
    }
  }

  async function collateral(address: string) {
    const [wallet, home] = [addressBytes(address), homeOfWallet(address)];
    const others = await channels.shardsOf(home, wallet);
    const found = await Promise.all(
      [...new Set([home, ...others])].map(async (shard) => ({
        shard,
        ...(await channels.look(shard, wallet)),
      })),
    );
    const free = found.map(({ shard, freeMicro }) => freeMicro ?? (shard === home ? grantMicro : 0));
    return {
      freeMicro: free.reduce((sum, amount) => sum + amount, inTransitOf(found)),
      reservedMicro: found.reduce((sum, { reservedMicro }) => sum + reservedMicro, 0),
    };
  }

  /** The bitmap is read after the raise: a shard that is noted later gets the new nonce with its account. */
  async function raiseNonce(address: string, operation: string): Promise<number> {
    const [wallet, home] = [addressBytes(address), homeOfWallet(address)];
    const nonce = await pairAt(home).home.raiseNonce(address, operation);
    const others = (await channels.shardsOf(home, wallet)).filter((shard) => shard !== home);
    await Promise.all(others.map((shard) => channels.lift(shard, wallet, nonce)));
    return nonce;
  }

  async function invalidateAll(address: string, nonce: number): Promise<void> {
    const home = homeOfWallet(address);
    const all = new Set([home, ...(await channels.shardsOf(home, addressBytes(address)))]);
    await Promise.all([...all].map((shard) => engineAt(shard, address).invalidateAll(address, nonce)));
  }

  return {
    of: (marketId) => pairAt(shardOf(marketId)).guest,
    collateral,
    raiseNonce,
    invalidateAll,
    place(request) {
      const shard = shardOf(request.marketId);
      const engine = engineAt(shard, request.maker);
      return purse.funded(shard, request.maker, () => withNonce(shard, request, () => engine.place(request)));
    },
    replace(request, oldHash) {
      const shard = shardOf(request.marketId);
      const engine = engineAt(shard, request.maker);
      const command = () => withNonce(shard, request, () => engine.replace(request, oldHash));
      return purse.funded(shard, request.maker, command, true);
    },
    convert(marketId, address, setsMicro, operation) {
      const shard = shardOf(marketId);
      const engine = engineAt(shard, address);
      return purse.funded(shard, address, () => engine.convert(marketId, address, setsMicro, operation));
    },
    credit: (address, amountMicro) => pairAt(homeOfWallet(address)).home.credit(address, amountMicro),
  };
}
