import { Refusal } from '../../../exchange/errors';
import type { MarketId, OutcomeIndex } from '../../../exchange/market';
import type { Exchange } from '../../../store/exchange';
import { partAt } from '../../../store/lists/list';
import { addressBytes, type Fill } from '../../../store/records/order';
import type { MatchRef } from '../../../store/records/settlement';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';
import type { Matches, StoredMatch } from '../../../store/settlement/matches';
import { HOLDERS_MAX } from '../wire/paths';
import { hasHolders, JOURNAL, type Journal } from './journal';

/** A wallet as others see it. */
export interface PublicWallet {
  /** Null for a wallet that hides itself. */
  readonly address: string | null;
  readonly username: string | null;
}

export interface Holder extends PublicWallet {
  readonly sizeMicro: bigint;
}

/** The wallets of a trade. */
export interface TradeWallets {
  readonly taker: PublicWallet;
  readonly maker: PublicWallet;
}

/** Who holds and trades a market, and who lets others read its portfolio. */
export interface MarketWallets {
  isPublic(address: string): Promise<boolean>;
  /**
   * Records everything that happened before, and returns a name of the moment, which every change of a holder changes. Throws
   * UNAVAILABLE while the journal lacks entries or holders.
   */
  recorded(id: MarketId): Promise<string>;
  /** Returns the largest holders of an outcome, at most HOLDERS_MAX, and the number of all; call `recorded` before. */
  holders(id: MarketId, outcome: OutcomeIndex): Promise<{ count: number; holders: Holder[] }>;
  /** Returns the wallets of each fill, which are all of one market. */
  walletsOf(id: MarketId, fills: readonly Fill[]): Promise<TradeWallets[]>;
  /** Returns the names of wallets, by their addresses in lower case. */
  publicOf(wallets: readonly string[]): Promise<ReadonlyMap<string, PublicWallet>>;
}

const LACKS_HOLDERS =
  'the holders of markets were not recorded by an older version; an operator runs: exchange journal rebuild';
const HIDDEN: PublicWallet = { address: null, username: null };

interface Part {
  readonly keys: Keys;
  readonly matches: Pick<Matches, 'load'>;
  readonly journal: Pick<Journal, 'catchUp' | 'checkWhole'>;
}

interface MarketWalletsOptions extends Pick<Exchange, 'placement'> {
  readonly redis: RedisClient;
  /** The journals of all partitions; the first of them has the profiles. */
  readonly parts: readonly Part[];
}

export function createMarketWallets({ redis, parts, placement }: MarketWalletsOptions): MarketWallets {
  const { keys: home } = partAt(parts, 0);
  const partOf = async (id: MarketId): Promise<Part> => partAt(parts, await placement.partitionOf(id));

  async function recorded(id: MarketId): Promise<string> {
    const { keys, journal } = await partOf(id);
    await journal.catchUp();
    await journal.checkWhole();
    if (!(await hasHolders({ redis, keys }))) throw new Refusal('UNAVAILABLE', LACKS_HOLDERS);
    const [mark, rebuilt] = await Promise.all([
      redis.hget(keys.readers, JOURNAL),
      redis.hget(keys.sums, 'rebuilt'),
    ]);
    return `${mark} ${rebuilt}`;
  }

  async function holders(id: MarketId, outcome: OutcomeIndex) {
    const { keys } = await partOf(id);
    const key = keys.holders(id, outcome);
    const [count, flat] = await Promise.all([
      redis.zcard(key),
      redis.zrevrangeBuffer(key, 0, HOLDERS_MAX - 1, 'WITHSCORES'),
    ]);
    const found = Array.from({ length: flat.length / 2 }, (_, i) => ({
      address: `0x${flat[2 * i]?.toString('hex')}`,
      sizeMicro: BigInt(flat[2 * i + 1]?.toString() ?? '0'),
    }));
    const shown = await publicOf(found.map(({ address }) => address));
    return {
      count,
      holders: found.map(({ address, sizeMicro }) => ({ ...(shown.get(address) ?? HIDDEN), sizeMicro })),
    };
  }

  async function walletsOf(id: MarketId, fills: readonly Fill[]): Promise<TradeWallets[]> {
    const { matches } = await partOf(id);
    const refs = new Map<string, MatchRef>();
    for (const fill of fills) refs.set(nameOf(fill), { ...fill, marketId: id });
    const loaded = await matches.load([...refs.values()]);
    const found = new Map([...refs.keys()].map((name, i) => [name, loaded[i]]));
    const pairs = fills.map((fill) => makersOf(fill, found.get(nameOf(fill))));
    const shown = await publicOf(pairs.flat());
    return pairs.map(([taker, maker]) => ({
      taker: shown.get(taker) ?? HIDDEN,
      maker: shown.get(maker) ?? HIDDEN,
    }));
  }

  /** The profiles of wallets (src/extensions/people/lua/edit_profile.lua). */
  async function publicOf(wallets: readonly string[]): Promise<ReadonlyMap<string, PublicWallet>> {
    const all = [...new Set(wallets)].filter((wallet) => wallet !== '');
    const profiles = await Promise.all(
      all.map((wallet) => redis.hmget(home.profile(addressBytes(wallet)), 'u', 'm', 'h')),
    );
    return new Map(
      all.map((address, i): [string, PublicWallet] => {
        const [username = null, muted = null, hidden = null] = profiles[i] ?? [];
        return [address, hidden ? HIDDEN : { address, username: muted ? null : username }];
      }),
    );
  }

  const isPublic = async (address: string): Promise<boolean> =>
    (await redis.hget(home.profile(addressBytes(address)), 'o')) === '1';

  return { recorded, holders, walletsOf, publicOf, isPublic };
}

const nameOf = ({ tradeMs, sequence }: Pick<MatchRef, 'tradeMs' | 'sequence'>): string =>
  `${tradeMs}-${sequence}`;

/** Empty for an order that cannot be read. */
function makersOf(
  { makerHash, index }: Fill,
  match: StoredMatch | Error | undefined,
): readonly [taker: string, maker: string] {
  if (!match || match instanceof Error) return ['', ''];
  const met = match.fills.find((fill) => fill.index === index && fill.makerHash === makerHash);
  return [match.taker.maker, met?.maker.maker ?? ''];
}
